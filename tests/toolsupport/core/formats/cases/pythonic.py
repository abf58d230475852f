"""Calls written as Python, with the literals of Python or of JSON, sound and broken."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from tests.toolsupport.core.formats.cases.arguments import MARKERS, SOUND
from tests.toolsupport.core.formats.cases.case import Case, tool
from tests.toolsupport.core.formats.cases.frames import OSLO, Frame, cases_of
from toolsupport.core.types import JSON

FORMATS = ("pythonic",)
CALL = [("weather", OSLO)]
NOTHING = "weather()"


def bare(name: str, arguments: str) -> str:
    read: dict[str, Any] = json.loads(arguments)
    return f"{name}({', '.join(f'{key}={value!r}' for key, value in read.items())})"


def listed(name: str, arguments: str) -> str:
    return f"[{bare(name, arguments)}]"


def one_list(calls: list[str]) -> str:
    return f"[{', '.join(call[1:-1] for call in calls)}]"


def wrapped(opener: str, closer: str, separator: str = "") -> Frame:
    """The frame of a variant; with a separator its calls stand without brackets."""

    def one(name: str, arguments: str) -> str:
        return f"{opener}{bare(name, arguments) if separator else listed(name, arguments)}{closer}"

    def many(calls: list[str]) -> str:
        inner = [call.removeprefix(opener).removesuffix(closer) for call in calls]
        return f"{opener}{separator.join(inner) if separator else one_list(inner)}{closer}"

    return Frame(one, many, opener[:-2], f"The mark `{opener}` begins a call.", json=False)


LISTED = Frame(listed, one_list, "[weath", "Write [name(key=value)] for that.", json=False, marked=False)
BARE = Frame(bare, "\n".join, "\nweath", "Write weather(city) for that.", json=False, marked=False)
VARIANTS = {
    "llama4_pythonic": wrapped("<|python_start|>", "<|python_end|>"),
    "lfm2_pythonic": wrapped("<|tool_call_start|>", "<|tool_call_end|>"),
    "olmo3_pythonic": wrapped("<function_calls>", "</function_calls>", "\n"),
}

# What is written for one value, and what it means. Python reads all of these, so nothing may be repaired.
LITERALS: list[tuple[str, str, object]] = [
    ("single quotes", "'tea'", "tea"),
    ("an apostrophe in double quotes", '"it\'s"', "it's"),
    ("an escaped apostrophe", r"'it\'s'", "it's"),
    ("double quotes in single ones", "'say \"tea\"'", 'say "tea"'),
    ("three quotes", '"""one\ntwo "x" three"""', 'one\ntwo "x" three'),
    ("three single quotes", "'''it's\n'one'\n'''", "it's\n'one'\n"),
    ("a raw text", r"r'C:\new'", r"C:\new"),
    ("a hexadecimal escape", r"'\x41\u00e9\U0001FAD6'", "Aé🫖"),
    ("an octal escape", r"'\101\0'", "A\0"),
    ("an escape Python does not know", r"'\d+\.\w'", r"\d+\.\w"),
    ("texts side by side", "'one ' 'two'", "one two"),
    ("texts on lines of their own", "('one '\n 'two')", "one two"),
    ("texts added up", "'one ' + 'two'", "one two"),
    ("True", "True", True),
    ("true", "true", True),
    ("False", "False", False),
    ("None", "None", None),
    ("null", "null", None),
    ("a negative number", "-3", -3),
    ("a float without a leading zero", ".5", 0.5),
    ("a float with nothing behind its point", "5.", 5.0),
    ("an exponent", "1e3", 1000.0),
    ("underscores in a number", "1_000_000", 1000000),
    ("a hexadecimal number", "0xff", 255),
    ("a list", "[1, 'two', None]", [1, "two", None]),
    ("a comma behind the last item", "[1, 2,]", [1, 2]),
    ("a tuple", "(1, 2)", [1, 2]),
    ("a tuple of one", "(1,)", [1]),
    ("brackets around one value", "(1)", 1),
    ("a set", "{1, 2}", [1, 2]),
    ("an empty dict", "{}", {}),
    ("a dict", "{'a': 1, 'b': [True]}", {"a": 1, "b": [True]}),
    ("a dict of JSON", '{"a": true, "b": null}', {"a": True, "b": None}),
    ("numbers as keys", "{1: 'one', None: 'no'}", {"1": "one", "null": "no"}),
    ("dict()", "dict(a=1, b='x')", {"a": 1, "b": "x"}),
    ("dict() of a dict", "dict({'a': 1})", {"a": 1}),
    ("list()", "list([1, 2])", [1, 2]),
    ("an empty set", "set()", []),
    ("brackets and commas in a text", "'a), b], c}'", "a), b], c}"),
    ("the end of a list in a text", "'a)]'", "a)]"),
    ("a call in a text", "'weather(city=\"Oslo\")'", 'weather(city="Oslo")'),
    ("every marker in a text", f"'{MARKERS}'", MARKERS),
    ("an emoji", "'🫖'", "🫖"),
    ("an emoji in halves", r"'\ud83e\uded6'", "🫖"),
    ("an empty text", "''", ""),
    ("only a quote", "'\"'", '"'),
    ("a backslash at the end", r"'tea\\'", "tea\\"),
]

# What Python would not read.
ODD: list[tuple[str, str, object]] = [
    ("an apostrophe that was not escaped", "'it's tea'", "it's tea"),
    ("quotes in quotes", '"say "tea" now"', 'say "tea" now'),
    ("a call with quotes in quotes", "'print('hi')'", "print('hi')"),
    ("a line break in a text", "'one\ntwo'", "one\ntwo"),
    ("a dict with bare keys", "{a: 1}", {"a": 1}),
    ("a text without quotes", "New York", "New York"),
    ("TRUE", "TRUE", True),
]
# What nobody may read.
UNREADABLE = {
    "a variable in a list": "[x]",
    "a sum": "1 + 2",
    "a call": "open('x')",
    "an attribute": "'a'.upper()",
    "infinity": "1e999",
    "not a number": "nan * 2(",
    "a comprehension": "[x for x in y]",
    "a lambda": "(lambda: 1)",
    "a star": "*",
    "a number of 5000 digits": "9" * 5000,
    "a hundred brackets": "[" * 100 + "]" * 100,
    "a wrong bracket": "[1)",
}


def _values() -> list[Case]:
    sound = [
        Case(f"a literal: {name}", f"[note(a={written})]", [("note", {"a": value})], mended=False)
        for name, written, value in LITERALS
    ]
    odd = [
        Case(f"mended: {name}", f"[note(a={written}, b=1)]", [("note", {"a": value, "b": 1})])
        for name, written, value in ODD
    ]
    no = [
        Case(f"unreadable: {name}", f"[note(a={written})]", text=f"[note(a={written})]", rejected=["note"])
        for name, written in UNREADABLE.items()
    ]
    return sound + odd + no


def _of_json() -> list[Case]:
    """The arguments of the JSON formats, their values as JSON writes them; Python keeps the backslash of `\\/`."""
    found = []
    for name, written, meant in SOUND:
        if meant and all(key.isidentifier() for key in meant) and "\\/" not in written:
            arguments = ", ".join(f"{key}={json.dumps(value)}" for key, value in meant.items())
            found.append(Case(f"values of JSON: {name}", f"[note({arguments})]", [("note", meant)], mended=False))
    return found


def _calls(reply: str, *calls: tuple[str, JSON], text: str = "", mended: bool | None = None) -> Case:
    return Case(reply.replace("\n", "⏎"), reply, list(calls), text=text, mended=mended)


TWO = [("weather", OSLO), ("now", {})]
CASES = [
    *cases_of(LISTED),
    *(replace(case, name=f"no brackets: {case.name}") for case in cases_of(BARE)),
    *(
        replace(case, name=f"{variant}: {case.name}", formats=(variant,))
        for variant, frame in VARIANTS.items()
        for case in cases_of(frame)
    ),
    *_values(),
    *_of_json(),
    _calls('[weather("Oslo")]', *CALL, mended=True),
    _calls('[weather("Oslo", 3)]', ("weather", {"city": "Oslo", "days": 3}), mended=True),
    _calls('[weather("Oslo", metric=True)]', ("weather", {"city": "Oslo", "metric": True}), mended=True),
    _calls('[weather(**{"city": "Oslo"})]', *CALL),
    _calls('[weather(*["Oslo"])]', *CALL),
    _calls('[weather({"city": "Oslo"})]', *CALL, mended=True),
    _calls('[weather(city="Oslo",)]', *CALL, mended=False),
    _calls('[weather(city = "Oslo" , days = 2)]', ("weather", {"city": "Oslo", "days": 2}), mended=False),
    _calls('[weather("city": "Oslo")]', *CALL),
    _calls('[weather(city: "Oslo")]', *CALL),
    _calls('[weather("city"="Oslo")]', *CALL),
    _calls(
        '[weather(city="Oslo", days="2", metric="false")]',
        ("weather", {"city": "Oslo", "days": 2, "metric": False}),
        mended=True,
    ),
    _calls("[search(tags='[\"a\"]')]", ("search", {"tags": ["a"]}), mended=True),
    _calls('[weather(city="Oslo"), now()]', *TWO, mended=False),
    _calls('[weather(city="Oslo"),\n now()\n]', *TWO, mended=False),
    _calls('[\n    weather(city="Oslo"),\n    now(),\n]', *TWO, mended=False),
    _calls('[weather(city="Oslo"); now()]', *TWO),
    _calls('[weather(city="Oslo")\nnow()]', *TWO),
    _calls('[weather(city="Oslo")], [now()]', *TWO),
    _calls('[weather(city="Oslo")]\n[now()]', *TWO),
    _calls('weather(city="Oslo"); now()', *TWO),
    _calls('weather(city="Oslo"), now()', *TWO),
    _calls('weather(city="Oslo")\nnow()', *TWO),
    _calls('weather(city="Oslo")\r\nnow()\r\n', *TWO),
    _calls('  weather(city="Oslo")', *CALL),
    _calls('[weather(city="Oslo"), now()', *TWO),
    _calls('[weather(city="Oslo"', *CALL, mended=True),
    _calls('```python\n[weather(city="Oslo")]\n```', *CALL, mended=False),
    _calls('```python\nweather(city="Oslo")\nnow()\n```', *TWO),
    _calls('```tool_code\nweather(city="Oslo")\n```', *CALL),
    _calls('```\n[weather(city="Oslo")]\n```', *CALL),
    _calls(
        'Here:\n```python\n[weather(city="Oslo")]\n```\nDone.',
        text='Here:\n```python\n[weather(city="Oslo")]\n```\nDone.',
    ),
    _calls('I look: [weather(city="Oslo")] and wait.', text='I look: [weather(city="Oslo")] and wait.'),
    _calls('I look: [weather(city="Oslo")]', *CALL, text="I look: "),
    _calls('[music.play(track="Blue")]', ("music.play", {"track": "Blue"})),
    _calls('[functions.weather(city="Oslo")]', ("functions.weather", OSLO)),
    _calls('[run-sql(statement="select 1")]', ("run-sql", {"statement": "select 1"})),
    _calls('[weather(city="Oslo"), teleport(to="x")]', *CALL, ("teleport", {"to": "x"})),
    _calls('<|python_start|>[teleport(to="x")]<|python_end|>', ("teleport", {"to": "x"})),
    _calls('<|python_start|>teleport(to="x")<|python_end|>', ("teleport", {"to": "x"})),
    _calls('<|python_start|>\n[weather(city="Oslo")]\n<|python_end|>\n', *CALL),
    _calls('<|python_start|>[weather(city="Oslo")]', *CALL),
    _calls('[weather(city="Oslo")]<|python_end|>', *CALL),
    _calls('<|tool_call_start|>[weather(city="Oslo")]<|tool_call_end|>The weather.', *CALL, text="The weather."),
    _calls('<function_calls>\nweather(city="Oslo")\nnow()\n</function_calls>', *TWO, mended=False),
    _calls('<function_calls>[weather(city="Oslo"), now()]</function_calls>', *TWO),
    _calls('<function_calls>\nweather(city="Oslo")\n', *CALL),
    _calls("weather() tells how cold it is.", text="weather() tells how cold it is."),
    _calls("Use weather(city) for that.", text="Use weather(city) for that."),
    _calls("weather(city)", text="weather(city)"),
    _calls("see [weather](http://x.example) [1]", text="see [weather](http://x.example) [1]"),
    _calls("a[0] = b[i](c)", text="a[0] = b[i](c)"),
    _calls('print(weather(city="Oslo"))', text='print(weather(city="Oslo"))'),
    _calls('[teleport(to="x")]', text='[teleport(to="x")]'),
    _calls(
        '```python\nx = weather(city="Oslo")\nweather(city="Rome")\n```',
        text='```python\nx = weather(city="Oslo")\nweather(city="Rome")\n```',
    ),
    _calls("<|python_start|>nothing here<|python_end|>", text="<|python_start|>nothing here<|python_end|>"),
    Case("any name where no tools are known", '[teleport(to="x")]', [("teleport", {"to": "x"})], tools=()),
    Case(
        "a broken call beside a good one",
        "[weather(city=open(1)), now()]",
        [("now", {})],
        text="[weather(city=open(1))",
        rejected=["weather"],
    ),
    Case("too many positional arguments", "[now(1)]", text="[now(1)]", rejected=["now"]),
    Case(
        "an argument given twice",
        '[weather(city="a", city="b")]',
        text='[weather(city="a", city="b")]',
        rejected=["weather"],
    ),
    Case("broken off in a text", '[weather(city="Os', text='[weather(city="Os', rejected=["weather"]),
    Case("broken off behind a name", "[weather(city=", text="[weather(city=", rejected=["weather"]),
    Case("broken off in a number", "[search(limit=1", text="[search(limit=1", rejected=["search"]),
    Case(
        "text after the calls of a marker",
        "<|python_start|>[now()] well<|python_end|>",
        [("now", {})],
        text=" well",
        formats=("llama4_pythonic",),
    ),
    Case(
        "a tool named like a word of Python",
        "[list(items=[1])]",
        [("list", {"items": [1]})],
        tools=(tool("list", items="array"),),
    ),
]
