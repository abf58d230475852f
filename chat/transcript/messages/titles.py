"""Derives the automatic title of a conversation."""

from __future__ import annotations

import re

TITLE_LENGTH = 60
# A title is found at the beginning, and a message may have 64 KiB.
LOOKED_AT = 8_000
CODE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
LINK = re.compile(r"!?\[([^\]\n]{1,300})\]\([^)\s]{0,2000}\)")
AT_START = re.compile(r"^[ \t]*(?:#{1,6}[ \t]+|>[ \t]?|[-*+][ \t]+|\d{1,4}[.)][ \t]+)+")
# Inside a word or between spaces these are not Markdown: 17*23, 2 * 3, snake_case.
EMPHASIS = re.compile(r"`+|~~+|(?<!\w)[*_]+(?=\S)|(?<=\S)[*_]+(?!\w)")


def title_of(text: str) -> str:
    """Return a title from the beginning of the first message: without Markdown marks, cut at a word."""
    text = text[:LOOKED_AT]
    bare = CODE.sub("\n", text)
    lines = (_bare(line) for line in (bare if bare.strip() else text).splitlines())
    line = " ".join(" ".join(lines).split()) or " ".join(text.split())
    if len(line) <= TITLE_LENGTH:
        return line
    return line[:TITLE_LENGTH].rsplit(" ", 1)[0].rstrip(",.;:") + "…"


def _bare(line: str) -> str:
    return EMPHASIS.sub("", AT_START.sub("", LINK.sub(r"\1", line)))
