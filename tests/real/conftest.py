"""A model server of another project (mlx-lm) on this machine, with a tiny model that does what a test needs."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.real.servers import Bench, Recited, Served
from tests.serving import ROOT

HELLO = "Hello from a tiny scripted model."
ARGUMENTS = {"path": "."}
CALL = f"<tool_call>\n{json.dumps({'name': 'list_directory', 'arguments': ARGUMENTS})}\n</tool_call>"
FINAL = "There is a file called config.json in this folder."
IN_TEXT = f"[TOOL_CALLS]{json.dumps([{'name': 'list_directory', 'arguments': ARGUMENTS}])}"
BROKEN = '<tool_call>\n{"name": "list_directory", "arguments": {"path": .\n</tool_call>'

ENVIRONMENT = ROOT / ".venv-mlx"


@pytest.fixture(scope="session")
def mlx_python() -> Path:
    """The Python of the server's own environment, made if it is missing."""
    made = subprocess.run(
        ["make", "--silent", f"{ENVIRONMENT.name}/.installed"], cwd=ROOT, capture_output=True, text=True
    )
    if made.returncode:
        why = f"mlx-lm cannot be installed here: {(made.stderr or made.stdout).strip()[-500:]}"
        if os.environ.get("CI") == "true":
            pytest.fail(why)
        pytest.skip(why)
    return ENVIRONMENT / "bin" / "python"


@contextmanager
def served(python: Path, directory: Path, *scripts: str) -> Iterator[Served]:
    """mlx-lm with a model that says these scripts: without tools, with tools, after a result."""
    with ExitStack() as stack:
        yield Bench(python, python).mlx(stack, directory, {"model": Recited(*scripts)})["model"]


@pytest.fixture(scope="session")
def real(mlx_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A model that greets, calls list_directory where tools are offered, and answers from the result."""
    with served(mlx_python, tmp_path_factory.mktemp("mlx"), HELLO, CALL, FINAL) as running:
        yield running


@pytest.fixture(scope="session")
def broken(mlx_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A model whose call is no JSON."""
    with served(mlx_python, tmp_path_factory.mktemp("mlx"), HELLO, BROKEN, FINAL) as running:
        yield running


@pytest.fixture(scope="session")
def plain(mlx_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A model that is told of no tools, and writes a call as text."""
    with served(mlx_python, tmp_path_factory.mktemp("mlx"), IN_TEXT, CALL, FINAL) as running:
        yield running
