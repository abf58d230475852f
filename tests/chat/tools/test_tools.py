"""The table of built-in tools is complete and contains what a model needs."""

from __future__ import annotations

import importlib
import pkgutil

import jsonschema_rs

import chat.tools
from chat.tools import BUILTINS
from chat.tools.tool import LEVELS, Tool
from tests.tables import every


def test_every_file_that_holds_a_tool_stands_in_the_table() -> None:
    names = [found.name for found in pkgutil.iter_modules(chat.tools.__path__)]
    modules = {name: importlib.import_module(f"chat.tools.{name}") for name in names}
    assert {name: module.TOOL for name, module in modules.items() if hasattr(module, "TOOL")} == BUILTINS


@every("tool", BUILTINS.values())
def test_a_model_is_told_all_it_needs(tool: Tool) -> None:
    parameters = tool.spec.parameters
    jsonschema_rs.meta.validate(parameters)
    assert parameters["type"] == "object" and parameters["additionalProperties"] is False
    assert set(parameters["required"]) <= set(parameters["properties"])
    assert len(tool.spec.description) > 40
    assert all(len(described["description"]) > 20 for described in parameters["properties"].values())


@every("tool", BUILTINS.values())
def test_a_card_and_the_policy_are_told_all_they_need(tool: Tool) -> None:
    assert tool.level in LEVELS
    assert tool.phrase and tool.target in tool.spec.parameters["properties"]
    assert 0 < tool.timeout <= 50


def test_the_target_of_a_card_is_text_or_nothing() -> None:
    tool = BUILTINS["read_file"]
    assert tool.shown_target({"path": "config.json"}) == "config.json"
    assert [tool.shown_target(arguments) for arguments in ({}, {"path": 1}, {"path": None})] == ["", "", ""]
