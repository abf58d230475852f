"""The import contracts of pyproject.toml hold, and each catches a planted sin."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests import house

# contract (its id in pyproject.toml) → file that would break it and what that file would import
SINS = {
    "layers": ("toolsupport/registry/knowledge/planted.py", "import chat.turns.loop"),
    "circles": ("toolsupport/core/types.py", "import toolsupport.core.resolve"),
    "registry": ("toolsupport/registry/settings/planted.py", "import toolsupport.registry.models.picker"),
    "transcript": ("chat/transcript/messages/planted.py", "import chat.transcript.turns.begin"),
    "pure-core": ("toolsupport/core/planted.py", "import django.db"),
    "turn": ("chat/tools/planted.py", "import channels.db"),
    "simulator": ("toolsupport/simulator/planted.py", "import toolsupport.core.types"),
    "rows-of-models": ("toolsupport/web/pages/planted.py", "import toolsupport.models"),
    "written-statements": ("chat/planted.py", "import toolsupport.registry.raw_sql"),
    "rows-of-conversations": ("chat/planted.py", "import chat.models"),
}
LINTER = "import sys; from importlinter.cli import lint_imports_command; lint_imports_command()"


# Packages outside the layers: Django reads them, or their modules stand in several layers.
OUTSIDE = {"toolsupport.apps", "toolsupport.config", "toolsupport.migrations", "chat.apps", "chat.migrations"}


def contracts() -> dict[str, str]:
    """Names of the contracts by their ids."""
    return {one["id"]: one["name"] for one in house.project()["tool"]["importlinter"]["contracts"]}


def verdicts(root: Path) -> dict[str, str]:
    """KEPT or BROKEN for each contract's name, as the linter says in that directory."""
    command = [sys.executable, "-c", LINTER, "--config", "pyproject.toml", "--no-cache"]
    said = subprocess.run(command, cwd=root, capture_output=True, text=True)
    found = re.findall(r"^(.+?) (KEPT|BROKEN)\b", re.sub(r"\x1b\[[0-9;]*m", "", said.stdout), re.M)
    assert found, said.stdout + said.stderr
    return dict(found)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    for package in ("toolsupport", "chat"):
        shutil.copytree(house.ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(house.ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def test_the_tree_keeps_every_contract() -> None:
    assert verdicts(house.ROOT) == dict.fromkeys(contracts().values(), "KEPT")


def test_every_package_has_its_place_in_the_layers() -> None:
    layers = next(one for one in house.project()["tool"]["importlinter"]["contracts"] if one["id"] == "layers")
    placed = {name.strip("( )") for layer in layers["layers"] for name in layer.split("|")}
    entries = [path for package in ("toolsupport", "chat") for path in (house.ROOT / package).iterdir()]
    rooms = {path for path in entries if path.suffix == ".py" or (path / "__init__.py").exists()}
    names = {f"{path.parent.name}.{path.stem}" for path in rooms if path.stem != "__init__"}
    assert names - placed - OUTSIDE == set()


def test_every_contract_has_a_sin_to_catch() -> None:
    assert set(SINS) == set(contracts())


def test_each_planted_sin_breaks_its_contract(copy: Path) -> None:
    for path, statement in SINS.values():
        place = copy / path
        place.write_text(f"{place.read_text() if place.exists() else ''}\n{statement}\n")
    assert verdicts(copy) == dict.fromkeys(contracts().values(), "BROKEN")
