"""The simple shell commands that a file tool performs exactly, as one table.

A command that is not fully understood stays a command. `first`, `last` and `append` are arguments of the tools for
files that their definitions do not have: what `head`, `tail` and `>>` add to them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from toolsupport.core.shell_parsing import ShellCommand, read, read_windows
from toolsupport.core.types import JSON

MOST_PRINTED = 4 * 1024 * 1024
ShellCall = tuple[str, JSON]


def understood(command: str) -> ShellCall | None:
    """Return (tool, arguments) with the same effect as this command; None if no file tool does exactly that."""
    found = _windows(read_windows(command)) or _posix(read(command))
    return found if found and _inside(found[1]["path"]) else None


def _posix(command: ShellCommand | None) -> ShellCall | None:
    shape = SHAPES.get(command.words[0]) if command else None
    return shape(command) if command and shape else None


def _windows(words: Sequence[str]) -> ShellCall | None:
    shape = WINDOWS_SHAPES.get(words[0].lower()) if words else None
    return shape(words[1:]) if shape else None


def _inside(path: str) -> bool:
    """Return whether a shell and a tool resolve a path alike: their root directories differ."""
    return bool(path) and not path.startswith(("/", "-")) and not path.endswith("/")


# -- reading --


def _cat(command: ShellCommand) -> ShellCall | None:
    if command.document is not None:
        return _written(command, command.document) if len(command.words) == 1 else None
    return ("read_file", {"path": command.words[1]}) if len(command.words) == 2 and not command.output else None


def _lines(end: str) -> Callable[[ShellCommand], ShellCall | None]:
    """Parse `head` and `tail`: a number of lines from one end, ten by default."""

    def shape(command: ShellCommand) -> ShellCall | None:
        if len(command.words) < 2 or command.output or command.document is not None:
            return None
        *switches, path = command.words[1:]
        match = re.fullmatch(r"(?:-n ?|-)([1-9][0-9]{0,5})", " ".join(switches) or "-10")
        return ("read_file", {"path": path, end: int(match[1])}) if match else None

    return shape


def _ls(command: ShellCommand) -> ShellCall | None:
    switches = [word[1:] for word in command.words[1:] if word.startswith("-")]
    paths = [word for word in command.words[1:] if not word.startswith("-")] or ["."]
    if command.output or command.document is not None or len(paths) > 1:
        return None
    known = all(switches) and set("".join(switches)) <= set("aA1lhFpR")
    return ("list_directory", _listing(paths[0].rstrip("/"), "R" in "".join(switches))) if known else None


def _listing(path: str, recursive: bool) -> JSON:
    return {"path": path, "recursive": True} if recursive else {"path": path}


def _type(words: Sequence[str]) -> ShellCall | None:
    return ("read_file", {"path": words[0].replace("\\", "/")}) if len(words) == 1 else None


def _dir(words: Sequence[str]) -> ShellCall | None:
    switches = {word.lower() for word in words if re.fullmatch(r"/[a-zA-Z]", word)}
    paths = [word.replace("\\", "/") for word in words if word.lower() not in switches] or ["."]
    if len(paths) > 1 or not switches <= {"/s", "/b", "/w", "/a"}:
        return None
    return "list_directory", _listing(paths[0].rstrip("/"), "/s" in switches)


# -- writing --


def _written(command: ShellCommand, content: str) -> ShellCall | None:
    arguments = {"path": command.output, "content": content}
    return ("write_file", arguments | ({"append": True} if command.append else {})) if command.output else None


ECHOED: Mapping[str, str] = MappingProxyType({r"\n": "\n", r"\t": "\t", r"\r": "\r", r"\\": "\\"})
PRINTED: Mapping[str, str] = MappingProxyType({**ECHOED, r"\"": '"', r"\'": "'", "%%": "%"})


def _echo(command: ShellCommand) -> ShellCall | None:
    words, switches = list(command.words[1:]), ""
    while words and re.fullmatch(r"-[neE]+", words[0]):
        switches += words.pop(0)[1:]
    end = "" if "n" in switches else "\n"
    # The last one of -e and -E counts.
    escapes = "e" in switches.rpartition("E")[2]
    text = _with_meanings(" ".join(words), ECHOED) if escapes else " ".join(words)
    return None if text is None or command.document is not None else _written(command, text + end)


def _with_meanings(text: str, meanings: Mapping[str, str]) -> str | None:
    """Return the text with its escapes resolved; None if one of them is unknown."""
    pieces = re.findall(r"\\.?|%%|[^\\%]+|%", text, re.DOTALL)
    if any(piece.startswith("\\") and piece not in meanings for piece in pieces):
        return None
    return "".join(meanings.get(piece, piece) for piece in pieces)


def _printf(command: ShellCommand) -> ShellCall | None:
    words = command.words[1:]
    if not words or words[0].startswith("-") or command.document is not None:
        return None
    text = _printed(words[0], words[1:])
    return None if text is None else _written(command, text)


def _printed(form: str, values: Sequence[str]) -> str | None:
    """Return printf's output; the format repeats as long as there are values; only %s and %% are supported."""
    texts = [_with_meanings(text, PRINTED) for text in _between_slots(form)]
    slots = len(texts) - 1
    rounds = max(1, -(-len(values) // slots)) if slots else 1
    if not texts or None in texts or (values and not slots) or rounds * len(form) > MOST_PRINTED:
        return None
    filled = [*values, *[""] * (rounds * slots - len(values))]
    rows = [filled[number * slots : (number + 1) * slots] for number in range(rounds)]
    return "".join(str(piece) for row in rows for pair in zip(texts, [*row, ""], strict=True) for piece in pair)


def _between_slots(form: str) -> list[str]:
    """Return the texts before, between and after each %s; [] if the format has anything else but %%."""
    pieces = re.findall(r"%.?|[^%]+", form, re.DOTALL)
    if any(piece[0] == "%" and piece not in ("%s", "%%") for piece in pieces):
        return []
    texts: list[list[str]] = [[]]
    for piece in pieces:
        if piece == "%s":
            texts.append([])
        else:
            texts[-1].append(piece)
    return ["".join(text) for text in texts]


# -- changing --

SCRIPT = re.compile(r"s([/|#,:@%!])(.*)")
# Characters with a meaning in a pattern of sed, and in its replacement.
IN_PATTERN, IN_REPLACEMENT = ".*[]^$", "&"


def _sed(command: ShellCommand) -> ShellCall | None:
    switches, last = command.words[1:-2], command.words[-2:]
    if switches not in (("-i",), ("-i", "-e")) or command.output or command.document is not None:
        return None
    parts = _parts(last[0])
    old, new = (
        (_literal(parts[1], IN_PATTERN, parts[0]), _literal(parts[2], IN_REPLACEMENT, parts[0])) if parts else ("", "")
    )
    return ("edit_file", {"path": last[1], "old": old, "new": new}) if old and new is not None else None


def _parts(script: str) -> tuple[str, str, str] | None:
    """Return (delimiter, pattern, replacement) of `s/pattern/replacement/`, with or without g.

    If the pattern occurs once, the flag makes no difference.
    """
    match = SCRIPT.fullmatch(script)
    if match is None:
        return None
    part, mark = rf"((?:[^\\{match[1]}]++|\\.)*+)", re.escape(match[1])
    found = re.fullmatch(f"{part}{mark}{part}{mark}g?", match[2])
    return (match[1], found[1], found[2]) if found else None


def _literal(text: str, special: str, delimiter: str) -> str | None:
    """Return the single text that a part of a script matches; None if it may match several."""
    known = {*special, "\\", *("/" if delimiter == "/" else "")}
    pieces = re.findall(r"\\.|[^\\]", text)
    if any(piece[1:] not in known if piece[0] == "\\" else piece in special for piece in pieces):
        return None
    return "".join(piece[-1] for piece in pieces)


SHAPES: Mapping[str, Callable[[ShellCommand], ShellCall | None]] = MappingProxyType(
    {
        "cat": _cat,
        "head": _lines("first"),
        "tail": _lines("last"),
        "ls": _ls,
        "echo": _echo,
        "printf": _printf,
        "sed": _sed,
    }
)
WINDOWS_SHAPES: Mapping[str, Callable[[Sequence[str]], ShellCall | None]] = MappingProxyType(
    {"type": _type, "dir": _dir}
)
