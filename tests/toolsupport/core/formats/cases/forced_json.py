"""Replies of constrained output: the first key of one JSON object decides between a call, several, and an answer."""

from __future__ import annotations

import json

from tests.toolsupport.core.formats.cases.case import Case
from tests.toolsupport.core.formats.cases.frames import OSLO, Frame, cases_of

FORMATS = ("forced_json",)


def one(name: str, arguments: str) -> str:
    return f'{{"tool": "{name}", "arguments": {arguments}}}'


def several(calls: list[str]) -> str:
    return f'{{"calls": [{", ".join(calls)}]}}'


def answer(text: str) -> str:
    return json.dumps({"answer": text})


FRAME = Frame(one, several, '{"too', 'Write {"tool": …, "arguments": …} for that.', marked=False, before=False)
SPOKEN = (
    "It is 4 °C.",
    'She said "no".',
    "one\ntwo\n\n\tthree",
    "back\\slash and /",
    "é 😀 \u2028 end",
    '{"tool": "weather", "arguments": {"city": "Oslo"}}',
    "<tool_call> is a mark",
    "```js\nconst a = {};\n```\nDone.",
)
CALL = one("weather", '{"city": "Oslo"}')
CITIES = [("weather", OSLO), ("weather", {"city": "Rome"})]
NULLS = one("search", '{"query": "a", "limit": null, "note": null}')

CASES = [
    *cases_of(FRAME),
    *(Case(f"an answer: {text!r}", answer(text), text=text) for text in SPOKEN),
    *(Case(f"an answer inside: {text!r}", f'{{"reply": {answer(text)}}}', text=text) for text in SPOKEN[:3]),
    Case("an answer without escapes", json.dumps({"answer": "é 😀"}, ensure_ascii=False), text="é 😀"),
    Case("half of a character", '{"answer": "a \\ud83d b"}', text="a \\ud83d b"),
    Case("an escape that is none", '{"answer": "a \\q b"}', text="a \\q b"),
    Case("an answer that is cut off", '{"answer": "It is col', text="It is col"),
    Case("an answer cut off in an escape", '{"answer": "It is \\u00', text="It is \\u00"),
    Case("space around the parts", ' {\n "answer" : "Yes." \n } \n', text=" Yes. \n"),
    Case("thinking, then an answer", '<think>Hm.</think>{"answer": "Yes."}', text="Yes.", thinking="Hm."),
    Case("an answer that is no text", '{"answer": 4}', text='{"answer": 4}'),
    Case("an answer within prose", 'So: {"answer": "Yes."}', text='So: {"answer": "Yes."}'),
    Case("one call in a list", several([CALL]), CITIES[:1], mended=False),
    Case("a call inside", f'{{"reply": {CALL}}}', CITIES[:1], mended=False),
    Case("calls inside", f'{{"reply": {several([CALL, one("weather", json.dumps({"city": "Rome"}))])}}}', CITIES),
    Case(
        "arguments that were left out",
        f'{{"reply": {NULLS}}}',
        [("search", {"query": "a"})],
    ),
    Case("a list that is no list of calls", '{"calls": [1, 2]}', text='{"calls": [1, 2]}'),
    Case("another object", '{"reply": "Yes."}', text='{"reply": "Yes."}'),
]
