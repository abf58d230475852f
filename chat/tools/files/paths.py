"""Parses the paths that models and people write."""

from __future__ import annotations

import unicodedata

from toolsupport.core.errors import ToolError

NAME_BYTES = 255
DEPTH = 16
SHOWN_CHARACTERS = 120

# Unfinished files have this prefix; requests for such a name are refused, and no listing shows it.
TEMPORARY = ".toolsupport-part-"

# These reverse text on the screen, so that a name would look like another one.
TURNING = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
UNSPEAKABLE = frozenset({"Cc", "Cs", "Zl", "Zp"})


def parts(path: str) -> tuple[str, ...]:
    """Return the names from the top of the workspace down; () is the workspace itself.

    Every path starts at the workspace: `a`, `./a`, `/a` and `a/` are the same. Nothing is decoded, expanded or
    normalised. Raises ToolError for "..", for a bad name and for more than DEPTH names.
    """
    names = tuple(name for name in path.split("/") if name not in ("", "."))
    if ".." in names:
        raise ToolError("'..' cannot be used: every path starts at the top of the workspace.")
    if len(names) > DEPTH:
        raise ToolError(f"The path is nested too deeply: {DEPTH} names at most.")
    for name in names:
        _check(name)
    return names


def file_parts(path: str) -> tuple[tuple[str, ...], str]:
    """Return the directory's names and the file name. Raises ToolError as `parts` does, and without a name."""
    names = parts(path)
    if not names:
        raise ToolError("This is the workspace itself: name something inside it.")
    return names[:-1], names[-1]


def is_valid_name(name: str) -> bool:
    """Return True for a name that may be requested; programs may create files with any name."""
    try:
        _check(name)
    except ToolError:
        return False
    return True


def shown(text: str) -> str:
    """Return `text` on one short line, with unprintable characters escaped."""
    short = text if len(text) <= SHOWN_CHARACTERS else text[:SHOWN_CHARACTERS] + "…"
    return "".join(_escaped(character) for character in short)


def _check(name: str) -> None:
    if any(_odd(character) for character in name):
        raise ToolError("Names cannot hold control characters.")
    if len(name.encode()) > NAME_BYTES:
        raise ToolError(f"A name is too long: {NAME_BYTES} bytes at most.")
    if name.startswith(TEMPORARY):
        raise ToolError(f"Names that begin with {TEMPORARY!r} are reserved.")


def _odd(character: str) -> bool:
    return character in TURNING or unicodedata.category(character) in UNSPEAKABLE


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii") if _odd(character) else character
