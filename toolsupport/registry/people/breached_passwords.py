"""Looks a password up in a file of stolen ones: sorted SHA-1 digests, as in the public list "Pwned Passwords"."""

from __future__ import annotations

import hashlib
import os
import string
from pathlib import Path
from typing import BinaryIO

from toolsupport.core.errors import ConfigError

HEX = frozenset(string.hexdigits.encode())
# A line is `digest:count`; a digest may be cut to its first 16 digits, which find no other password by chance.
SHORTEST, LONGEST, LONGEST_LINE = 16, 40, 100
SAMPLES = 64
VARIABLE = "TOOLSUPPORT_BREACHED_PASSWORDS"


def contains(path: str, password: str) -> bool:
    """Return True if the file has the password; a search reads some 40 lines of it. Raises ConfigError."""
    wanted = hashlib.sha1(password.encode(errors="replace"), usedforsecurity=False).hexdigest().upper().encode()
    try:
        with Path(path).open("rb", buffering=256) as file:
            return _search(file, wanted)
    except OSError as error:
        raise _unreadable(error) from error


def check(path: str) -> int:
    """Return the size of the file in bytes if lines across it are digests in order. Raises ConfigError."""
    try:
        with Path(path).open("rb", buffering=256) as file:
            size = os.fstat(file.fileno()).st_size
            lines = [_line_from(file, size * number // SAMPLES)[0] for number in range(SAMPLES)]
    except OSError as error:
        raise _unreadable(error) from error
    found = [line for line in lines if line]
    if not found or found != sorted(found):
        raise ConfigError(f"The file of {VARIABLE} is empty or not sorted by its digests.")
    return size


def _search(file: BinaryIO, wanted: bytes) -> bool:
    low, high = 0, os.fstat(file.fileno()).st_size
    while low < high:
        middle = (low + high) // 2
        digest, end = _line_from(file, middle)
        if digest and digest == wanted[: len(digest)]:
            return True
        low, high = (end, high) if digest and digest < wanted else (low, middle)
    return False


def _line_from(file: BinaryIO, place: int) -> tuple[bytes, int]:
    """Return the digest of the first line that begins there or later, b"" at the end, and where the line ends."""
    file.seek(max(place - 1, 0))
    if place:
        file.readline(LONGEST_LINE)
    line = file.readline(LONGEST_LINE)
    digest = line.partition(b":")[0].strip().upper()
    if line and not (SHORTEST <= len(digest) <= LONGEST and HEX.issuperset(digest)):
        raise ConfigError(f"The file of {VARIABLE} has a line that does not begin with a SHA-1 digest.")
    return digest, file.tell()


def _unreadable(error: OSError) -> ConfigError:
    return ConfigError(f"The file of {VARIABLE} cannot be read: {error.strerror}.")
