"""Parses one simple shell command: its words, its output file, its input text.

Whatever means more than that is not read at all: pipes, variables, patterns, several commands. A word is only taken
for what every shell takes it for, so that what is read here may be done without a shell.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

# Before 3.11.5, Python counts what the last alternative of a repeated group reads before it fails into the match;
# `(?!)` fails without reading.
SINGLE = r"'[^']*+'"
DOUBLE = r'"(?:[^"\\$`]|\\[^\n]|(?!))*+"'
ESCAPED = r"\\[^\n]"
# Characters without a meaning of their own anywhere in a word.
PLAIN = r"[\w./,:@%+=^\-]|[^\x00-\x7f]"
WORD = rf"(?:{PLAIN}|{SINGLE}|{DOUBLE}|{ESCAPED}|(?!))++"
# Windows syntax: a backslash between names.
WINDOWS_WORD = rf"(?:[\w./\\,:@+=\-]|[^\x00-\x7f]|{SINGLE}|\"[^\"$`%]*+\"|(?!))++"

STEP = r"[ \t]*+(>>|>|<<(?!-))?[ \t]*+({})"
POSIX, WINDOWS = (re.compile(STEP.format(word), re.DOTALL) for word in (WORD, WINDOWS_WORD))
PART = re.compile(rf"({SINGLE})|({DOUBLE})|({ESCAPED})|(?:{PLAIN})++", re.DOTALL)
# Characters that a backslash escapes between double quotes; before any other it stays.
IN_DOUBLE = re.compile(r'\\([$`"\\])')


@dataclass(frozen=True, slots=True)
class ShellCommand:
    """A parsed command. `output` is the file it writes to, "" for none; `append`: at the end of that file.

    `document` is its standard input (`<<EOF`), None if there is none.
    """

    words: tuple[str, ...] = ()
    output: str = ""
    append: bool = False
    document: str | None = None


def read(command: str) -> ShellCommand | None:
    """Return the parsed command; None unless it is one simple command."""
    found, words, delimiter, end = ShellCommand(), [], "", 0
    while step := POSIX.match(command, end):
        operator, word = step.groups()
        if command[step.end() : step.end() + 1] in ("<", ">") and word.isdecimal():
            return None  # the number of a stream, not a word
        if operator == "<<" and not delimiter:
            delimiter = word
        elif operator in (">", ">>") and not found.output:
            found = replace(found, output=plain(word), append=operator == ">>")
        elif operator is None:
            words.append(plain(word))
        else:
            return None
        end = step.end()
    return _whole(replace(found, words=tuple(words)), delimiter, command[end:])


def read_windows(command: str) -> tuple[str, ...]:
    """Return the words of a command in Windows syntax; () if it is more than words."""
    words, end = [], 0
    while step := WINDOWS.match(command, end):
        if step[1]:
            return ()
        words.append(step[2].replace('"', "").replace("'", ""))
        end = step.end()
    return () if command[end:].strip() else tuple(words)


def plain(word: str) -> str:
    """Return a word without its quotes."""
    return "".join(_unquoted(part) for part in PART.finditer(word))


def _unquoted(part: re.Match[str]) -> str:
    single, double, escaped = part.groups()
    if single:
        return single[1:-1]
    if double:
        return IN_DOUBLE.sub(r"\1", double[1:-1])
    return escaped[1:] if escaped else part[0]


def _whole(found: ShellCommand, delimiter: str, rest: str) -> ShellCommand | None:
    """Return the command with its here-document; None if anything else follows, or nothing was read."""
    if not found.words:
        return None
    if not delimiter:
        return None if rest.strip(" \t\n") else found
    first, newline, below = rest.partition("\n")
    name, lines = plain(delimiter), below.split("\n")
    if first.strip(" \t") or not newline or not name or name not in lines:
        return None
    body = "".join(f"{line}\n" for line in lines[: lines.index(name)])
    after = "\n".join(lines[lines.index(name) + 1 :])
    # In a document with an unquoted delimiter the shell expands variables and removes backslashes.
    changed = name == delimiter and any(sign in body for sign in "$`\\")
    return None if changed or after.strip(" \t\n") else replace(found, document=body)
