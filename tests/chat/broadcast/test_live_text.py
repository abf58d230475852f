"""Offsets count what the page's script counts."""

from hypothesis import given
from hypothesis import strategies as st

from chat.broadcast.live_text import LiveText, utf16_length


def test_an_emoji_is_two_units() -> None:
    live = LiveText()
    assert [live.append(piece) for piece in ("a", "😀", "é", "")] == [0, 1, 3, 4]
    assert (live.length, live.text) == (4, "a😀é")


@given(st.lists(st.text()))
def test_offsets_point_at_the_piece_in_utf16(pieces: list[str]) -> None:
    live = LiveText()
    offsets = [live.append(piece) for piece in pieces]
    units = "".join(pieces).encode("utf-16-le", "surrogatepass")
    for offset, piece in zip(offsets, pieces, strict=True):
        raw = piece.encode("utf-16-le", "surrogatepass")
        assert units[2 * offset : 2 * offset + len(raw)] == raw
    assert live.length == utf16_length(live.text) == len(units) // 2


def test_grew_is_about_what_was_not_written_yet() -> None:
    live = LiveText()
    assert not live.grew
    live.append("x")
    assert live.grew
    live.mark_written()
    assert not live.grew
