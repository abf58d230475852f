"""Turns a URL within a text into a link."""

from __future__ import annotations

import re

from markdown_it.rules_core import StateCore
from markdown_it.token import Token

# Quotation marks, and the punctuation of texts without spaces, end an address.
_ENDS = "“”‘’„«»…、。，．：；！？（）［］｛｝〈〉《》「」『』【】〔〕"
ADDRESS = re.compile(rf"https?://([^\s<>\"'`|{_ENDS}]+)")
OPENING = {")": "(", "]": "[", "}": "{"}


def link(state: StateCore) -> None:
    """Link the addresses of each text that is not part of a link."""
    for block in state.tokens:
        if block.type == "inline" and block.children and "://" in block.content:
            block.children = _linked(block.children)


def text(content: str) -> Token:
    """Return a token that is shown as it is."""
    return Token("text", "", 0, content=content)


def _linked(tokens: list[Token]) -> list[Token]:
    found: list[Token] = []
    depth = 0
    for token in tokens:
        depth += token.nesting if token.type in ("link_open", "link_close") else 0
        found.extend(_split(token) if token.type == "text" and not depth else [token])
    return found


def _split(token: Token) -> list[Token]:
    pieces: list[Token] = []
    end = 0
    for match in ADDRESS.finditer(token.content):
        length = _length(match[1])
        if not length:
            continue
        last = match.start(1) + length
        address = token.content[match.start() : last]
        opening, closing = Token("link_open", "a", 1, attrs={"href": address}), Token("link_close", "a", -1)
        pieces += [text(token.content[end : match.start()]), opening, text(address), closing]
        end = last
    return [*pieces, text(token.content[end:])]


def _length(address: str) -> int:
    """Return the length without the punctuation of the sentence; a bracket belongs to it that was opened in it."""
    unopened = {close: address.count(close) - address.count(open_) for close, open_ in OPENING.items()}
    length = len(address)
    while length:
        last = address[length - 1]
        if last in OPENING:
            if unopened[last] <= 0:
                break
            unopened[last] -= 1
        elif last not in ".,;:!?*_":
            break
        length -= 1
    return length
