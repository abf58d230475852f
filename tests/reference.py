"""Writes docs/reference from the code: `python -m tests.reference`; tests hold the pages to it."""

from __future__ import annotations

import argparse
import os
from importlib import import_module
from pathlib import Path

import django

from tests import house
from toolsupport.config import environment

REFERENCE = house.ROOT / "docs" / "reference"
# Options that Django gives to every command.
DJANGO = {
    "help",
    "version",
    "verbosity",
    "settings",
    "pythonpath",
    "traceback",
    "no_color",
    "force_color",
    "skip_checks",
}


def settings_page() -> str:
    """Every environment variable with its default and meaning."""
    head = (
        "# Settings\n\nSet in the environment. Every setting has a default that works on one machine; what is set here "
        "is shown locked in the pages.\n\n| variable | default | meaning |\n|---|---|---|\n"
    )
    rows = (f"| `{one.name}` | {_cell(one.default)} | {one.meaning} |\n" for one in environment.VARIABLES)
    return head + "".join(rows)


def commands_page() -> str:
    """Every command of the project with its arguments."""
    stands = "`manage.py` stands for `.venv/bin/python manage.py`, or for `toolsupport` of an installed package."
    parts = [f"# Commands\n\n{stands}\n"]
    parts += [_command(name) for name in command_names()]
    return "\n".join(parts)


def command_names() -> list[str]:
    folder = "toolsupport/management/commands"
    return sorted(path.stem for path in house.files("*.py", folder) if path.stem[0] != "_")


def _command(name: str) -> str:
    command = import_module(f"toolsupport.management.commands.{name}").Command()
    parser = command.create_parser("manage.py", name)
    own = [action for action in parser._actions if action.dest not in DJANGO and action.help != argparse.SUPPRESS]
    usage = " ".join([f"manage.py {name}", *(_usage(action) for action in own)])
    rows = [f"| `{_called(action)}` | {_meaning(action)} |" for action in own]
    table = ["", "| argument | meaning |", "|---|---|", *rows] if rows else []
    return "\n".join([f"## {name}", "", f"`{usage}`", "", command.help, *table, ""])


def _called(action: argparse.Action) -> str:
    return max(action.option_strings, key=len, default=str(action.metavar or action.dest.upper()))


def _usage(action: argparse.Action) -> str:
    called = _called(action)
    value = "" if action.nargs == 0 or not action.option_strings else f" {action.metavar or action.dest.upper()}"
    return f"{called}{value}" if action.required and action.nargs != "?" else f"[{called}{value}]"


def _meaning(action: argparse.Action) -> str:
    choices = f" One of {', '.join(f'`{one}`' for one in action.choices)}." if action.choices else ""
    default = "" if action.default in (None, "", False, argparse.SUPPRESS) else f" Default: `{action.default}`."
    return f"{action.help or ''}{choices}{default}".strip()


def _cell(default: str) -> str:
    return f"`{default}`" if default else "–"


PAGES = {"settings.md": settings_page, "commands.md": commands_page}


def write(folder: Path = REFERENCE) -> None:
    for name, page in PAGES.items():
        (folder / name).write_text(page())


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "toolsupport.config.settings")
    django.setup()
    write()
