"""Quotes words that a server or another program wrote, so that they are marked as foreign."""

from __future__ import annotations

from toolsupport.core import invisible_chars

LONGEST = 300


def quoted(words: str) -> str:
    """The words in quotation marks, on one line, at most 300 characters, with invisible ones written out."""
    line = " ".join(words[: 4 * LONGEST].split()).rstrip(".")
    if len(line) > LONGEST:
        line = line[: LONGEST - 1].rstrip() + "…"
    return f"“{invisible_chars.written_out(line)}”"
