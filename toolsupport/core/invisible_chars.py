"""Finds characters that are invisible or reverse the text, so that people see exactly what they approve."""

from __future__ import annotations

import re

SIGNS = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\u3164\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e01ef"
)
UNSEEN = re.compile(f"[{SIGNS}]")


def written_out(text: str) -> str:
    """Replace each of them by its number, for a person who decides about the text."""
    return UNSEEN.sub(lambda sign: _number(ord(sign[0])), text)


def _number(sign: int) -> str:
    """Return Python's escape; its digits cannot be confused with those that follow."""
    return f"\\u{sign:04x}" if sign <= 0xFFFF else f"\\U{sign:08x}"
