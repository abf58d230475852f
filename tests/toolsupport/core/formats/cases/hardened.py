"""Replies that were once read wrongly, each of them with the formats that it concerns."""

from __future__ import annotations

from tests.toolsupport.core.formats.cases.case import TOOLS, Case, tool
from tests.toolsupport.core.formats.cases.frames import OSLO

FORMATS = ("hermes",)
CALL = [("weather", OSLO)]
JSON_CALL = '{"name": "weather", "arguments": {"city": "Oslo"}}'
XML = ("qwen3_coder_xml", "auto")
PYTHON = ("pythonic", "llama4_pythonic", "lfm2_pythonic", "olmo3_pythonic")
FILE = "<tool_call>\n<function=write_file>\n<parameter=path>\na\n</parameter>\n<parameter=content>\n"
ODD_TYPES = (tool("plot", width="int", scale="float", grid="bool", title="str", marks="list"),)


def hermes(call: str) -> str:
    return f"<tool_call>\n{call}\n</tool_call>"


def plotted(**values: str) -> str:
    inside = "".join(f"<parameter={key}>\n{value}\n</parameter>\n" for key, value in values.items())
    return f"<tool_call>\n<function=plot>\n{inside}</function>\n</tool_call>"


CASES = [
    Case(
        "single quotes around a double one and sound escapes",
        hermes(r"""{'name': 'write_file', 'arguments': {'path': 'a"b.md', 'content': 'one\ntwo\\ é'}}"""),
        [("write_file", {"path": 'a"b.md', "content": "one\ntwo\\ é"})],
        mended=True,
    ),
    Case("braces too many are recorded", hermes(f"{JSON_CALL}}}}}"), CALL, mended=True),
    Case("a list that was never opened", hermes(f"{JSON_CALL}]"), CALL, mended=True),
    Case(
        "one text for a list of texts",
        hermes('{"name": "search", "arguments": {"tags": "red"}}'),
        [("search", {"tags": ["red"]})],
        mended=True,
    ),
    Case("single quotes without a mark", "{'name': 'now', 'arguments': {}}", [("now", {})], formats=("llama3_json",)),
    Case(
        "single quotes without a mark, no tool is known",
        "{'name': 'find', 'arguments': {'q': 'tea'}}",
        [("find", {"q": "tea"})],
        tools=(),
        formats=("llama3_json", "pure_json"),
    ),
    Case(
        "JSON in the marks of Python",
        f"<|tool_call_start|>[{JSON_CALL}, {JSON_CALL}]<|tool_call_end|>Wait.",
        CALL * 2,
        text="Wait.",
        formats=("lfm2_pythonic", "auto"),
    ),
    Case(
        "one object of JSON in the marks of Python",
        f"<|tool_call_start|>{JSON_CALL}<|tool_call_end|>",
        CALL,
        formats=("lfm2_pythonic", "auto"),
    ),
    Case(
        "an empty list in the marks",
        "<|tool_call_start|>[ ]<|tool_call_end|>",
        text="<|tool_call_start|>[ ]<|tool_call_end|>",
        formats=("lfm2_pythonic",),
    ),
    Case(
        "bytes are refused, the call beside them is read",
        "[note(a=b'tea'), weather(city='Oslo')]",
        CALL,
        text="[note(a=b'tea')",
        rejected=["note"],
        formats=PYTHON,
    ),
    Case(
        "a fence that never ends, then calls in a list",
        "Like:\n```js\nlet a = 1\n[weather(city='Oslo')]",
        text="Like:\n```js\nlet a = 1\n[weather(city='Oslo')]",
        formats=PYTHON,
    ),
    Case(
        "marks in a fence",
        "```\nso:\n<|python_start|>[weather(city='Oslo')]<|python_end|>\n```\n",
        text="```\nso:\n<|python_start|>[weather(city='Oslo')]<|python_end|>\n```\n",
        formats=PYTHON,
    ),
    Case(
        "calls on lines of their own",
        'I will look.\nweather(city="Oslo")\nnow()',
        [*CALL, ("now", {})],
        text="I will look.\n\n",
        formats=("auto",),
    ),
    Case("a call and nothing else, bare", 'weather(city="Oslo")', CALL, formats=("auto",)),
    Case("a bare call in a fence is shown", "```\nnow()\n```", text="```\nnow()\n```", formats=("auto",)),
    Case("a bare call that is quoted", "now() tells the time.", text="now() tells the time.", formats=("auto",)),
    Case(
        "the ends of a call are quoted in a value",
        f"{FILE}say </function>\n</tool_call>\nmore\n</parameter>\n</function>\n</tool_call>",
        [("write_file", {"path": "a", "content": "say </function>\n</tool_call>\nmore"})],
        mended=False,
        formats=XML,
    ),
    Case(
        "a value is not closed, text follows the call",
        f"{FILE}tea\n</function>\n</tool_call>\nThat was it.",
        [("write_file", {"path": "a", "content": "tea"})],
        text="\nThat was it.",
        mended=True,
        formats=XML,
    ),
    Case(
        "a value is not closed, text and a call follow",
        f"{FILE}tea\n</function>\n</tool_call>\nAnd: <tool_call>\n<function=now>\n</function>\n</tool_call>",
        [("write_file", {"path": "a", "content": "tea"}), ("now", {})],
        text="\nAnd: ",
        formats=XML,
    ),
    Case(
        "values that JSON would read otherwise",
        "<tool_call>\n<function=weather>\n<parameter=metric>\nTrue\n</parameter>\n</function>\n</tool_call>",
        [("weather", {"metric": True})],
        mended=True,
        formats=XML,
    ),
    Case(
        "types by the names that programmers give them",
        plotted(width="3", scale="1.5", grid="true", title="12", marks="[1, 2]"),
        [("plot", {"width": 3, "scale": 1.5, "grid": True, "title": "12", "marks": [1, 2]})],
        mended=False,
        tools=(*TOOLS, *ODD_TYPES),
        formats=XML,
    ),
    Case(
        "a long text that never ends",
        'So:\n```python\nx = """abc\nprint(1)\n```\n',
        [("python_execution", {"code": 'x = """abc\nprint(1)'})],
        text="So:\n\n",
        formats=("code_mode",),
    ),
    Case(
        "a fence in a long text",
        '```python\nx = """\n```\nabc\n```\n"""\nprint(x)\n```',
        [("python_execution", {"code": 'x = """\n```\nabc\n```\n"""\nprint(x)'})],
        formats=("code_mode",),
    ),
]
