"""The calls of tools that store facts."""

from __future__ import annotations

import json

import pytest

from toolsupport.simulator.rules import remember_requests, tool_matching
from toolsupport.simulator.rules.answers import with_result
from toolsupport.simulator.rules.arguments import fill
from toolsupport.simulator.rules.intents import understand
from toolsupport.simulator.types import JSON, OfferedTool

WORDS = "Remember that my favourite colour is green"


def listing(name: str, /, **fields: JSON) -> JSON:
    things = {"type": "array", "items": {"type": "object", "properties": fields, "required": [*fields]}}
    return {"type": "object", "properties": {name: things}, "required": [name]}


TEXT, TEXTS = {"type": "string"}, {"type": "array", "items": {"type": "string"}}
ADDS = OfferedTool("add_observations", "", listing("observations", entityName=TEXT, contents=TEXTS))
MAKES = OfferedTool("create_entities", "", listing("entities", name=TEXT, entityType=TEXT, observations=TEXTS))
NOTES = OfferedTool("note", "Remembers a text", {"type": "object", "properties": {"text": TEXT}, "required": ["text"]})


@pytest.mark.parametrize(
    ("tools", "arguments"),
    [
        ([NOTES], {"text": "my favourite colour is green"}),
        (
            [NOTES, ADDS],
            {"observations": [{"entityName": "favourite colour", "contents": ["my favourite colour is green"]}]},
        ),
        (
            [NOTES, ADDS, MAKES],
            {
                "entities": [
                    {
                        "name": "favourite colour",
                        "entityType": "fact",
                        "observations": ["my favourite colour is green"],
                    }
                ]
            },
        ),
    ],
)
def test_it_is_written_down_as_the_best_tool_wants_it(tools: list[OfferedTool], arguments: JSON) -> None:
    found = tool_matching.find(understand(WORDS)[0], tools)
    assert found and found[0] is tools[-1] and fill(*found) == arguments


def test_the_answer_names_where_it_was_kept() -> None:
    found = tool_matching.find(understand(WORDS)[0], [MAKES])
    assert found and with_result(found[1], '[{"name": "favourite colour"}]') == (
        "Noted: I wrote down what you said about the *favourite colour*, with `create_entities`."
    )
    assert "added nothing" in with_result(found[1], "[]")


def test_what_is_about_nothing_in_particular_is_about_itself() -> None:
    said = remember_requests.values("tea, not coffee.")
    assert (said["subject"], json.loads(said["facts"])) == ("tea, not coffee", ["tea, not coffee."])
