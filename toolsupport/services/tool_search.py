"""Searches entries by words, and by meaning if a server provides vectors."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence

from toolsupport import cancellable_threads
from toolsupport.core.tool_index import IndexEntry, ToolIndex
from toolsupport.services import embeddings

KEPT = 8
LONGEST = 2000

# The latest indexes, by their entries.
_indexes: OrderedDict[tuple[tuple[IndexEntry, ...], bool], ToolIndex] = OrderedDict()


async def search(entries: Sequence[IndexEntry], query: str, count: int) -> list[IndexEntry]:
    """Return the best entries, best first."""
    query = query[:LONGEST]
    index, has_meaning = await _index(tuple(entries))
    vectors = await embeddings.vectors([query]) if has_meaning else None
    return index.find(query, count, vectors[0] if vectors else None)


async def _index(entries: tuple[IndexEntry, ...]) -> tuple[ToolIndex, bool]:
    """Return the cached index, and whether it includes vectors."""
    vectors = await embeddings.vectors([entry.whole for entry in entries])
    key = (entries, vectors is not None)
    index = _indexes[key] if key in _indexes else await cancellable_threads.run(ToolIndex, entries, vectors)
    _indexes[key] = index
    _indexes.move_to_end(key)
    while len(_indexes) > KEPT:
        _indexes.popitem(last=False)
    return index, vectors is not None
