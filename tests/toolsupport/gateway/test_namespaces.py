"""Functions of namespaces, in which Codex sends the tools of MCP servers, have one name each for the model."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from typing import Any

import pytest

from tests.tables import every
from tests.toolsupport.gateway.conftest import FOLDER, Program
from tests.toolsupport.gateway.test_responses import CALL, LIST, asked, events_of, item, post, tool
from toolsupport.gateway.request_errors import InvalidField

Knows = Callable[..., Any]
IN_DOCS = {"name": "list_directory", "namespace": "mcp__docs"}


def space(name: Any, *tools: Any) -> dict[str, Any]:
    """A namespace, as Codex sends the tools of an MCP server."""
    return {"type": "namespace", "name": name, "description": "Docs.", "tools": list(tools)}


def functions(number: int) -> list[Any]:
    return [LIST | {"name": f"a{one}"} for one in range(number)]


WRONG: dict[str, tuple[Any, str]] = {
    "too many tools in a namespace": ({"tools": [space("b", *functions(257))]}, "tools[0].tools"),
    "too many tools in all": ({"tools": [*functions(128), space("b", *functions(129))]}, "tools"),
    "two of one name in a namespace": ({"tools": [space("b", LIST), space("b", LIST)]}, "tools"),
    "a namespace without name": (tool(type="namespace", tools=[LIST]), "tools[0].name"),
    "a namespace with a blank name": ({"tools": [space(" ", LIST)]}, "tools[0].name"),
    "a text as tools of a namespace": (tool(type="namespace", name="a", tools="x"), "tools[0].tools"),
    "a function of a namespace without name": ({"tools": [space("a", {"type": "function"})]}, "tools[0].tools[0].name"),
    "spaces in a name within": ({"tools": [space("a", LIST | {"name": "a b"})]}, "tools[0].tools[0].name"),
    "parameters of a text within": ({"tools": [space("a", LIST | {"parameters": {"type": "string"}})]}, "tools"),
    "a number as namespace": (
        item(type="function_call", call_id="c", name="a", arguments="{}", namespace=1),
        "input[0].namespace",
    ),
    "a choice from another namespace": (
        {"tools": [space("mcp__docs", LIST)], "tool_choice": {"type": "function", **IN_DOCS, "namespace": "mcp__web"}},
        "tool_choice",
    ),
}


@every("case", WRONG)
def test_a_wrong_field_is_named(case: str) -> None:  # G5
    fields, place = WRONG[case]
    with pytest.raises(InvalidField) as error:
        asked(**fields)
    assert error.value.param.startswith(place), error.value


@every(
    "choice, expected",
    [
        ({"type": "function", **IN_DOCS}, ("required", ["mcp__docs__list_directory"])),
        (
            {"type": "allowed_tools", "mode": "auto", "tools": [IN_DOCS, {"name": None}, {"name": "b"}]},
            ("auto", ["b", "mcp__docs__list_directory"]),
        ),
    ],
)
def test_a_choice_is_read(choice: Any, expected: tuple[str, list[str]]) -> None:
    found = asked(tools=[LIST, LIST | {"name": "b"}, space("mcp__docs", LIST)], tool_choice=choice)
    assert (found.choice, [one.name for one in found.tools]) == expected


def hashed(kept: str, namespace: str, name: str) -> str:
    return f"{kept}_{sha256(chr(0).join((namespace, name)).encode()).hexdigest()[:8]}"


# Tools → the names that a model gets for them.
FLAT: dict[str, tuple[list[Any], list[str]]] = {
    "functions beside them": ([LIST, space("mcp__docs", LIST)], ["list_directory", "mcp__docs__list_directory"]),
    "an end that separates": ([space("mcp__docs__", LIST)], ["mcp__docs__list_directory"]),
    "the same name in two": ([space("a", LIST), space("b", LIST)], ["a__list_directory", "b__list_directory"]),
    "one namespace twice": ([space("a", LIST), space("a", LIST | {"name": "b"})], ["a__list_directory", "a__b"]),
    "a name that a function has": (
        [space("a", LIST), LIST | {"name": "a__list_directory"}],
        [hashed("a__list_directory", "a", "list_directory"), "a__list_directory"],
    ),
    "a name that another has": (
        [space("a", LIST | {"name": "b__c"}), space("a__b", LIST | {"name": "c"})],
        ["a__b__c", hashed("a__b__c", "a__b", "c")],
    ),
    "a name that a hash made unlike": (
        [space("a.b", LIST), space("a_b", LIST)],
        [hashed("a_b__list_directory", "a.b", "list_directory"), "a_b__list_directory"],
    ),
    "a name of 64": ([space("n" * 48, LIST)], ["n" * 48 + "__list_directory"]),
    "a name of 65": ([space("n" * 49, LIST)], [hashed("n" * 41 + "list_directory", "n" * 49, "list_directory")]),
    "a long function": ([space("n", LIST | {"name": "f" * 64})], [hashed("f" * 55, "n", "f" * 64)]),
    "no tools": ([LIST, space("a"), {"type": "namespace", "name": "b", "tools": None}], ["list_directory"]),
}


@every("case", FLAT)
def test_functions_of_namespaces_have_one_name_each(case: str) -> None:  # G5
    tools, names = FLAT[case]
    found = asked(tools=tools)
    assert [one.name for one in found.tools] == names and all(len(name) <= 64 for name in names)
    assert found.skipped == (("namespace",) if case == "no tools" else ())
    # A history has the same names, whatever stands before.
    other = CALL | {"call_id": "z", "namespace": "z"}
    for called, flat in zip([one for given in tools for one in named_in(given)], names, strict=True):
        assert asked(tools=tools, input=[other, CALL | called]).log[0].calls[1].name == flat


def named_in(given: dict[str, Any]) -> list[dict[str, Any]]:
    if given["type"] == "function":
        return [{"name": given["name"]}]
    return [{"name": one["name"], "namespace": given["name"]} for one in given["tools"] or ()]


def test_other_tools_of_namespaces_are_left_out() -> None:
    found = asked(tools=[space("a", {"type": "web_search", "name": "x"}, LIST)])
    assert ([one.name for one in found.tools], found.skipped) == (["a__list_directory"], ("web_search",))


@pytest.mark.asyncio
@pytest.mark.parametrize(("name", "known"), [("sim-honest", {}), ("sim-hermes", {"format": "hermes"})])
async def test_a_call_comes_back_with_its_namespace(
    program: Program, knows: Knows, name: str, known: dict[str, str]
) -> None:  # G5
    """Codex runs no call under a flat name, and sends both names back."""
    await knows(name, tools=True, **known)
    tools = [space("mcp__docs", LIST)]
    body = (await post(program, model=name, tools=tools)).json()
    call = body["output"][-1]
    assert IN_DOCS.items() <= call.items() and body["tools"] == tools
    answer = await post(program, model=name, tools=tools, stream=True)
    found = events_of(b"".join([piece async for piece in answer.streaming_content]).decode())
    items = [one["item"] for one in found if "item" in one] + found[-1]["response"]["output"]
    calls = [one for one in items if one["type"] == "function_call"]
    assert len(calls) == 3 and all(IN_DOCS.items() <= one.items() for one in calls)
    assert [one["name"] for one in found if one["type"].endswith("arguments.done")] == ["list_directory"]
    result = {"type": "function_call_output", "call_id": call["call_id"], "output": "config.json"}
    last = (await post(program, model=name, tools=tools, input=[FOLDER, *body["output"], result])).json()
    assert "config.json" in last["output"][-1]["content"][0]["text"]
