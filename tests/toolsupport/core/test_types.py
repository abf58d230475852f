"""The types keep their values, and never turn unknown into no."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from toolsupport.core.types import (
    Build,
    Capabilities,
    Capability,
    Endpoint,
    ToolSpec,
    is_json_object,
)

EMPTY = {"type": "object", "properties": {}, "required": []}

# F6: description "", properties {} and required [] where they are missing.
READABLE: dict[str, tuple[dict[str, Any], ToolSpec]] = {
    "whole": (
        {
            "type": "function",
            "function": {
                "name": "read_file",
                "description": "Read a file.",
                "parameters": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
            },
        },
        ToolSpec(
            "read_file",
            "Read a file.",
            {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
        ),
    ),
    "bare function": ({"name": "now", "description": "The time."}, ToolSpec("now", "The time.", EMPTY)),
    "only a name": ({"type": "function", "function": {"name": "now"}}, ToolSpec("now")),
    "nulls": ({"function": {"name": "now", "description": None, "parameters": None}}, ToolSpec("now")),
    "half a schema": (
        {"function": {"name": "now", "parameters": {"properties": {"zone": {}}}}},
        ToolSpec("now", "", {"type": "object", "properties": {"zone": {}}, "required": []}),
    ),
    "extra keywords": (
        {"function": {"name": "now", "parameters": {"additionalProperties": False}}},
        ToolSpec("now", "", EMPTY | {"additionalProperties": False}),
    ),
}


@pytest.mark.parametrize("case", READABLE)
def test_a_tool_is_read_with_what_is_missing_filled_in(case: str) -> None:
    written, spec = READABLE[case]
    assert ToolSpec.from_openai(written) == spec


@pytest.mark.parametrize("case", READABLE)
def test_a_tool_survives_the_wire(case: str) -> None:
    spec = READABLE[case][1]
    assert ToolSpec.from_openai(json.loads(json.dumps(spec.to_openai()))) == spec


@pytest.mark.parametrize(
    "written", [{}, {"function": {}}, {"function": {"name": ""}}, {"function": {"name": 7}}, {"function": "read_file"}]
)
def test_a_tool_without_a_name_is_refused(written: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="needs a name"):
        ToolSpec.from_openai(written)


def test_reading_a_tool_leaves_what_was_read_alone() -> None:
    written: dict[str, Any] = {"function": {"name": "now", "parameters": {}}}
    ToolSpec.from_openai(written)
    assert written == {"function": {"name": "now", "parameters": {}}}


def test_what_nobody_spoke_of_is_unknown_and_not_no() -> None:  # D1
    capability = Capabilities({})["tools"]
    assert capability.value is None
    assert not capability.known
    assert capability.source == "default"


def test_a_known_no_is_known() -> None:
    assert Capability("tools", False, "declared", "").known


def test_capabilities_in_json_are_what_the_api_promises() -> None:
    known = Capabilities({"tools": Capability("tools", True, "declared", "The server says so.", "2026-11-12")})
    expected = {"value": True, "source": "declared", "since": "2026-11-12", "reason": "The server says so."}
    assert known.to_json() == {"tools": expected}


BUILD = Build("ollama", "qwen3:8b", "sha256:1", "template", "0.13.0")


@pytest.mark.parametrize("part", ["server", "name", "digest", "template_hash", "server_version"])
def test_a_build_with_one_part_changed_is_another_build(part: str) -> None:  # M3
    assert replace(BUILD, **{part: "changed"}).key != BUILD.key


def test_a_build_key_is_short_stable_and_never_empty() -> None:
    assert BUILD.key == replace(BUILD).key
    assert len(Build("", "").key) == 32


def test_parts_of_a_build_do_not_run_into_each_other() -> None:
    assert Build("ab", "c").key != Build("a", "bc").key


def test_a_key_is_not_shown_with_its_endpoint() -> None:
    assert "hush" not in repr(Endpoint("openai", "http://127.0.0.1", "hush"))


@pytest.mark.parametrize(
    ("value", "is_object"), [({}, True), ({"a": 1}, True), ({1: "a"}, False), ([], False), (None, False), ("{}", False)]
)
def test_an_object_of_json_is_a_dict_with_names(value: object, is_object: bool) -> None:
    assert is_json_object(value) is is_object
