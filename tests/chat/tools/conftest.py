"""A workspace of its own for every test of the tools."""

from __future__ import annotations

from pathlib import Path

import pytest

from chat.tools.files.workspace import Workspace
from chat.tools.tool import ToolContext


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path / "workspaces" / "one")


@pytest.fixture
def context(workspace: Workspace) -> ToolContext:
    return ToolContext(workspace)
