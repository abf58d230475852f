"""Runs the commands `toolsupport …` and `python -m toolsupport …`."""

from __future__ import annotations

import ast
import os
import sys
import textwrap

from toolsupport import __version__
from toolsupport.config.application_paths import COMMAND, PACKAGE

WIDTH = 100
FIRST = ("serve", "doctor")  # the others follow in the order of the alphabet
OVERVIEW: tuple[list[str], ...] = ([], ["help"], ["--help"], ["-h"])
VERSION = (["version"], ["--version"])


def main() -> None:
    """Run one command. An overview and the version need no settings, so they leave nothing on the disk."""
    words = sys.argv[1:]
    if words in OVERVIEW:
        print(overview())
    elif words in VERSION:
        print(f"toolsupport {__version__}")
    else:
        run(words)


def run(words: list[str]) -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "toolsupport.config.settings")
    from django.core.management import execute_from_command_line

    from toolsupport.core.errors import ConfigError

    try:
        execute_from_command_line([COMMAND, *words])
    except ConfigError as error:  # a setting cannot be used: the reason is enough, a traceback would bury it
        sys.exit(f"Error: {error}")
    except Exception as error:
        if reason := storage_fault(error):
            sys.exit(f"Error: {reason}.")
        raise


def storage_fault(error: Exception) -> str:
    """Return the reason if the disk or the database failed, else ""."""
    from django.apps import apps

    if not apps.ready:
        return ""
    from toolsupport.registry import storage

    return storage.fault(error)


def overview() -> str:
    """Return the list of commands with their purposes."""
    purposes = command_purposes()
    names = [*FIRST, *sorted(set(purposes) - set(FIRST))]
    column = max(map(len, names)) + 4
    lines = [f"toolsupport {__version__}", "", f"Usage: {COMMAND} COMMAND [OPTIONS]", ""]
    for name in names:
        lines += textwrap.wrap(
            purposes[name],
            WIDTH,
            initial_indent=f"  {name}".ljust(column),
            subsequent_indent=" " * column,
            break_on_hyphens=False,
        )
    lines += ["", f"Options of a command: {COMMAND} COMMAND --help"]
    return "\n".join([*lines, f"Names of all commands, with those of Django: {COMMAND} help --commands"])


def command_purposes() -> dict[str, str]:
    """Return the help of each command; it is read from the files, because importing them needs the settings."""
    files = (PACKAGE / "management" / "commands").glob("[!_]*.py")
    return {file.stem: _purpose(ast.parse(file.read_text(encoding="utf-8"))) for file in files}


def _purpose(module: ast.Module) -> str:
    for node in ast.walk(module):
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "help":
            return str(ast.literal_eval(node.value))
    return ""


if __name__ == "__main__":
    main()
