"""Tools for servers that turn their schemas into a grammar, and refuse a request with one that they cannot turn."""

from __future__ import annotations

import json

import pytest

from tests.tables import every
from toolsupport.core.grammar_schemas import for_grammar
from toolsupport.core.types import JSON, Permit, Request, ToolSpec
from toolsupport.providers.server_kinds import PROVIDERS

NOT_BLANK = "matches the regular expression \\S"
# a property as the tool has it, and as it is sent
PARTS: list[tuple[JSON, JSON]] = [
    ({"type": "string", "pattern": r"\S"}, {"type": "string", "description": f"M{NOT_BLANK[1:]}"}),
    (
        {"type": "string", "pattern": r"^\S+$", "description": "A name."},
        {"type": "string", "description": r"A name. (matches the regular expression ^\S+$)"},
    ),
    ({"type": "string", "pattern": r"^\d{4}$"}, {"type": "string", "pattern": "^[0-9]{4}$"}),
    (
        {"type": "string", "pattern": "(?=a)a"},
        {"type": "string", "description": "Matches the regular expression (?=a)a"},
    ),
    (
        {"type": "string", "minLength": 1, "maxLength": 2000},
        {"type": "string", "minLength": 1, "description": "At most 2000 characters"},
    ),
    (
        {"type": "array", "maxItems": 10_000, "items": {"type": "string", "pattern": r"\S"}},
        {
            "type": "array",
            "items": {"type": "string", "description": f"M{NOT_BLANK[1:]}"},
            "description": "At most 10000 items",
        },
    ),
    (
        {"anyOf": [{"type": "string", "pattern": r"\S"}, {"type": "null"}]},
        {"anyOf": [{"type": "string", "description": f"M{NOT_BLANK[1:]}"}, {"type": "null"}]},
    ),
]
KEPT: list[JSON] = [
    {"type": "string", "pattern": "^[a-z]+$", "maxLength": 200},
    {"type": "object", "properties": {"pattern": {"type": "string"}, "maxLength": {"type": "integer"}}},
    {"default": {"pattern": r"\S"}, "enum": [{"pattern": r"\S"}]},
]


def tool(part: JSON) -> ToolSpec:
    return ToolSpec("f", "", {"type": "object", "properties": {"x": part}, "required": []})


@every("given, sent", PARTS)
def test_what_no_grammar_can_express_is_described(given: JSON, sent: JSON) -> None:
    assert for_grammar(tool(given)) == tool(sent)


@every("part", KEPT)
def test_what_a_grammar_can_express_stays(part: JSON) -> None:
    given = tool(part)
    assert for_grammar(given) == given


@pytest.mark.parametrize(
    ("kind", "keeps"), [("llamacpp", False), ("lmstudio", False), ("vllm", True), ("openai", True)]
)
def test_only_servers_with_such_grammars_get_them(kind: str, keeps: bool) -> None:
    codec = PROVIDERS[kind].codec(1000)
    request = Request("m", (), tools=(tool(PARTS[0][0]),), permit=Permit.TURN)
    [sent] = json.loads(codec.written_tools(request))
    assert ("pattern" in sent["function"]["parameters"]["properties"]["x"]) is keeps
