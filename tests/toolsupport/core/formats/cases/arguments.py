"""Arguments as models write them, for every format that writes them as JSON: sound ones, and broken ones."""

from __future__ import annotations

from toolsupport.core.types import JSON

MARKERS = (
    "<tool_call> </tool_call> <toolcall> [TOOL_CALLS] [/TOOL_CALLS] [ARGS] [CALL_ID] <|python_tag|> <function=x> "
    "</function> <parameter=y> </parameter> <|python_start|> <|python_end|> <|tool_call_start|> <|tool_call_end|> "
    "<function_calls> </function_calls> <think> </think> ```python ``` ```"
)

# name, what is written, what it means. All of it is JSON: nothing may be repaired.
SOUND: list[tuple[str, str, JSON]] = [
    ("one text", '{"a": "tea"}', {"a": "tea"}),
    ("no space at all", '{"a":"tea","b":2}', {"a": "tea", "b": 2}),
    ("nothing", "{}", {}),
    ("nothing but space", "{ }", {}),
    ("an empty text", '{"a": ""}', {"a": ""}),
    ("a text of spaces", '{"a": "   "}', {"a": "   "}),
    ("an empty key", '{"": 1}', {"": 1}),
    ("an integer", '{"a": 7}', {"a": 7}),
    ("a negative integer", '{"a": -7}', {"a": -7}),
    ("a large integer", '{"a": 123456789012345678901234567890}', {"a": 123456789012345678901234567890}),
    ("a float", '{"a": 0.25}', {"a": 0.25}),
    ("a float with an exponent", '{"a": 1.5e-3}', {"a": 0.0015}),
    ("true and false", '{"a": true, "b": false}', {"a": True, "b": False}),
    ("null", '{"a": null}', {"a": None}),
    ("an empty list and an empty object", '{"a": [], "b": {}}', {"a": [], "b": {}}),
    ("a list of numbers", '{"a": [1, 2, 3]}', {"a": [1, 2, 3]}),
    ("a list of lists", '{"a": [[1], [2, [3]]]}', {"a": [[1], [2, [3]]]}),
    ("objects in objects", '{"a": {"b": {"c": {"d": 1}}}}', {"a": {"b": {"c": {"d": 1}}}}),
    ("objects in a list", '{"a": [{"b": 1}, {"b": 2}]}', {"a": [{"b": 1}, {"b": 2}]}),
    (
        "ten levels",
        '{"a":' * 10 + "1" + "}" * 10,
        {"a": {"a": {"a": {"a": {"a": {"a": {"a": {"a": {"a": {"a": 1}}}}}}}}}},
    ),
    ("letters of many scripts", '{"a": "Grüße, 東京, Москва, ‏שלום"}', {"a": "Grüße, 東京, Москва, ‏שלום"}),
    ("emoji", '{"a": "🫖☕️👩‍🔬"}', {"a": "🫖☕️👩‍🔬"}),
    ("an escaped emoji", '{"a": "\\ud83e\\uded6"}', {"a": "🫖"}),
    ("escaped letters", '{"a": "caf\\u00e9"}', {"a": "café"}),
    ("escaped quotes", '{"a": "she said \\"tea\\" twice"}', {"a": 'she said "tea" twice'}),
    ("an escaped quote at the end", '{"a": "tea\\""}', {"a": 'tea"'}),
    ("a backslash at the end", '{"a": "C:\\\\tea\\\\"}', {"a": "C:\\tea\\"}),
    ("line breaks and tabs", '{"a": "one\\ntwo\\tthree\\r\\n"}', {"a": "one\ntwo\tthree\r\n"}),
    ("an escaped slash", '{"a": "a\\/b"}', {"a": "a/b"}),
    ("apostrophes", '{"a": "it\'s the cat\'s tea"}', {"a": "it's the cat's tea"}),
    ("brackets in a text", '{"a": "}]) {[( }}"}', {"a": "}]) {[( }}"}),
    ("a call in a text", '{"a": "weather(city=\\"Oslo\\")"}', {"a": 'weather(city="Oslo")'}),
    (
        "JSON in a text",
        '{"a": "{\\"name\\": \\"now\\", \\"arguments\\": {}}"}',
        {"a": '{"name": "now", "arguments": {}}'},
    ),
    ("every marker in a text", f'{{"a": "{MARKERS}"}}', {"a": MARKERS}),
    ("half a marker at the end of a text", '{"a": "</tool_ca"}', {"a": "</tool_ca"}),
    ("HTML", '{"a": "<b>a &amp; b</b>"}', {"a": "<b>a &amp; b</b>"}),
    ("spread over lines", '{\n  "a": 1,\n  "b": [\n    2\n  ]\n}', {"a": 1, "b": [2]}),
    ("spread over lines of Windows", '{\r\n  "a": 1,\r\n  "b": 2\r\n}', {"a": 1, "b": 2}),
    ("keys that other formats use", '{"name": "x", "arguments": {"y": 1}}', {"name": "x", "arguments": {"y": 1}}),
    ("a long text", '{"a": "%s"}' % ("tea and cake " * 300), {"a": "tea and cake " * 300}),
    ("many members", "{" + ", ".join(f'"k{n}": {n}' for n in range(60)) + "}", {f"k{n}": n for n in range(60)}),
    ("code", '{"a": "def f(x):\\n    return {\'k\': [x]}\\n"}', {"a": "def f(x):\n    return {'k': [x]}\n"}),
    ("a null character", '{"a": "a\\u0000b"}', {"a": "a\0b"}),
]

# name, tool, what is written, what is meant. Repaired, and that is written down.
BROKEN: list[tuple[str, str, str, JSON]] = [
    ("a comma too many", "weather", '{"city": "Oslo",}', {"city": "Oslo"}),
    ("a comma too many in a list", "search", '{"tags": ["a", "b",]}', {"tags": ["a", "b"]}),
    ("single quotes", "weather", "{'city': 'Oslo', 'days': 2}", {"city": "Oslo", "days": 2}),
    ("single quotes and an apostrophe", "weather", "{'city': 'L\\'Aquila'}", {"city": "L'Aquila"}),
    ("keys without quotes", "weather", '{city: "Oslo", days: 2}', {"city": "Oslo", "days": 2}),
    ("words of Python", "weather", '{"city": "Oslo", "metric": True}', {"city": "Oslo", "metric": True}),
    ("None of Python", "search", '{"note": None}', {"note": None}),
    (
        "a raw line break in a text",
        "write_file",
        '{"path": "a", "content": "one\ntwo"}',
        {"path": "a", "content": "one\ntwo"},
    ),
    ("a raw tab in a text", "write_file", '{"path": "a", "content": "one\ttwo"}', {"path": "a", "content": "one\ttwo"}),
    ("a missing comma", "weather", '{"city": "Oslo" "days": 2}', {"city": "Oslo", "days": 2}),
    ("an integer in quotes", "weather", '{"city": "Oslo", "days": "3"}', {"city": "Oslo", "days": 3}),
    ("a boolean in quotes", "weather", '{"city": "Oslo", "metric": "true"}', {"city": "Oslo", "metric": True}),
    ("a number in quotes", "search", '{"ratio": "0.5"}', {"ratio": 0.5}),
    ("a list in quotes", "search", '{"tags": "[\\"a\\", \\"b\\"]"}', {"tags": ["a", "b"]}),
    ("an object in quotes", "search", '{"filters": "{\\"year\\": 1999}"}', {"filters": {"year": 1999}}),
    ("a number for a text", "weather", '{"city": 1010}', {"city": "1010"}),
    ("a float that is whole", "weather", '{"city": "Oslo", "days": "2.0"}', {"city": "Oslo", "days": 2}),
]

# name, tool, what is written: texts that only look as if they needed a repair.
LEFT_ALONE: list[tuple[str, str, str, JSON]] = [
    ("digits where a text is wanted", "weather", '{"city": "1010"}', {"city": "1010"}),
    ("true where a text is wanted", "weather", '{"city": "true"}', {"city": "true"}),
    (
        "JSON where a text is wanted",
        "write_file",
        '{"path": "a", "content": "[1, 2]"}',
        {"path": "a", "content": "[1, 2]"},
    ),
    ("null in quotes where both are allowed", "search", '{"note": "null"}', {"note": "null"}),
    ("a text for a list of texts", "search", '{"tags": ["[1]"]}', {"tags": ["[1]"]}),
]
