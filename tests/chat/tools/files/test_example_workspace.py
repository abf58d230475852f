"""The example a new conversation begins with."""

from __future__ import annotations

import csv
import json

from chat.tools.files.example_workspace import FILES, fill
from chat.tools.files.workspace import Workspace


def test_the_example_is_all_there_and_small(workspace: Workspace) -> None:
    fill(workspace)
    paths = [entry.path for entry in workspace.entries(recursive=True).entries]
    assert paths == ["src", "src/app.py", "config.json", "data.csv", "notes.md", "README.md"]
    assert workspace.usage().size < 4096


def test_each_file_is_what_its_name_says() -> None:
    assert json.loads(FILES["config.json"])["version"] == "2.4.1"
    rows = list(csv.DictReader(FILES["data.csv"].splitlines()))
    assert len(rows) == 9 and all(None not in row and None not in row.values() for row in rows)
    compile(FILES["src/app.py"], "app.py", "exec")


def test_filling_again_does_no_harm(workspace: Workspace) -> None:
    fill(workspace)
    fill(workspace)
    assert workspace.usage().entries == len(FILES) + 1
