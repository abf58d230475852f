"""Finds formulas in Markdown: $…$, $$…$$, \\(…\\) and \\[…\\], but no amounts of money."""

from __future__ import annotations

import re

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline

from toolsupport.rendering.mathml import LONGEST_FORMULA

ENDS = {"$$": "$$", "\\[": "\\]", "\\(": "\\)", "$": "$"}
AMOUNT = re.compile(r"\d[\d.,]*(?:\s|$)")
WORD = re.compile(r"(?:^|\s)[^\W\d_]{2,}(?:[\s.,;:!?]|$)")
MOST_LINES = 100


def install(markdown: MarkdownIt) -> None:
    """Add the rules for formulas, before those that see signs of Markdown in them."""
    markdown.inline.ruler.before("escape", "formula", inline)
    markdown.block.ruler.before("fence", "formulas", block, {"alt": ["paragraph", "reference", "blockquote", "list"]})


def inline(state: StateInline, silent: bool) -> bool:
    """Take a formula within a line."""
    begin = next((mark for mark in ENDS if state.src.startswith(mark, state.pos)), None)
    if begin is None:
        return False
    start = state.pos + len(begin)
    end = state.src.find(ENDS[begin], start, start + LONGEST_FORMULA)
    content = state.src[start:end] if end > start else ""
    if not content.strip() or (begin == "$" and not _is_formula(state, end, content)):
        return False
    if not silent:
        token = state.push("formula", "math", 0)
        token.content, token.markup, token.meta = content, begin, {"block": begin in ("$$", "\\[")}
    state.pos = end + len(ENDS[begin])
    return True


def _is_formula(state: StateInline, end: int, content: str) -> bool:
    """Return whether what stands between two dollar signs is a formula: “$5 and $10” has none."""
    before, after = state.src[state.pos - 1 : state.pos], state.src[end + 1 : end + 2]
    if before.isalnum() or before == "$" or after.isalnum() or after == "$" or content[-1] == "\\":
        return False
    if content[0].isspace() or content[-1].isspace():
        return False
    return "\\" in content or not (AMOUNT.match(content) and WORD.search(content))


def block(state: StateBlock, first: int, last: int, silent: bool) -> bool:
    """Take a formula with lines of its own, which may look like lists or headings."""
    if state.is_code_block(first):
        return False
    lines: list[str] = []
    for number in range(first, min(last, first + MOST_LINES)):
        line = state.src[state.bMarks[number] + state.tShift[number] : state.eMarks[number]].strip()
        if not line or (number > first and state.sCount[number] < state.blkIndent):
            return False
        begin = (lines or [line])[0][:2]
        if begin not in ("$$", "\\["):
            return False
        lines.append(line)
        if (number > first or len(line) > 3) and line.endswith(ENDS[begin]):
            return _taken(state, first, "\n".join(lines), silent)
    return False


def _taken(state: StateBlock, first: int, text: str, silent: bool) -> bool:
    content = text[2:-2]
    if not content.strip() or ENDS[text[:2]] in content:
        return False
    if not silent:
        state.line = first + text.count("\n") + 1
        token = state.push("formula_block", "math", 0)
        token.content, token.markup, token.meta, token.map = content, text[:2], {"block": True}, [first, state.line]
    return True
