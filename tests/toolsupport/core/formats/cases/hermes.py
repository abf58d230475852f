"""Calls of Hermes as models really write them, sound and broken."""

from __future__ import annotations

from tests.toolsupport.core.formats.cases.case import Case, tool
from tests.toolsupport.core.formats.cases.frames import OSLO, Frame, cases_of

FORMATS = ("hermes", "auto")


def one(name: str, arguments: str) -> str:
    return f'<tool_call>\n{{"name": "{name}", "arguments": {arguments}}}\n</tool_call>'


FRAME = Frame(one, "\n".join, "<tool_ca", "Write `<tool_call>` and then `</tool_call>` around it.")
CALL = [("weather", OSLO)]
JSON_CALL = '{"name": "weather", "arguments": {"city": "Oslo"}}'

CASES = [
    *cases_of(FRAME),
    Case("no line breaks in the tag", f"<tool_call>{JSON_CALL}</tool_call>", CALL, mended=False),
    Case("line breaks of Windows in the tag", f"<tool_call>\r\n{JSON_CALL}\r\n</tool_call>", CALL, mended=False),
    *(
        Case(f"doubled braces: {call}", f"<tool_call>\n{call}\n</tool_call>", CALL, mended=True)
        for call in (
            '{{"name": "weather", "arguments": {"city": "Oslo"}}}',
            '{{"name": "weather", "arguments": {{"city": "Oslo"}}}}',
            '{"name": "weather", "arguments": {{"city": "Oslo"}}}',
            '{{"name": "weather", "arguments": {"city": "Oslo"}}',
        )
    ),
    Case("much space in the tag", f"<tool_call>  \n\n {JSON_CALL} \n\n</tool_call>", CALL, mended=False),
    Case("the end tag never comes", f"<tool_call>\n{JSON_CALL}", CALL),
    Case("the end tag never comes, a line break does", f"<tool_call>\n{JSON_CALL}\n", CALL),
    Case("the end tag is cut off", f"<tool_call>\n{JSON_CALL}\n</tool_", CALL),
    Case(
        "two calls, the first without its end tag",
        f"<tool_call>\n{JSON_CALL}\n<tool_call>\n{JSON_CALL}\n</tool_call>",
        CALL * 2,
    ),
    Case(
        "no space between two calls", f"<tool_call>{JSON_CALL}</tool_call><tool_call>{JSON_CALL}</tool_call>", CALL * 2
    ),
    Case("two objects in one tag", f"<tool_call>\n{JSON_CALL}\n{JSON_CALL}\n</tool_call>", CALL * 2),
    Case("a list of calls in one tag", f"<tool_call>\n[{JSON_CALL}, {JSON_CALL}]\n</tool_call>", CALL * 2),
    Case(
        "the last brace is missing",
        '<tool_call>\n{"name": "weather", "arguments": {"city": "Oslo"}\n</tool_call>',
        CALL,
        mended=True,
    ),
    Case(
        "both braces are missing",
        '<tool_call>\n{"name": "weather", "arguments": {"city": "Oslo"\n</tool_call>',
        CALL,
        mended=True,
    ),
    Case("a brace too many", f"<tool_call>\n{JSON_CALL}}}\n</tool_call>", CALL),
    Case(
        "single quotes everywhere",
        "<tool_call>\n{'name': 'weather', 'arguments': {'city': 'Oslo'}}\n</tool_call>",
        CALL,
        mended=True,
    ),
    Case(
        "single quotes, one text in double ones",
        "<tool_call>\n{'name': 'weather', 'arguments': {'city': \"L'Aquila\"}}\n</tool_call>",
        [("weather", {"city": "L'Aquila"})],
        mended=True,
    ),
    Case(
        "parameters instead of arguments",
        '<tool_call>\n{"name": "weather", "parameters": {"city": "Oslo"}}\n</tool_call>',
        CALL,
    ),
    Case(
        "arguments before the name",
        '<tool_call>\n{"arguments": {"city": "Oslo"}, "name": "weather"}\n</tool_call>',
        CALL,
    ),
    Case(
        "arguments as a text of JSON",
        '<tool_call>\n{"name": "weather", "arguments": "{\\"city\\": \\"Oslo\\"}"}\n</tool_call>',
        CALL,
        mended=True,
    ),
    Case("arguments as an empty text", '<tool_call>\n{"name": "now", "arguments": ""}\n</tool_call>', [("now", {})]),
    Case("arguments as null", '<tool_call>\n{"name": "now", "arguments": null}\n</tool_call>', [("now", {})]),
    Case("no arguments at all", '<tool_call>\n{"name": "now"}\n</tool_call>', [("now", {})]),
    Case(
        "function instead of name",
        '<tool_call>\n{"function": "weather", "arguments": {"city": "Oslo"}}\n</tool_call>',
        CALL,
    ),
    Case(
        "the wrapping of OpenAI",
        f'<tool_call>\n{{"type": "function", "function": {JSON_CALL}}}\n</tool_call>',
        CALL,
    ),
    Case(
        "an id beside the name",
        '<tool_call>\n{"id": "abc", "name": "weather", "arguments": {"city": "Oslo"}}\n</tool_call>',
        CALL,
    ),
    Case("a fence in the tag", f"<tool_call>\n```json\n{JSON_CALL}\n```\n</tool_call>", CALL),
    Case("the tag without its underscore", f"<toolcall>\n{JSON_CALL}\n</toolcall>", CALL),
    Case("the tag without its underscore, closed with one", f"<toolcall>{JSON_CALL}</tool_call>", CALL),
    Case(
        "mentioned in a sentence, then made",
        f"I use <tool_call> now.\n<tool_call>\n{JSON_CALL}\n</tool_call>",
        CALL,
        text="I use <tool_call> now.\n",
    ),
    Case("mentioned without quotes", "The tag <tool_call> begins a call.", text="The tag <tool_call> begins a call."),
    Case("an end tag alone", "That ends with </tool_call> as you see.", text="That ends with </tool_call> as you see."),
    Case(
        "text between two calls",
        f"<tool_call>{JSON_CALL}</tool_call>\nand\n<tool_call>{JSON_CALL}</tool_call>",
        CALL * 2,
        text="\nand\n",
    ),
    Case(
        "broken off in a text",
        '<tool_call>\n{"name": "write_file", "arguments": {"path": "a", "content": "one tw',
        text='<tool_call>\n{"name": "write_file", "arguments": {"path": "a", "content": "one tw',
        rejected=["write_file"],
    ),
    Case(
        "broken off in the name",
        '<tool_call>\n{"name": "wea',
        text='<tool_call>\n{"name": "wea',
        rejected=[""],
    ),
    Case(
        "no JSON in the tag",
        "<tool_call>\nweather please\n</tool_call>",
        text="<tool_call>\nweather please\n</tool_call>",
    ),
    Case(
        "no tools are known",
        f"<tool_call>\n{JSON_CALL}\n</tool_call>",
        CALL,
        tools=(),
    ),
    Case(
        "a tool named like a key",
        '<tool_call>\n{"name": "arguments", "arguments": {"name": "x"}}\n</tool_call>',
        [("arguments", {"name": "x"})],
        tools=(tool("arguments", name="string"),),
    ),
]
