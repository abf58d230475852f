"""The task of the table in docs/agents.md: what is asked, and the tools that do it in the current folder."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

BASE, KEY, FOLDER, TASK, *MODELS = sys.argv[1:]
calls: list[str] = []


def list_directory(path: str) -> str:
    """Lists the files of a folder."""
    calls.append("list")
    return "\n".join(sorted(os.listdir(path)))


def read_file(path: str) -> str:
    """Returns the text of a file."""
    calls.append("read")
    return Path(path).read_text()


def edit_file(path: str, old: str, new: str) -> str:
    """Replaces a text in a file by another one."""
    calls.append("edit")
    Path(path).write_text(Path(path).read_text().replace(old, new))
    return "Done."


def run_command(command: str) -> str:
    """Runs a command in the shell."""
    calls.append("run")
    ran = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    return f"exit code {ran.returncode}\n{ran.stdout}{ran.stderr}"


FUNCTIONS: dict[str, Callable[..., str]] = {
    one.__name__: one for one in (list_directory, read_file, edit_file, run_command)
}


def described(function: Callable[..., str]) -> tuple[str, str, dict]:
    """The name, the description and the schema of the parameters."""
    names = [name for name in function.__annotations__ if name != "return"]
    schema = {"type": "object", "properties": {name: {"type": "string"} for name in names}, "required": names}
    return function.__name__, function.__doc__, schema


def run(name: str, arguments: dict) -> str:
    return FUNCTIONS[name](**arguments)


def solved(solve: Callable[[str], str]) -> None:
    """Let each model do the task in a folder of its own; print its calls and its last text."""
    told = {}
    for model in MODELS:
        calls.clear()
        os.chdir(Path(FOLDER) / model)
        try:
            text = solve(model)
        except Exception as error:
            text = f"{type(error).__name__}: {error}"
        told[model] = [calls[:], text]
    print(json.dumps(told))
