"""Finds words that are not used on pages, and identifiers of the code outside of code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser

# Text in these is quoted: code, recorded exchanges, what people or models wrote.
QUOTED = {"code", "pre", "script", "style", "textarea", "kbd", "samp", "mark", "template"}
VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
# Attributes that are read aloud or shown.
SHOWN = ("aria-label", "title", "alt", "placeholder", "data-confirm", "hx-confirm", "label")
NEVER = (
    *("auto_detected", "user_confirmed", "declared", "runtime_learned", "mcp_limit", "nothing_deferred", "hot_swap"),
    *("num_ctx", "keep_alive", "tool_choice", "A0", "A1", "A2", "A3", "wire", "beats", "beaten", "house"),
    *("unknown, which is not no", "texts of others", "it only reads", "somebody", "anew"),
    *("told", "knows", "takes back", "at home", "looks again"),
)
BANNED = re.compile(rf"\b(?:{'|'.join(NEVER)})\b")
BACKQUOTED = re.compile(r"`[^`\n]*`")
IDENTIFIER = re.compile(r"\b[a-z][a-z0-9]*(?:_[a-z0-9]+)+\b")


class PageText(HTMLParser):
    """Collects the texts of a page outside of quotes; `dir="auto"` and `bdi` mark the texts of people and models."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[tuple[str, bool]] = []
        self.texts: list[str] = []
        self.names: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if not self.quoted:
            self.names.extend(given[name] or "" for name in SHOWN if name in given)
        if tag not in VOID:
            quoted = tag in QUOTED or tag == "bdi" or given.get("dir") == "auto" or "data-quoted" in given
            mono = "mono" in (given.get("class") or "").split()
            self.open.append((tag, quoted or mono))

    def handle_endtag(self, tag: str) -> None:
        while self.open and self.open.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        if not self.quoted and data.strip():
            self.texts.append(" ".join(data.split()))

    @property
    def quoted(self) -> bool:
        return any(quoted for _, quoted in self.open)


def faults(html: str) -> Iterator[str]:
    """Return each banned word or identifier with its surroundings. Names for screen readers may hold a tool's name."""
    page = PageText()
    page.feed(html)
    for text in page.texts:
        yield from faults_of_text(text)
    for name in page.names:
        yield from faults_of_text(name, (BANNED,))


def faults_of_text(text: str, patterns: tuple[re.Pattern[str], ...] = (BANNED, IDENTIFIER)) -> Iterator[str]:
    """Return the same for one sentence, in which code stands in backquotes."""
    text = BACKQUOTED.sub("``", text)
    for pattern in patterns:
        for found in pattern.finditer(text):
            yield f"{found.group()}: {text[max(0, found.start() - 40) : found.end() + 40]}"
