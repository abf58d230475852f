"""Cuts a stream of bytes into lines at LF, for any chunks.

Only LF ends a line: text in the middle of a JSON line may hold U+2028, U+0085, VT or FF, which are line ends to
`str.splitlines` and to HTTP libraries. Bytes are not decoded here: a line is whole, so its reader decodes it at once.
"""

from __future__ import annotations

# Values of one line, and objects and lists among them: two megabytes of these keep the event loop busy for 50 ms.
MOST_VALUES, MOST_CONTAINERS = 150_000, 40_000
SHORT = 64 * 1024


class LineSplitter:
    """Splits bytes into lines, without their LF.

    After a line longer than `limit` bytes, or of too many JSON values, `overflow` stays True.
    """

    def __init__(self, limit: int) -> None:
        self.overflow = False
        self._limit = limit
        self._pending = bytearray()

    def feed(self, data: bytes) -> list[bytes]:
        """Return the lines that these bytes complete, up to the first one that is too long."""
        if self.overflow:
            return []
        lines = data.split(b"\n")
        rest, longest = lines.pop(), len(self._pending) + len(data)
        if lines and self._pending:
            lines[0] = bytes(self._pending + lines[0])
            self._pending.clear()
        if longest > self._limit or longest > SHORT:
            for number, line in enumerate(lines):
                if len(line) > self._limit or too_many_values(line):
                    self.overflow = True
                    return lines[:number]
        self._pending += rest
        self.overflow = len(self._pending) > self._limit
        return lines

    def flush(self) -> bytes:
        """Return the bytes after the last LF, b"" if there are none."""
        rest = bytes(self._pending)
        self._pending.clear()
        self.overflow = self.overflow or too_many_values(rest)
        return b"" if self.overflow else rest


def too_many_values(line: bytes) -> bool:
    """Return whether a line may hold more JSON values than are read, without reading it."""
    if len(line) <= SHORT:
        return False
    containers = line.count(b"{") + line.count(b"[")
    return containers > MOST_CONTAINERS or containers + line.count(b",") > MOST_VALUES
