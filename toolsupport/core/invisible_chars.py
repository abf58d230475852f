"""Characters that are invisible or reverse the text: people could not see what they approve."""

from __future__ import annotations

import re

SIGNS = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\u3164\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e01ef"
)
UNSEEN = re.compile(f"[{SIGNS}]")


def written_out(text: str) -> str:
    """The text with each of them as its number, for somebody who decides about it."""
    return UNSEEN.sub(lambda sign: _number(ord(sign[0])), text)


def _number(sign: int) -> str:
    """As Python writes it: no digit of it could be taken for one that follows."""
    return f"\\u{sign:04x}" if sign <= 0xFFFF else f"\\U{sign:08x}"
