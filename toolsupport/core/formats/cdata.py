"""Reads CDATA sections in a value between tags: their content is text, even tags that would end the value."""

from __future__ import annotations

from toolsupport.core.formats.tag_value import TagValue
from toolsupport.core.scanner import MarkerSet, Steps, TextSource

CDATA, CDATA_END = "<![CDATA[", "]]>"
BEGINS, ENDS = MarkerSet([CDATA]), MarkerSet([CDATA_END])


def read(source: TextSource, value: TagValue) -> Steps[str | None]:
    """Return the text of the sections that begin here, streamed; None if the reply ends within them."""
    pieces: list[str] = []
    while (yield from source.found(BEGINS)):
        found = None
        while not found:
            found = ENDS.search(source.buffer, source.at)
            unsure = len(source.buffer) if source.ended else ENDS.unsure_from(source.buffer, source.at)
            pieces.append(source.take(found.start() if found else unsure))
            value.text(pieces[-1])
            if not found and source.ended:
                return None
            if not found:
                yield
        source.take(found.end())
    return "".join(pieces)
