"""The simulator shares nothing with what it tests (M8)."""

from __future__ import annotations

import ast
import sys

from tests import house

# The protocol of HTTP. Model servers are asked with aiohttp, which has a reader of its own.
SHARED = {"h11"}


def foreign(text: str) -> list[str]:
    """What a file imports from outside the simulator and the standard library."""
    names = [name for _, name in house.imports(ast.parse(text))]
    ours = [name for name in names if name.startswith("toolsupport.simulator.")]
    allowed = sys.stdlib_module_names | SHARED
    return [name for name in names if name not in ours and name.split(".")[0] not in allowed]


def test_imports_nothing_of_ours_nor_of_others() -> None:
    sources = list(house.sources("toolsupport/simulator"))
    assert len(sources) > 20
    assert {source.path: foreign(source.text) for source in sources if foreign(source.text)} == {}


def test_a_planted_import_is_caught() -> None:
    planted = "import json\nfrom toolsupport.core import types\nfrom . import nouns\nimport httpx"
    assert foreign(planted) == ["toolsupport.core.types", "..nouns", "httpx"]
