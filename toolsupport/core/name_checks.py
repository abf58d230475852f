"""Checks names of models, servers and tools that come from outside: people must see what they choose."""

from __future__ import annotations

import re
import unicodedata

from toolsupport.core.invisible_chars import UNSEEN

# Control characters, formatting characters (those that turn text around among them), halves of characters, line ends.
INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
BLANK_BRAILLE = "\u2800"
# From a root, a home or a drive, with steps upwards, in the notation of Windows, or with a scheme.
PATH = re.compile(r"[/~]|[A-Za-z]:/|\.{1,2}(?:/|\Z)|.*(?:\\|://|/\.{1,2}(?:/|\Z))", re.DOTALL)
# Cyrillic, Greek and Armenian letters that look like a Latin one.
LOOK_ALIKES = str.maketrans(
    "аеорсухіјѕԁһӏԛԝүАВЕКМНОРСТУХІЈЅԚԜοανιρυκχΑΒΕΖΗΙΚΜΝΟΡΤΥΧոսօ",
    "aeopcyxijsdhlqwyABEKMHOPCTYXIJSQWoavipukxABEZHIKMNOPTYXnuo",
)


def problem(name: str) -> str:
    """Return why a name cannot be used, for after "the name ", or "" if it can."""
    found = next(filter(_invisible, name), "")
    if found:
        return f"holds the invisible character U+{ord(found):04X}"
    if not name.strip().strip(BLANK_BRAILLE):
        return "is blank"
    return "begins or ends with a space" if name != name.strip() else ""


def imitated(name: str) -> str:
    """Return the ASCII name that this one looks like, "" if it looks like none or is one."""
    alike = unicodedata.normalize("NFKC", name).translate(LOOK_ALIKES)
    return alike if alike.isascii() and not name.isascii() else ""


def path_problem(name: str) -> str:
    """Return why a name looks like a path, for after "the name ", or "". A slash alone is none: `org/model`."""
    return "is a path" if PATH.match(name) else ""


def _invisible(character: str) -> bool:
    return unicodedata.category(character) in INVISIBLE or UNSEEN.match(character) is not None
