"""Sends an open file in pieces that are read in a thread."""

from __future__ import annotations

import asyncio
from typing import BinaryIO

CHUNK = 256 * 1024


class FileStream:
    """The first `size` bytes of an open file, read in a thread; closed with the response."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        self.file = file
        self.left = size

    def __aiter__(self) -> FileStream:
        return self

    async def __anext__(self) -> bytes:
        data = await asyncio.to_thread(self.file.read, min(CHUNK, self.left))
        if not data:
            raise StopAsyncIteration
        self.left -= len(data)
        return data

    def close(self) -> None:
        self.file.close()
