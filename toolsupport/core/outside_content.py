"""Names the outside content that a text depends on, so that it carries this wherever it is used again."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from toolsupport.core.invisible_chars import UNSEEN
from toolsupport.core.types import JSON

MOST = 6
TEXT_LENGTH = 160


@dataclass(frozen=True, slots=True)
class OutsideSource:
    """An outside text: `text` names it ("the file notes.txt"), `at` is the time of reading (ISO 8601, or "").

    `definition`: it is the description of a tool, whose wording an administrator approved. It ends permissions for the
    whole chat as other sources do, but data may still be sent to read-only tools.
    """

    text: str
    at: str = ""
    definition: bool = False

    def to_json(self) -> JSON:
        return {"text": self.text, "at": self.at} | ({"definition": True} if self.definition else {})


def named(words: str, name: str = "", at: str = "", definition: bool = False) -> OutsideSource:
    """Return a source whose `name` comes from outside: on one line, without invisible characters, and short."""
    shown = " ".join(UNSEEN.sub("", name).split())
    text = f"{words} {shown}".strip()
    return OutsideSource(text if len(text) <= TEXT_LENGTH else f"{text[: TEXT_LENGTH - 1]}…", at, definition)


def merged(*groups: Iterable[OutsideSource]) -> tuple[OutsideSource, ...]:
    """Return each source once, content before definitions, the first few of them."""
    by_text: dict[str, OutsideSource] = {}
    for source in (source for group in groups for source in group):
        by_text.setdefault(source.text, source)
    return tuple(sorted(by_text.values(), key=lambda source: source.definition))[:MOST]


def stored(sources: Iterable[OutsideSource]) -> list[JSON]:
    """Return sources as a row keeps them."""
    return [source.to_json() for source in sources]


def read(rows: Iterable[JSON]) -> tuple[OutsideSource, ...]:
    """Return the sources of a row."""
    return tuple(OutsideSource(row["text"], row.get("at", ""), bool(row.get("definition"))) for row in rows)
