"""Decodes the bytes of a file for a model."""

from __future__ import annotations

import codecs

UNITS = ("KiB", "MiB", "GiB")

# The longer mark first: that of UTF-32 begins with that of UTF-16.
MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def size_in_words(size: int) -> str:
    """Format a number of bytes: 1 byte, 412 bytes, 1.2 KiB, 3 MiB."""
    if size < 1024:
        return "1 byte" if size == 1 else f"{size} bytes"
    amount = float(size)
    for unit in UNITS:
        amount /= 1024
        if amount < 1023.95 or unit == UNITS[-1]:
            break
    return f"{amount:.1f}".removesuffix(".0") + f" {unit}"


def read(data: bytes, size: int) -> str:
    """Return the text of a file of `size` bytes from its first bytes `data`; a note reports an omission.

    A byte order mark decides the encoding, else it is UTF-8; undecodable bytes become U+FFFD. A file with a zero byte
    is not text, and the answer reports that.
    """
    encoding = next((name for mark, name in MARKS if data.startswith(mark)), "utf-8")
    if encoding == "utf-8" and b"\0" in data:
        return f"[This is a binary file of {size_in_words(size)}. It cannot be read as text.]"
    if not data:
        return "[The file is empty.]"
    cut = len(data) < size
    # A decoder that may expect more bytes holds back a character that was cut.
    text = codecs.getincrementaldecoder(encoding)("replace").decode(data, final=not cut)
    note = f"\n\n[Cut here: these are the first {size_in_words(len(data))} of {size_in_words(size)}.]"
    return text + note if cut else text


def bounded(text: str, limit: int) -> str:
    """Return `text`, cut with a note if it is longer than `limit` characters."""
    if len(text) <= limit:
        return text
    return f"{text[:limit]}\n\n[Cut here: these are the first {limit:,} of {len(text):,} characters.]"
