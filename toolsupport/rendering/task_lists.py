"""Turns items of lists that begin with [ ] or [x] into tasks, each with a disabled checkbox."""

from __future__ import annotations

import re

from markdown_it.rules_core import StateCore
from markdown_it.token import Token

BOX = re.compile(r"\[([ xX])\][ \t]+(?=\S)")


def mark(state: StateCore) -> None:
    """Put a checkbox before the text of each task, which is its label."""
    for item, paragraph, text in zip(state.tokens, state.tokens[1:], state.tokens[2:], strict=False):
        if item.type == "list_item_open" and paragraph.type == "paragraph_open" and text.children:
            first = text.children[0]
            box = BOX.match(text.content)
            if box is None or first.type != "text" or not first.content.startswith(box.group()):
                continue
            first.content = first.content[box.end() :]
            item.attrSet("class", "todo")
            text.children = [_html(_checkbox(box.group(1) != " ")), *text.children, _html("</label>")]


def _checkbox(done: bool) -> str:
    return f'<label><input type="checkbox" disabled{" checked" if done else ""}> '


def _html(content: str) -> Token:
    return Token("html_inline", "", 0, content=content)
