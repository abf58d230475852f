"""Replies in an unknown format, and replies that mix formats."""

from __future__ import annotations

from tests.toolsupport.core.formats.cases.case import Case
from tests.toolsupport.core.formats.cases.frames import OSLO

FORMATS = ("auto",)
CALL = [("weather", OSLO)]
HERMES = '<tool_call>\n{"name": "weather", "arguments": {"city": "Oslo"}}\n</tool_call>'
MISTRAL = "[TOOL_CALLS]now[ARGS]{}"
XML = "<tool_call>\n<function=music.play>\n<parameter=track>\nBlue\n</parameter>\n</function>\n</tool_call>"

CASES = [
    Case("Hermes, then Mistral", f"{HERMES}\n{MISTRAL}", [*CALL, ("now", {})]),
    Case("Hermes, then XML behind the same tag", f"{HERMES}\n{XML}", [*CALL, ("music.play", {"track": "Blue"})]),
    Case("XML, then Hermes", f"{XML}\n{HERMES}", [("music.play", {"track": "Blue"}), *CALL]),
    Case(
        "all three, with text",
        f"One {HERMES}\ntwo {XML}\nthree {MISTRAL}",
        [*CALL, ("music.play", {"track": "Blue"}), ("now", {})],
        text="One \ntwo \nthree ",
    ),
    Case(
        "all three in one sentence",
        f"One {HERMES} two {XML} three {MISTRAL}",
        text=f"One {HERMES} two {XML} three {MISTRAL}",
    ),
    Case("a JSON call of an offered tool", '{"name": "weather", "arguments": {"city": "Oslo"}}', CALL),
    Case("a JSON object that names no tool", '{"name": "Ada", "age": 36}', text='{"name": "Ada", "age": 36}'),
    Case("a list in Python of an offered tool", '[weather(city="Oslo")]', CALL),
    Case("a list in Python of something else", '[print("Oslo")]', text='[print("Oslo")]'),
    Case("markers of Llama 4", '<|python_start|>[weather(city="Oslo")]<|python_end|>', CALL),
    Case("no tools, so a bare call is text", '[weather(city="Oslo")]', text='[weather(city="Oslo")]', tools=()),
    Case(
        "no tools, so bare JSON is text",
        '{"name": "weather", "arguments": {}}',
        text='{"name": "weather", "arguments": {}}',
        tools=(),
    ),
]
