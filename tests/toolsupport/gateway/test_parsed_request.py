"""The tools of a request: the same text gives the same objects, and nothing else does."""

from __future__ import annotations

from typing import Any

import pytest

from toolsupport.core.types import ToolSpec
from toolsupport.gateway.parsed_request import LARGEST_KEPT, usable
from toolsupport.gateway.request_errors import InvalidField


def tool(name: str = "add", about: str = "", strict: bool = False, **properties: Any) -> ToolSpec:
    return ToolSpec(name, about, {"type": "object", "properties": properties, "required": []}, strict)


def test_tools_with_the_same_text_are_the_same_objects() -> None:
    first, second = usable((tool(by={"type": "integer"}), tool("b"))), usable((tool(by={"type": "integer"}), tool("b")))
    assert first is second and first == (tool(by={"type": "integer"}), tool("b"))


@pytest.mark.parametrize("value", [1, 1.0, True, 0, False, -0.0, 1e300, "1", None, [], {}, "ä\u2028😀"])
def test_values_of_a_schema_keep_their_kind(value: Any) -> None:
    for other in (1, True, 1.0, value):
        usable((tool(by={"default": other}),))
    kept = usable((tool(by={"default": value}),))[0].parameters["properties"]["by"]["default"]
    assert (kept, type(kept), str(kept)) == (value, type(value), str(value))


def test_every_part_of_a_tool_counts() -> None:
    tools = [
        tool(),
        tool("sub"),
        tool(about="Adds."),
        tool(strict=True),
        tool(by={}),
        tool(by={}, to={}),
        tool(to={}, by={}),
    ]
    found = [usable((one,)) for one in tools]
    assert [one[0] for one in found] == tools and len({id(one) for one in found}) == len(tools)
    assert [list(one[0].parameters["properties"]) for one in found[-2:]] == [["by", "to"], ["to", "by"]]


def test_very_large_tools_are_read_each_time() -> None:
    large = (tool(about="x" * LARGEST_KEPT),)
    assert usable(large) is large


def test_what_is_refused_once_is_refused_again() -> None:
    for _ in range(2):
        with pytest.raises(InvalidField, match="Two tools have the same name"):
            usable((tool(), tool()))
        with pytest.raises(InvalidField, match="No call of add could be checked"):
            usable((tool(by={"type": "no type"}),))
