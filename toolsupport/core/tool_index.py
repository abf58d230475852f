"""Searches descriptions by words (BM25) and, if vectors are available, by meaning.

A match in a name counts most. The caller gets the vectors from a server. The two rankings are joined by reciprocal
rank: an entry that is high in either is high in the result.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toolsupport.core.tokenize import alike, terms
from toolsupport.core.types import JSON, ToolSpec

# A word of the name counts as often as so many of the description.
NAME_WEIGHT = 3
# The weight of a synonym.
ALIKE_WEIGHT = 0.4
# The constant of reciprocal rank fusion: the larger, the less the very first places are ahead of the next.
RANK_SMOOTHING = 5
# Below this position the orders are noise.
COUNTED, MEANT = 60, 20

Vector = Sequence[float]


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """A searchable entry: `text` and `name` are searched, and `name` counts more."""

    name: str
    text: str

    @property
    def whole(self) -> str:
        """The text that a vector is computed from."""
        return f"{' '.join(terms(self.name))}: {self.text}"


def entry_of(spec: ToolSpec) -> IndexEntry:
    """Build the entry of a tool from its name, its description and the names of its parameters."""
    return IndexEntry(spec.name, f"{spec.description} {' '.join(_parameters(spec.parameters))}".strip())


def _parameters(schema: JSON) -> list[str]:
    properties = schema.get("properties")
    if not isinstance(properties, Mapping):
        return []
    found = []
    for name, described in properties.items():
        description = described.get("description", "") if isinstance(described, Mapping) else ""
        found.append(f"{name} {description}".strip())
    return found


class ToolIndex:
    """An index over entries, built once and queried often. `vectors` belong to the entries' `whole`, in their order."""

    def __init__(self, entries: Sequence[IndexEntry], vectors: Sequence[Vector] | None = None) -> None:
        self.entries = tuple(entries)
        bags = [terms(entry.name) * NAME_WEIGHT + terms(entry.text) for entry in self.entries]
        self._words: Any = None
        if any(bags):
            self._words = _by_bm25(bags)
        self._vectors = _normalised(vectors) if vectors and len(vectors) == len(self.entries) else None

    def find(self, query: str, count: int, vector: Vector | None = None) -> list[IndexEntry]:
        """Return the best `count` entries, best first; none if no word of the query matches and no vector is given."""
        orders = [self._by_words(query)]
        if vector is not None and self._vectors is not None:
            orders.append(self._by_meaning(vector))
        return [self.entries[place] for place in fused(orders)[:count]]

    def _by_words(self, query: str) -> list[int]:
        if self._words is None:
            return []
        asked = terms(query)
        scores = self._score(asked) + ALIKE_WEIGHT * self._score(alike(asked))
        return _descending(scores, COUNTED)

    def _score(self, words: list[str]) -> Any:
        import numpy

        known = [word for word in words if word in self._words.vocab_dict]
        return self._words.get_scores(known) if known else numpy.zeros(len(self.entries))

    def _by_meaning(self, vector: Vector) -> list[int]:
        asked = _normalised([vector])[0]
        if self._vectors is None or asked.shape[0] != self._vectors.shape[1]:
            return []
        return _descending(self._vectors @ asked, MEANT)


def fused(orders: Sequence[Sequence[int]]) -> list[int]:
    """Merge several rankings by reciprocal rank."""
    scores: dict[int, float] = {}
    for order in orders:
        for rank, place in enumerate(order):
            scores[place] = scores.get(place, 0.0) + 1 / (RANK_SMOOTHING + rank)
    return sorted(scores, key=lambda place: (-scores[place], place))


def _by_bm25(bags: list[list[str]]) -> Any:
    """Return the BM25 index. Both libraries are large, so they are imported only on a site with something to search."""
    import bm25s

    bm25s.logger.setLevel("WARNING")  # it would write a line for every index that is made
    made = bm25s.BM25(k1=1.2, b=0.6)
    made.index(bags, show_progress=False)
    return made


def _descending(scores: Any, most: int) -> list[int]:
    """Return the positions with a positive score, best first; ties keep their order."""
    import numpy

    order = numpy.argsort(-scores, kind="stable")[:most]
    return [int(place) for place in order if scores[place] > 0]


def _normalised(vectors: Sequence[Vector]) -> Any:
    """Return the vectors as rows of length 1."""
    import numpy

    rows = numpy.asarray(vectors, dtype=numpy.float32)
    lengths = numpy.linalg.norm(rows, axis=1, keepdims=True)
    return rows / numpy.where(lengths == 0, 1, lengths)
