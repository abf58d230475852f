"""Splits an MCP tool's result into parts with their kinds, from the text that a model reads."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

# How each part but plain text begins; chat/mcp/client/results.py writes them.
BEGINS = re.compile(r"^\[(image|audio|resource link|resource|structured)\b[^\]\n]*\]", re.M)
PICTURE = re.compile(r"mcp/[A-Za-z0-9_-]+/[0-9a-f]{12}\.(?:png|jpg|gif|webp)\]")


@dataclass(frozen=True, slots=True)
class ResultPart:
    """`kind` is text, image, audio, resource, resource link or structured; `picture` is the path of a saved image."""

    kind: str
    text: str
    picture: str = ""


def parts(result: str) -> list[ResultPart]:
    """Return the result in parts, with all of its text."""
    found = list(BEGINS.finditer(result))
    places = [0, *(match.start() for match in found), len(result)]
    kinds = ["text", *(match[1] for match in found)]
    texts = [result[begin:end].strip() for begin, end in pairwise(places)]
    return [ResultPart(kind, text, _picture(kind, text)) for kind, text in zip(kinds, texts, strict=True) if text]


def pictures(result: str) -> frozenset[str]:
    """Return the paths of a result's saved images."""
    return frozenset(part.picture for part in parts(result) if part.picture)


def _picture(kind: str, text: str) -> str:
    first, _, _ = text.partition("\n")
    kept = PICTURE.search(first) if kind in ("image", "resource") else None
    return kept[0].removesuffix("]") if kept else ""
