"""Finds the marks of emphasis in texts without spaces between words.

Whether a mark opens or closes depends on the spaces and punctuation beside it. Chinese, Japanese and Korean texts have
no space there: in `**서울(Seoul)**은` the second mark would close nothing, and both would be shown.
"""

from __future__ import annotations

from unicodedata import category, east_asian_width

from markdown_it import MarkdownIt
from markdown_it.parser_inline import ParserInline
from markdown_it.rules_inline import StateInline
from markdown_it.rules_inline.state_inline import Scanned
from markdown_it.token import Token


class _State(StateInline):
    """Finds the marks within a block."""

    def scanDelims(self, start: int, canSplitWord: bool) -> Scanned:
        found = super().scanDelims(start, canSplitWord)
        end = start + found.length
        # A single asterisk and one before a digit may multiply: 总价=单价(元)*数量(个)*折扣.
        if not canSplitWord or found.length < 2 or not 0 < start < end < self.posMax:
            return found
        before, after = self.src[start - 1], self.src[end]
        beside = (_is_wide(before) or _is_wide(after)) and not (after.isascii() and after.isdigit())
        opens = found.can_open or (beside and _is_punctuation(after))
        closes = found.can_close or (beside and _is_punctuation(before))
        return Scanned(opens, closes, found.length)


class _Parser(ParserInline):
    """Parses blocks with this state; rules that were added to `other` stay."""

    def __init__(self, other: ParserInline) -> None:
        super().__init__()
        self.ruler, self.ruler2 = other.ruler, other.ruler2

    def parse(self, src: str, md: MarkdownIt, env: object, tokens: list[Token]) -> list[Token]:
        state = _State(src, md, env, tokens)  # type: ignore[arg-type]
        self.tokenize(state)
        for rule in self.ruler2.getRules(""):
            rule(state)
        return state.tokens


def install(markdown: MarkdownIt) -> None:
    """Let a parser find these marks."""
    markdown.inline = _Parser(markdown.inline)


def _is_wide(character: str) -> bool:
    return east_asian_width(character) in "WFH"


def _is_punctuation(character: str) -> bool:
    return category(character)[0] in "PS"
