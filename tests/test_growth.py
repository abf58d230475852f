"""The comparison of costs distinguishes linear from quadratic work."""

from __future__ import annotations

import re

from tests.growth import grows_no_faster
from toolsupport.core.events import Finished, TextDelta
from toolsupport.core.reply_reader import ReplyReader
from toolsupport.core.scanner import TextSource


def linear(length: int) -> None:
    sum(map(ord, "x" * length))


def quadratic(length: int) -> None:
    for at in range(0, length, 8):
        ("x" * length).count("y", at)


def read(length: int) -> None:
    reader = ReplyReader("hermes", ())
    for at in range(0, length, 16):
        reader.feed([TextDelta("<tool_call>{a"[: at % 13 + 1].ljust(16))])
    reader.feed([Finished("stop")])


def test_linear_work_passes_and_quadratic_work_does_not() -> None:
    assert grows_no_faster(linear, 20_000, 160_000)
    assert not grows_no_faster(quadratic, 10_000, 80_000)


def test_a_reader_that_reads_again_what_it_read_is_found(monkeypatch) -> None:
    assert grows_no_faster(read, 1_000, 8_000)
    push, all_text = TextSource.push, []

    def again(source: TextSource, text: str) -> None:
        all_text.append(text)
        for _ in range(5):  # enough beside the linear work, on any machine
            re.findall(".", "".join(all_text))
        push(source, text)

    def fresh(length: int) -> None:
        all_text.clear()
        read(length)

    monkeypatch.setattr(TextSource, "push", again)
    assert not grows_no_faster(fresh, 1_000, 8_000)
