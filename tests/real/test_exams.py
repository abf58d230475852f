"""`validate_model` grades a model behind a real server: its exit code, its JSON and its JUnit file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from django.core.management import call_command

from tests.factories import ModelProfileFactory, ServerFactory
from tests.real.conftest import ARGUMENTS, FINAL
from tests.real.servers import Served

pytestmark = [pytest.mark.real_server, pytest.mark.django_db(transaction=True)]

PATH = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
LISTS = {"name": "list_directory", "description": "Lists a directory.", "parameters": PATH}
CASE = {
    "messages": [{"role": "user", "content": "What's in this folder?"}],
    "tools": [{"type": "function", "function": LISTS}],
    "recorded": [{"name": "list_directory", "arguments": None, "result": "config.json"}],
    "order": "any",
}


def exam(path: Path, arguments: dict[str, str]) -> Path:
    """Write an exam of four equal cases, which expect this call and an answer from its result."""
    expected = [{"name": "list_directory", "arguments": arguments}]
    cases = [{"id": f"case_{n}", **CASE, "expected": expected, "answer": {"contains": [[FINAL]]}} for n in range(4)]
    path.write_text(json.dumps({"name": "folders", "cases": cases}))
    return path


def exit_code(named: dict[str, Any]) -> int:
    """Run the command; return its exit code."""
    try:
        call_command("validate_model", **named)
    except SystemExit as ended:
        return int(str(ended.code))
    return 0


# E1, E4: the model makes its one call, and `config.json` comes from the recorded result
@pytest.mark.parametrize(
    ("arguments", "code", "right"), [(ARGUMENTS, 0, 4), ({"path": "/tmp"}, 1, 0)], ids=["passed", "failed"]
)
def test_a_real_model_is_graded(real: Served, tmp_path: Path, arguments: dict[str, str], code: int, right: int) -> None:
    server = ServerFactory(name="mlx", kind="openai", base_url=f"{real.url}/v1")
    ModelProfileFactory(server=server, name=real.model)
    suite, found, junit = exam(tmp_path / "suite.json", arguments), tmp_path / "found.json", tmp_path / "found.xml"
    named = {"model": real.model, "suite": str(suite), "format": ["native"], "json": str(found), "junit": str(junit)}
    assert exit_code(named) == code
    report = json.loads(found.read_text())
    assert (report["verdict"], sum(case["right"] for case in report["cases"])) == (
        "failed" if code else "passed",
        right,
    )
    assert ElementTree.parse(junit).getroot().get("failures") == str(4 - right)
