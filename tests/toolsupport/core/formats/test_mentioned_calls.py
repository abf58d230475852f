"""A call that a reply only shows is never made, in any format and any pieces; one that is meant always is."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.examples import at_least
from tests.tables import every
from tests.toolsupport.core.formats.frames import MADE, SHOWN, SHOWN_INDENTED
from tests.toolsupport.core.formats.replies import calls, read, text
from tests.toolsupport.core.formats.test_properties import in_pieces
from toolsupport.core.events import Event, TextDelta
from toolsupport.core.formats import FORMATS, parser
from toolsupport.core.types import ToolCall, ToolSpec

PATH = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
TOOLS = (
    ToolSpec("delete_file", "Deletes a file.", PATH),
    ToolSpec("python_execution", "Runs Python.", {"type": "object", "properties": {"code": {"type": "string"}}}),
)
NAMES = sorted(FORMATS)
# Formats whose own form is a fence: a fence at the end of a reply is their call.
FENCED = ("pure_json", "forced_json", "llama3_json", "xlam", "tool_code_python", "code_mode")
# Formats that may be written in a fence if the reply is nothing else.
ALONE = ("pythonic", "llama4_pythonic", "lfm2_pythonic", "olmo3_pythonic")
OWN_FENCE = ("tool_code_python", "code_mode")

# Formats without marks are looked for at the beginning of a line only.
NOT_WITHIN_A_LINE = ("code_mode", "tool_code_python", "glm4_name_newline_json", "functionary_v32")


def written(name: str) -> str:
    code = {"code": "delete_file('a.txt')"}
    asked = (
        ToolCall("1", "python_execution", code)
        if name == "code_mode"
        else ToolCall("1", "delete_file", {"path": "a.txt"})
    )
    return FORMATS[name].write_calls([asked])


def placed(name: str, frame: str) -> str:
    """The call in a frame; in a Markdown quotation each of its lines is quoted."""
    call = written(name)
    return frame.replace(
        "@", call.replace("\n", "\n> ") if frame.lstrip("- ").startswith(">") and "@" in frame.split("\n")[0] else call
    )


def in_context(name: str, frame: str) -> list[Event]:
    return read(name, [placed(name, frame)], tools=TOOLS)


@pytest.mark.parametrize("name", NAMES)
@every("where", SHOWN)
def test_what_is_shown_is_not_made(name: str, where: str) -> None:  # F5
    reply = placed(name, SHOWN[where])
    if name in FENCED and where == "a fence that never ends":
        return  # it is the fence at the end of the reply, which is their call
    events = read(name, [reply], tools=TOOLS)
    assert calls(events) == []
    if name not in ("harmony", "kimi_k3", "command_r7b", "functionary_v32"):
        assert text(events) == reply


@pytest.mark.parametrize("name", NAMES)
@every("where", MADE)
def test_what_is_meant_is_made(name: str, where: str) -> None:  # F3
    frame = MADE[where]
    if (name in OWN_FENCE and ("@\n" in frame.rstrip() or "@]" in frame)) or (
        name in NOT_WITHIN_A_LINE and (" @" in frame)
    ):
        return
    assert len(calls(in_context(name, frame))) == 1


CASES = st.tuples(st.sampled_from(NAMES), st.sampled_from([*SHOWN.values(), *MADE.values()]))


@every("name", NAMES)
def test_indented_code_is_shown(name: str) -> None:
    assert calls(in_context(name, SHOWN_INDENTED)) == []
    if name not in NOT_WITHIN_A_LINE:
        meant = SHOWN_INDENTED.replace("It is written so.", "1. Look.").replace("Shall I?", "I wait.")
        assert len(calls(in_context(name, meant))) == 1


@given(
    case=CASES,
    other=CASES,
    between=st.sampled_from(["", " ", "\n", "\n\n"]),
    cuts=st.lists(st.integers(0, 400), max_size=12),
)
def test_pieces_never_matter(case: tuple[str, str], other: tuple[str, str], between: str, cuts: list[int]) -> None:
    name, frame = case
    reply = placed(name, frame) + between + placed(name, other[1])
    whole = read(name, [reply], tools=TOOLS)
    assert read(name, list(reply), tools=TOOLS) == whole
    assert read(name, in_pieces(reply, cuts), tools=TOOLS) == whole


# Frames that nothing closes, and formats whose own fences or brackets close those of a frame.
NEVER_CLOSED = ("a fence that never ends", "a fence that begins within a line", "a section of examples")
WITHIN_FENCES = ("command_r_plus", "deepseek_v3", *NOT_WITHIN_A_LINE, *ALONE, *FENCED, "phi4_mini", "firefunction")
PLAIN = sorted(set(NAMES) - {*WITHIN_FENCES, "mistral_json"})
# ReAct's input ends with its line, backquotes included: they close nothing, and the call below is asked about.
STAYS_OPEN = ("react", "three backquotes on a line")


@settings(max_examples=at_least(150))
@given(name=st.sampled_from(PLAIN), where=st.sampled_from(sorted({*SHOWN} - {*NEVER_CLOSED})), seen=st.booleans())
def test_a_mention_does_not_decide_about_a_call_below_it(name: str, where: str, seen: bool) -> None:
    assume((name, where) != STAYS_OPEN)
    before = "<think>I show it first.</think>\n" if seen else "I show it first.\n\n"
    reply = before + placed(name, SHOWN[where])
    assert calls(read(name, [reply], tools=TOOLS)) == []
    assert len(calls(read(name, [f"{reply}\n\nNow I do it.\n\n{written(name)}"], tools=TOOLS))) == 1


CALL = '<tool_call>{"name": "delete_file", "arguments": {"path": "a.txt"}}</tool_call>'
JSON_CALL = '{"name": "delete_file", "arguments": {"path": "a.txt"}}'


@every(
    ("name", "reply", "made"),
    [
        ("hermes", f"{CALL} I wait for the result.", 1),  # a new sentence
        ("hermes", f"{CALL}, which deletes it", 0),
        ("pure_json", f"{JSON_CALL} That is how.", 0),
        ("pure_json", f"{JSON_CALL}. That is how.", 0),
        ("pure_json", f"{JSON_CALL};", 1),
        ("hermes", f"{CALL}{CALL} is how", 0),
        ("hermes", f"{CALL}\n{CALL} is how", 1),
        ("hermes", f"Use {CALL} or {CALL}", 0),
        ("hermes", f"Write `{CALL}` for it.\n{CALL}", 1),
        ("hermes", f"```\n{CALL}\n```\n{CALL}", 1),
        ("hermes", f"Let me check. {CALL}{CALL}", 2),
        ("hermes", f"```xml\n{CALL}\n```", 0),
        ("pythonic", "```python\n[delete_file(path='a.txt')]\n```", 1),
        ("pythonic", "Sure:\n```python\n[delete_file(path='a.txt')]\n```", 0),
        ("pure_json", f"Sure:\n```json\n{JSON_CALL}\n```\n", 1),
        ("pure_json", f"```json\n{JSON_CALL}\n{JSON_CALL}\n```", 2),
        ("pure_json", f"```json\n{JSON_CALL}\n{JSON_CALL}\n```\nDone.", 0),
        ("hermes", f"<tool_call>\n```json\n{JSON_CALL}\n```\n</tool_call>\nI wait.", 1),
    ],
)
def test_each_call_is_judged_on_its_own(name: str, reply: str, made: int) -> None:
    assert len(calls(read(name, [reply], tools=TOOLS))) == made


def test_a_mention_that_cannot_be_read_is_only_text() -> None:
    reply = 'Write `<tool_call>{"name": "delete_file", "arguments": …, "}</tool_call>` for it.'
    events = read("hermes", [reply], tools=TOOLS)
    assert text(events) == reply and all(isinstance(event, TextDelta) for event in events)


@every("name", NAMES)
def test_a_quoted_call_is_not_made_wherever_the_reply_was_cut(name: str) -> None:
    quoted = "E.g., " + written(name)
    whole = read(name, [quoted], tools=TOOLS)
    for end in (*range(6, len(quoted), 17), *range(len(quoted) - 20, len(quoted) + 1)):
        reader = parser(name, TOOLS)
        events = [*reader.feed(quoted[:end]), *reader.flush(cut=True)]
        assert calls(events) == calls(whole) == [], quoted[:end]
