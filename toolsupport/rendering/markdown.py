"""Renders a block of a model's Markdown as safe HTML."""

from __future__ import annotations

import re
from collections.abc import Iterator, MutableMapping, Sequence
from html import escape
from itertools import pairwise
from typing import Any

import nh3
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from pygments.token import STANDARD_TYPES

from toolsupport.rendering import bare_links, emphasis, formulas, mathml, task_lists

BREAK_TAG = re.compile(r"<br[ \t]*/?>", re.I)
Env = MutableMapping[str, Any]

_TAGS = (
    "a blockquote br button code del div em figcaption figure h3 h4 h5 h6 hr input label li ol p pre s span strong "
    "table tbody td th thead tr ul"
)
# Each of these has the direction of its first letter.
DIRECTED = ("p", "h3", "h4", "h5", "h6", "ul", "ol", "blockquote")
CLEANER = nh3.Cleaner(
    tags={*_TAGS.split(), *mathml.ELEMENTS},
    clean_content_tags={"script", "style"},
    attributes={
        "a": {"href", "title"},
        "ol": {"start"},
        "button": {"data-copy", "data-wrap"},
        "input": {"checked", "disabled"},
    },
    allowed_classes={
        "span": {*STANDARD_TYPES.values(), "uncolored"} - {""},
        "div": {"scroll", "toolong"},
        "figure": {"code"},
        "td": {"center", "right"},
        "th": {"center", "right"},
        "li": {"todo"},
        **mathml.CLASSES,
    },
    tag_attribute_values={
        **{tag: {"dir": {"auto"}} for tag in DIRECTED},
        **{tag: {name: set(values) for name, values in known.items()} for tag, known in mathml.ATTRIBUTES.items()},
        "button": {"type": {"button"}, "aria-pressed": {"false"}},
        "input": {"type": {"checkbox"}},
        "pre": {"tabindex": {"0"}, "dir": {"ltr"}},
        "div": {"tabindex": {"0"}, "role": {"group"}, "aria-label": {"Table"}, "dir": {"auto"}},
    },
    set_tag_attribute_values={"a": {"target": "_blank"}, "input": {"disabled": ""}},
    link_rel="noopener noreferrer nofollow",
    url_schemes={"http", "https", "mailto"},
    url_relative="deny",
)
FIRST_HEADING, LAST_HEADING = 3, 6
UNCOLORED = "Shown without colors: too long to color"


def render(block: str, env: Env) -> str:
    """Return the HTML of a block, sanitised.

    `env` has what the blocks of a message share: "colors" (CodeColors), "outline" (an Outline) and "references".
    """
    return CLEANER.clean(MARKDOWN.render(block, env))


def define(block: str, references: MutableMapping[str, Any]) -> None:
    """Add the definitions of links in a block to `references`."""
    if "]:" in block:
        DEFINITIONS.parse(block, {"references": references})


class Outline:
    """The headings so far: `highest` in the text, `before` in the HTML."""

    def __init__(self, highest: int = 0, before: int = FIRST_HEADING - 1) -> None:
        self.highest, self.before = highest, before

    def level(self, written: int) -> int:
        """Return the level for the next heading: below the message's own, without skipping one."""
        self.highest = min(self.highest or written, written)
        self.before = min(FIRST_HEADING + written - self.highest, self.before + 1, LAST_HEADING)
        return self.before


class MarkdownRenderer(RendererHTML):
    """Our differences from Markdown's usual HTML."""

    def fence(self, tokens: Sequence[Token], idx: int, options: Any, env: Env) -> str:
        words = tokens[idx].info.split()
        return _code(tokens[idx].content, words[0] if words else "", env)

    def code_block(self, tokens: Sequence[Token], idx: int, options: Any, env: Env) -> str:
        return _code(tokens[idx].content, "", env)

    def formula(self, tokens: Sequence[Token], idx: int, options: Any, env: Env) -> str:
        token = tokens[idx]
        try:
            return mathml.convert(token.content, token.meta["block"])
        except mathml.NotConverted:
            return f"<code>{escape(token.markup + token.content + formulas.ENDS[token.markup])}</code>"

    def formula_block(self, tokens: Sequence[Token], idx: int, options: Any, env: Env) -> str:
        return f"<p>{self.formula(tokens, idx, options, env)}</p>\n"

    def image(self, tokens: Sequence[Token], idx: int, options: Any, env: Env) -> str:
        # Loading it would reveal the reader to a foreign server.
        label = escape(tokens[idx].content or "Image")
        return f'<a href="{escape(str(tokens[idx].attrGet("src") or ""))}">{label}</a>'

    def table_open(self, tokens: Sequence[Token], idx: int, options: Any, env: Env) -> str:
        return '<div class="scroll" tabindex="0" role="group" aria-label="Table" dir="auto"><table>'

    def table_close(self, tokens: Sequence[Token], idx: int, options: Any, env: Env) -> str:
        return "</table></div>"

    def th_open(self, tokens: Sequence[Token], idx: int, options: Any, env: Env) -> str:
        return f"<{tokens[idx].tag}{_alignment(tokens[idx])}>"

    td_open = th_open


def _alignment(cell: Token) -> str:
    side = str(cell.attrGet("style") or "").partition(":")[2]
    return f' class="{side}"' if side in ("center", "right") else ""


def _code(source: str, language: str, env: Env) -> str:
    colored = env["colors"].color(source, language.lower())
    note = f'<span class="uncolored">{UNCOLORED}</span>' if colored is None else ""
    return (
        f'<figure class="code"><figcaption><span>{escape(language[:30] or "text")}</span>{note}'
        '<button type="button" data-wrap aria-pressed="false">Wrap</button>'
        '<button type="button" data-copy>Copy</button></figcaption>'
        f'<pre tabindex="0" dir="ltr"><code>{escape(source) if colored is None else colored}</code></pre></figure>'
    )


def outline(state: StateCore) -> None:
    """Move headings below the message's own, without skipped levels, which screen readers need."""
    for token in state.tokens:
        if token.type == "heading_open":
            state.env["outline"].level(int(token.tag[1]))
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{state.env['outline'].before}"


def direct(state: StateCore) -> None:
    """Give each block the direction of its own text."""
    for token in state.tokens:
        if token.level == 0 and token.nesting == 1 and token.tag in DIRECTED:
            token.attrSet("dir", "auto")


def break_cells(state: StateCore) -> None:
    """Break the line at <br> in a cell: Markdown has no other way to write several lines in one."""
    for opening, cell in pairwise(state.tokens):
        if opening.type in ("td_open", "th_open") and "<" in cell.content:
            cell.children = [piece for token in cell.children or () for piece in _lines(token)]


def _lines(token: Token) -> Iterator[Token]:
    if token.type != "text":
        yield token
        return
    first, *others = BREAK_TAG.split(token.content)
    yield bare_links.text(first)
    for line in others:
        yield Token("hardbreak", "br", 0)
        yield bare_links.text(line)


def name_linked_images(state: StateCore) -> None:
    """Show an image within a link as its name: a link cannot hold another one."""
    for block in state.tokens:
        depth = 0
        for number, token in enumerate(block.children or ()):
            depth += token.nesting if token.type in ("link_open", "link_close") else 0
            if depth and token.type == "image" and block.children:
                block.children[number] = bare_links.text(token.content or "Image")


# A single line break is kept, as models write verses, addresses and lists of names and values with it.
MARKDOWN = MarkdownIt("js-default", {"html": False, "breaks": True, "maxNesting": 20}, renderer_cls=MarkdownRenderer)
MARKDOWN.core.ruler.before("text_join", "break_cells", break_cells)
MARKDOWN.core.ruler.push("outline", outline)
MARKDOWN.core.ruler.push("direct", direct)
MARKDOWN.core.ruler.push("task_lists", task_lists.mark)
MARKDOWN.core.ruler.push("name_linked_images", name_linked_images)
MARKDOWN.core.ruler.push("link_bare_addresses", bare_links.link)
emphasis.install(MARKDOWN)
formulas.install(MARKDOWN)
DEFINITIONS = MarkdownIt("js-default", {"html": False, "maxNesting": 20})
DEFINITIONS.core.ruler.enableOnly(["normalize", "block"])
