"""Lines end at LF and nowhere else, for any chunks."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.tables import every
from toolsupport.providers.line_splitter import LineSplitter

PIECES = st.lists(st.text(alphabet="ab\n\r\v\f\x1c\x85\u2028\u2029é🦊", max_size=12).map(str.encode), max_size=12)


def split(pieces: list[bytes], limit: int = 1000) -> tuple[list[bytes], bool]:
    splitter = LineSplitter(limit)
    lines = [line for piece in pieces for line in splitter.feed(piece)]
    rest = splitter.flush()
    return lines + ([rest] if rest else []), splitter.overflow


@given(PIECES)
def test_chunking_never_matters(pieces: list[bytes]) -> None:
    whole = b"".join(pieces)
    assert split(pieces) == split([whole]) == split([bytes([byte]) for byte in whole])
    assert b"\n".join(split(pieces)[0]).rstrip(b"\n") == whole.rstrip(b"\n")


@given(PIECES, st.integers(0, 8))
def test_the_limit_does_not_depend_on_chunks(pieces: list[bytes], limit: int) -> None:
    whole = b"".join(pieces)
    expected = split([whole], limit)
    assert split(pieces, limit) == split([bytes([byte]) for byte in whole], limit) == expected
    assert expected[1] is any(len(line) > limit for line in whole.split(b"\n"))


@every("mark", ["\u2028", "\u2029", "\u0085", "\v", "\f", "\x1c", "\x1d", "\x1e", "\r"])
def test_what_others_take_for_a_line_end(mark: str) -> None:
    text = f"one{mark}two".encode()
    assert split([text + b"\n"]) == ([text], False)


def test_a_line_without_end_is_not_kept_for_ever() -> None:
    splitter = LineSplitter(10)
    for _ in range(100):
        assert splitter.feed(b"12345") == []
    assert splitter.overflow
    assert splitter.flush() == b""


@every("value", [b'{"x":-1}', b"[]", b'{"":{}}', b"[[]]", b'"a"', b"1", b"null", b"1.5e3"])
def test_a_line_of_too_many_values_is_not_read(value: bytes) -> None:  # S2
    limit = 2 * 1024 * 1024
    many = b"[" + b",".join([value] * (limit // (len(value) + 1) - 1)) + b"]"
    assert split([many + b"\n"], limit) == ([], True)
    few = b"[" + b",".join([value] * 9_000) + b"]"
    assert split([few + b"\n"], limit) == ([few], False)


def test_a_long_text_of_one_line_is_read() -> None:
    line = b'"' + b"a, {b} [c] " * 19_000 + b'"'
    assert split([line + b"\n"], 2 * 1024 * 1024) == ([line], False)
