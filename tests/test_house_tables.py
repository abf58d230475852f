"""Every file of a kind is in the table of its kind: a forgotten one is found here."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from chat.tools import BUILTINS
from tests import house
from toolsupport.providers import PROVIDERS

Member = Callable[[str, Any], bool]


def is_tool(name: str, _: Any) -> bool:
    return name == "TOOL"


def is_codec(name: str, value: Any) -> bool:
    return isinstance(value, type) and name.endswith("Codec") and not getattr(value, "_is_protocol", False)


# folder → what in its files belongs into the table, and the table's entries
TABLES: dict[str, tuple[Member, list[Any]]] = {
    "chat/tools": (is_tool, list(BUILTINS.values())),
    "toolsupport/providers": (is_codec, [provider.codec for provider in PROVIDERS.values()]),
}


def members(folder: str, belongs: Member) -> Iterable[tuple[str, Any]]:
    """(file, object) for all that is made in the files of a folder, whoever imports it elsewhere."""
    for path in sorted((house.ROOT / folder).glob("*.py")):
        module = importlib.import_module(".".join((*Path(folder).parts, path.stem)).removesuffix(".__init__"))
        for name, value in vars(module).items():
            made_here = not isinstance(value, type) or value.__module__ == module.__name__
            if belongs(name, value) and made_here:
                yield path.name, value


@pytest.mark.parametrize("folder", TABLES)
def test_every_file_stands_in_its_table(folder: str) -> None:
    belongs, table = TABLES[folder]
    found = list(members(folder, belongs))
    assert found, f"nothing in {folder} belongs into its table: has the convention changed?"
    assert [file for file, value in found if value not in table] == []


def test_a_tool_is_called_like_its_file() -> None:
    tools = {Path(file).stem: tool.spec.name for file, tool in members("chat/tools", is_tool)}
    assert tools == {name: name for name in BUILTINS}


@pytest.mark.parametrize("table", [BUILTINS, PROVIDERS], ids=["tools", "providers"])
def test_a_row_is_found_by_its_own_name(table: dict[str, Any]) -> None:
    assert [key for key, row in table.items() if key not in (getattr(row, "kind", None), name_of(row))] == []


def name_of(row: Any) -> str:
    return str(getattr(getattr(row, "spec", None), "name", ""))
