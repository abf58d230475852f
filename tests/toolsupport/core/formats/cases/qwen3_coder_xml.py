"""Calls of Qwen3-Coder, whose values are raw text with types from the schema alone."""

from __future__ import annotations

import json
from typing import Any

from tests.toolsupport.core.formats.cases.arguments import MARKERS
from tests.toolsupport.core.formats.cases.case import Case
from tests.toolsupport.core.formats.cases.frames import OSLO, Frame, cases_of

FORMATS = ("qwen3_coder_xml", "auto")


def body(name: str, **values: str) -> str:
    parameters = "".join(f"<parameter={key}>\n{value}\n</parameter>\n" for key, value in values.items())
    return f"<function={name}>\n{parameters}</function>"


def call(name: str, **values: str) -> str:
    return f"<tool_call>\n{body(name, **values)}\n</tool_call>"


def one(name: str, arguments: str) -> str:
    read: dict[str, Any] = json.loads(arguments)
    return call(name, **{key: value if isinstance(value, str) else json.dumps(value) for key, value in read.items()})


FRAME = Frame(one, "\n".join, "<tool_call>\n<func", "Write `<tool_call>` and `<function=name>` for that.", json=False)
CALL = [("weather", OSLO)]
VALUES = {
    "one line": "tea",
    "many lines": "one\n\n  two\nthree",
    "a line break of its own at both ends": "\ntea\n",
    "spaces at both ends": "  tea  ",
    "angle brackets and ampersands": "if a < b && c > d: x = &y",
    "HTML": "<html><body class='a'>&amp;</body></html>",
    "JSON": '{"a": [1, 2]}',
    "quotes of all kinds": "\"a\" 'b' `c`",
    "backslashes": "C:\\tea\\n",
    "emoji": "🫖 東京",
    "tabs": "\tone\n\t\ttwo",
    "a closing tag that closes nothing": "use </parameter> to end it",
    "a function's closing tag": "ends with </function> somewhere",
    "a call's closing tag": "ends with </tool_call> somewhere",
    "an opening tag": "begin with <parameter=x> here",
    "every marker": MARKERS,
    "a long text": "tea and cake\n" * 300,
    "a null character": "a\0b",
    "something that looks like a number": "42",
}

CASES = [
    *cases_of(FRAME),
    *(
        Case(
            f"a value: {name}",
            call("write_file", path="a", content=value),
            [("write_file", {"path": "a", "content": value})],
        )
        for name, value in VALUES.items()
    ),
    Case(
        "values of every type",
        call("search", query="7", limit="7", ratio="0.5", exact="true", tags='["a"]', filters='{"b": 1}', note="null"),
        [
            (
                "search",
                {
                    "query": "7",
                    "limit": 7,
                    "ratio": 0.5,
                    "exact": True,
                    "tags": ["a"],
                    "filters": {"b": 1},
                    "note": None,
                },
            )
        ],
    ),
    Case(
        "True of Python", call("weather", city="Oslo", metric="True"), [("weather", {"city": "Oslo", "metric": True})]
    ),
    Case("an empty value", call("write_file", path="a", content=""), [("write_file", {"path": "a", "content": ""})]),
    Case(
        "no line breaks", "<tool_call><function=weather><parameter=city>Oslo</parameter></function></tool_call>", CALL
    ),
    Case(
        "line breaks of Windows",
        "<tool_call>\r\n<function=weather>\r\n<parameter=city>\r\nOslo\r\n</parameter>\r\n</function>\r\n</tool_call>",
        CALL,
    ),
    Case("the opening tag was lost", f"{body('weather', city='Oslo')}\n</tool_call>", CALL),
    Case("both outer tags were lost", body("weather", city="Oslo"), CALL),
    Case(
        "the opening tag was lost behind text",
        f"Well.\n{body('weather', city='Oslo')}\n</tool_call>",
        CALL,
        text="Well.\n",
    ),
    Case("a tool nobody offered, without the outer tag", body("teleport", to="x"), text=body("teleport", to="x")),
    Case(
        "</parameter> is missing",
        "<tool_call>\n<function=weather>\n<parameter=city>\nOslo\n</function>\n</tool_call>",
        CALL,
    ),
    Case(
        "</parameter> is missing between two",
        "<tool_call>\n<function=weather>\n<parameter=city>\nOslo\n<parameter=days>\n2\n</parameter>\n</function>\n</tool_call>",
        [("weather", {"city": "Oslo", "days": 2})],
    ),
    Case(
        "</function> is missing",
        "<tool_call>\n<function=weather>\n<parameter=city>\nOslo\n</parameter>\n</tool_call>",
        CALL,
    ),
    Case("</tool_call> is missing", f"<tool_call>\n{body('weather', city='Oslo')}", CALL),
    Case(
        "</tool_call> is missing between two",
        f"<tool_call>\n{body('weather', city='Oslo')}\n<tool_call>\n{body('now')}\n</tool_call>",
        [*CALL, ("now", {})],
    ),
    Case(
        "two functions in one tag",
        f"<tool_call>\n{body('weather', city='Oslo')}\n{body('now')}\n</tool_call>",
        [*CALL, ("now", {})],
    ),
    Case("another wrapper", f"<function_invocation>\n{body('weather', city='Oslo')}\n</function_invocation>", CALL),
    Case("the wrapper of Seed", f"<seed:tool_call>\n{body('weather', city='Oslo')}\n</seed:tool_call>", CALL),
    Case(
        "names as attributes",
        '<tool_call><function name="weather"><param name="city">Oslo</param></function></tool_call>',
        CALL,
    ),
    Case("a name with a dot", call("music.play", track="Blue"), [("music.play", {"track": "Blue"})]),
    Case("a call in thinking that never ends", f"<think>Hm.\n{call('weather', city='Oslo')}", CALL),
    Case(
        "broken off in a value",
        "<tool_call>\n<function=write_file>\n<parameter=content>\none tw",
        text="<tool_call>\n<function=write_file>\n<parameter=content>\none tw",
        rejected=["write_file"],
    ),
    Case("the tag in a sentence", "Then <function=x> begins.", text="Then <function=x> begins."),
]
