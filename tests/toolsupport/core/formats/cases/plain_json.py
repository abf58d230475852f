"""Calls that are only JSON, as Llama 3 writes them: the names decide what is a call."""

from __future__ import annotations

from dataclasses import replace

from tests.toolsupport.core.formats.cases.case import Case
from tests.toolsupport.core.formats.cases.frames import OSLO, Frame, cases_of

FORMATS = ("pure_json", "llama3_json")


def one(name: str, arguments: str) -> str:
    return f'{{"name": "{name}", "parameters": {arguments}}}'


def tagged(name: str, arguments: str) -> str:
    return f"<|python_tag|>{one(name, arguments)}"


def tagged_list(calls: list[str]) -> str:
    return "<|python_tag|>" + "; ".join(call.removeprefix("<|python_tag|>") for call in calls)


BARE = Frame(one, "; ".join, '{"na', 'Write {"name": …, "parameters": …} for that.', marked=False)
TAGGED = Frame(tagged, tagged_list, "<|python_t", "The mark `<|python_tag|>` begins a call.")
CALL = [("weather", OSLO)]
JSON_CALL = '{"name": "weather", "parameters": {"city": "Oslo"}}'

CASES = [
    *cases_of(BARE),
    *(replace(case, name=f"tag: {case.name}", formats=("llama3_json",)) for case in cases_of(TAGGED)),
    Case("arguments instead of parameters", '{"name": "weather", "arguments": {"city": "Oslo"}}', CALL),
    Case("separated by commas", f"{JSON_CALL}, {JSON_CALL}", CALL * 2),
    Case("separated by line breaks", f"{JSON_CALL}\n{JSON_CALL}", CALL * 2),
    Case("separated by nothing", f"{JSON_CALL}{JSON_CALL}", CALL * 2),
    Case("a list of calls", f"[{JSON_CALL}, {JSON_CALL}]", CALL * 2),
    Case("in a fence", f"```json\n{JSON_CALL}\n```", CALL),
    Case(
        "the wrapping of OpenAI",
        '{"type": "function", "function": {"name": "weather", "parameters": {"city": "Oslo"}}}',
        CALL,
    ),
    Case(
        "the name under function", '{"type": "function", "function": "weather", "parameters": {"city": "Oslo"}}', CALL
    ),
    Case("a type beside the name", '{"type": "function", "name": "weather", "parameters": {"city": "Oslo"}}', CALL),
    *(
        Case(f"the list of OpenAI{where}", reply, calls)
        for where, reply, calls in (
            ("", f'{{"tool_calls": [{JSON_CALL}]}}', CALL),
            (", two of them", f'{{\n  "tool_calls": [\n    {JSON_CALL},\n    {JSON_CALL}\n  ]\n}}', CALL * 2),
            (", wrapped", f'{{"tool_calls": [{{"id": "1", "type": "function", "function": {JSON_CALL}}}]}}', CALL),
            (" in a fence", f'```json\n{{"tool_calls": [{JSON_CALL}]}}\n```', CALL),
        )
    ),
    Case("a list of calls that is none", '{"tool_calls": [3]}', text='{"tool_calls": [3]}'),
    Case("arguments first", '{"parameters": {"city": "Oslo"}, "name": "weather"}', CALL),
    Case(
        "a tool nobody offered", '{"name": "teleport", "parameters": {}}', text='{"name": "teleport", "parameters": {}}'
    ),
    Case("a person, not a tool", '{"name": "Ada", "age": 36}', text='{"name": "Ada", "age": 36}'),
    Case(
        "any name where no tools are known",
        '{"name": "teleport", "parameters": {"to": "Oslo"}}',
        [("teleport", {"to": "Oslo"})],
        tools=(),
    ),
    Case("an object before the call", f'{{"a": 1}}\n{JSON_CALL}', CALL, text='{"a": 1}\n'),
    Case("text behind", f"{JSON_CALL}\nThat was it.", CALL, text="\nThat was it."),
    Case(
        "a list in a text",
        '{"name": "search", "parameters": {"tags": "[\\"a\\"]"}}',
        [("search", {"tags": ["a"]})],
        mended=True,
    ),
    Case(
        "the call of a built-in tool",
        '<|python_tag|>search.call(query="tea")',
        [("search", {"query": "tea"})],
        formats=("llama3_json",),
    ),
    *(
        Case(f"the tag before {name}", f"<|python_tag|>{reply}", calls, text=text, formats=("llama3_json", "auto"))
        for name, reply, calls, text in (
            ("Python", 'weather(city="Oslo")', CALL, ""),
            ("Python and its end", 'weather(city="Oslo")<|eom_id|>', CALL, ""),
            ("Python in a list", '[weather(city="Oslo"), now()]', [*CALL, ("now", {})], ""),
            ("code", "print(weather)", [], "<|python_tag|>print(weather)"),
        )
    ),
    Case("a lonely brace", "Look: {", text="Look: {"),
    Case("a brace and a name", 'Look: {"name": "Ada"', text='Look: {"name": "Ada"'),
]
