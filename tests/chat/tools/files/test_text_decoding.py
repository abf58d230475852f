"""The decoding of bytes before a model reads them."""

from __future__ import annotations

import codecs

from hypothesis import given
from hypothesis import strategies as st

from chat.tools.files import text_decoding
from tests.tables import every

SIZES = {
    0: "0 bytes",
    1: "1 byte",
    412: "412 bytes",
    1023: "1023 bytes",
    1024: "1 KiB",
    1229: "1.2 KiB",
    1024**2 - 1: "1 MiB",
    3 * 1024**2: "3 MiB",
    5 * 1024**3: "5 GiB",
    5 * 1024**4: "5120 GiB",
}

TEXTS = {
    b"plain": "plain",
    b"one\r\ntwo\r\n": "one\r\ntwo\r\n",
    "naïve 😀".encode(): "naïve 😀",
    codecs.BOM_UTF8 + b"marked": "marked",
    codecs.BOM_UTF16_LE + "wide".encode("utf-16-le"): "wide",
    codecs.BOM_UTF16_BE + "wide".encode("utf-16-be"): "wide",
    codecs.BOM_UTF32_LE + "wider".encode("utf-32-le"): "wider",
    b"caf\xe9": "caf\ufffd",
    b"": "[The file is empty.]",
    b"\x89PNG\0\0": "[This is a binary file of 6 bytes. It cannot be read as text.]",
}


@every("size", SIZES)
def test_sizes_in_words(size: int) -> None:
    assert text_decoding.size_in_words(size) == SIZES[size]


@every("data", TEXTS)
def test_what_is_read(data: bytes) -> None:
    assert text_decoding.read(data, len(data)) == TEXTS[data]


def test_a_cut_says_so_and_splits_no_character() -> None:
    data = "äöü".encode()[:3]
    text = text_decoding.read(data, 2048)
    assert text == "ä\n\n[Cut here: these are the first 3 bytes of 2 KiB.]"


@given(st.text(min_size=1).filter(lambda text: "\0" not in text), st.data())
def test_wherever_a_text_is_cut_what_is_read_is_its_beginning(text: str, data: st.DataObject) -> None:
    whole = text.removeprefix("\ufeff").encode()
    limit = data.draw(st.integers(1, max(1, len(whole) - 1)))
    shown = text_decoding.read(whole[:limit], len(whole) + 1).rpartition("\n\n[Cut here")[0]
    assert text.removeprefix("\ufeff").startswith(shown.removesuffix("[The file is empty.]"))


@given(st.binary(max_size=200), st.integers(0, 400))
def test_any_bytes_can_be_read(data: bytes, more: int) -> None:
    assert text_decoding.read(data, len(data) + more).encode()


def test_results_are_bounded_with_a_note() -> None:
    assert text_decoding.bounded("x" * 10, 10) == "x" * 10
    assert text_decoding.bounded("x" * 11, 10) == "x" * 10 + "\n\n[Cut here: these are the first 10 of 11 characters.]"
