"""Calls of Mistral's models: as an array, and as a name with arguments after it."""

from __future__ import annotations

from dataclasses import replace

from tests.toolsupport.core.formats.cases.case import Case
from tests.toolsupport.core.formats.cases.frames import OSLO, Frame, cases_of

FORMATS = ("mistral", "mistral_json", "mistral_args", "auto")


def compact(name: str, arguments: str) -> str:
    return f"[TOOL_CALLS]{name}[ARGS]{arguments}"


def element(name: str, arguments: str) -> str:
    return f'[TOOL_CALLS][{{"name": "{name}", "arguments": {arguments}}}]'


def array(calls: list[str]) -> str:
    return "[TOOL_CALLS][" + ", ".join(call.removeprefix("[TOOL_CALLS][")[:-1] for call in calls) + "]"


ASIDE = "Write `[TOOL_CALLS]` and `[ARGS]` for that."
COMPACT = Frame(compact, "".join, "[TOOL_CA", ASIDE)
ARRAY = Frame(element, array, "[TOOL_CALLS", ASIDE)
CALL = [("weather", OSLO)]
JSON_CALL = '{"name": "weather", "arguments": {"city": "Oslo"}}'

CASES = [
    *(
        replace(case, name=f"name and arguments: {case.name}", formats=("mistral_args", "auto"))
        for case in cases_of(COMPACT)
    ),
    *(replace(case, name=f"array: {case.name}", formats=("mistral", "mistral_json")) for case in cases_of(ARRAY)),
    Case("a space behind the mark", f"[TOOL_CALLS] [{JSON_CALL}]", CALL, mended=False),
    Case("two groups", f"[TOOL_CALLS] [{JSON_CALL}]\n[TOOL_CALLS] [{JSON_CALL}]", CALL * 2),
    Case("a closing mark", f"[TOOL_CALLS][{JSON_CALL}][/TOOL_CALLS]", CALL, mended=False),
    Case("one object instead of an array", f"[TOOL_CALLS]{JSON_CALL}", CALL),
    Case("the array is not closed", f"[TOOL_CALLS][{JSON_CALL}", CALL),
    Case(
        "ids of nine characters",
        '[TOOL_CALLS][{"name": "weather", "arguments": {"city": "Oslo"}, "id": "aB3dE6gH9"}]',
        CALL,
    ),
    Case("an id before the arguments", '[TOOL_CALLS]weather[CALL_ID]aB3dE6gH9[ARGS]{"city": "Oslo"}', CALL),
    Case("[ARGS] was swallowed by the server", '[TOOL_CALLS]weather{"city": "Oslo"}', CALL),
    Case("[ARGS] was swallowed, twice", '[TOOL_CALLS]weather{"city": "Oslo"}[TOOL_CALLS]now{}', [*CALL, ("now", {})]),
    Case("a space before the arguments", '[TOOL_CALLS]weather[ARGS] {"city": "Oslo"}', CALL),
    Case("a space before the name", '[TOOL_CALLS] weather[ARGS]{"city": "Oslo"}', CALL),
    Case("a closing mark behind the arguments", '[TOOL_CALLS]weather[ARGS]{"city": "Oslo"}[/TOOL_CALLS]', CALL),
    Case(
        "reasoning in brackets", '[THINK]Cold?[/THINK][TOOL_CALLS]weather[ARGS]{"city": "Oslo"}', CALL, thinking="Cold?"
    ),
    Case("rehearsed in reasoning", '[THINK]weather[ARGS]{"city": "Oslo"}[/THINK]It is cold.', text="It is cold."),
    Case("the mark was lost", 'weather[ARGS]{"city": "Oslo"}', CALL),
    Case(
        "the mark was lost, the tool is not known", 'teleport[ARGS]{"to": "Oslo"}', text='teleport[ARGS]{"to": "Oslo"}'
    ),
    Case("braces in the text before", 'Use {x}.\n[TOOL_CALLS]weather[ARGS]{"city": "Oslo"}', CALL, text="Use {x}.\n"),
    Case(
        "broken off in the arguments",
        '[TOOL_CALLS]write_file[ARGS]{"path": "a", "content": "one',
        text='[TOOL_CALLS]write_file[ARGS]{"path": "a", "content": "one',
        rejected=["write_file"],
    ),
    Case("the mark and no more", "Well [TOOL_CALLS]", text="Well [TOOL_CALLS]"),
    Case("no arguments in an array", '[TOOL_CALLS][{"name": "now"}]', [("now", {})]),
    Case("parameters in an array", '[TOOL_CALLS][{"name": "weather", "parameters": {"city": "Oslo"}}]', CALL),
]
