"""Every case of every format: the events of a reply, however it was cut into pieces."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from importlib import import_module

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tables import every
from tests.toolsupport.core.formats.cases import seldom
from tests.toolsupport.core.formats.cases.case import Case
from tests.toolsupport.core.formats.replies import joined
from toolsupport.core import formats
from toolsupport.core.events import CallDelta, CallReady, CallRejected, Event, TextDelta, ThinkingDelta

TABLES = (
    "hermes",
    "mistral",
    "plain_json",
    "forced_json",
    "qwen3_coder_xml",
    "pythonic",
    "code_mode",
    "auto",
    "hardened",
    "seldom",
    "dialects",
    "spellings",
    "confusions",
    "newer",
)
FEWEST_CASES = 400
LONG = 1000  # characters; longer replies are cut at fewer places
EVERY_SPLIT, SOME_SPLITS = 24, 6  # places at which a reply is cut in two, at night and by day
UNSHOWN = re.compile(
    r"</?(?:ifm\|)?think(?:_fast)?>|<\|think(?::start|:end)?\|>|<\|begin\|>assistant(?=<)|<\|(?:content|flush)\|>"
    r"|\[/?THINK\]|<\|(?:START|END)_(?:THINKING|RESPONSE|TEXT)\|>|<\|python_end\|>|(?:>>>)?all\n|\s"
    r"|<\|(?:open|close)\|>(?:think|response|message)<\|sep\|>"
    r"|(?:<\|start\|>assistant)?<\|channel\|>(?:analysis|final)<\|message\|>|<\|end\|>|<\|return\|>"
    r"|(?:<\|start\|>assistant)?\s*(?:to=(?:self|user))?<\|message\|>|<\|(?:eom|eot|message_sep)\|>"
    r"|analysis(?=[A-Z])|assistant(?:analysis|final|commentary(?! to=))"
)


def all_cases() -> Iterator[tuple[str, str, Case]]:
    for table in TABLES:
        module = import_module(f"tests.toolsupport.core.formats.cases.{table}")
        for case in module.CASES:
            for name in case.formats or module.FORMATS:
                yield table, name, case


CASES = [(name, case) for _, name, case in all_cases() if name in formats.FORMATS]
BY_FORMAT = {name: [case for other, case in CASES if other == name] for name, _ in CASES}
each_format = pytest.mark.parametrize("name", BY_FORMAT)


def check_the_cases(name: str, check: Callable[[str, Case], None]) -> None:
    """Check every case of a format; all that fail are reported."""
    every("case", BY_FORMAT[name])(lambda case: check(name, case))()


def events_of(name: str, case: Case, pieces: list[str]) -> list[Event]:
    parser = formats.parser(name, case.tools)
    found: list[Event] = []
    for piece in pieces:
        found += parser.feed(piece)
    return joined(found + parser.flush())


def cut(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def splits(text: str, most: int) -> Iterator[list[str]]:
    """The text in two pieces, cut at about so many places all over; long ones at a few."""
    step = max(1, len(text) // (most if len(text) < LONG else 3))
    for at in range(1, len(text), step):
        yield [text[:at], text[at:]]


def text_of(events: list[Event]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def ready(events: list[Event]) -> list[CallReady]:
    return [event for event in events if isinstance(event, CallReady)]


@each_format
def test_what_is_read(name: str) -> None:  # F3
    check_the_cases(name, assert_it_is_read)


def assert_it_is_read(name: str, case: Case) -> None:
    events = events_of(name, case, [case.reply])
    assert [(one.call.name, one.call.arguments) for one in ready(events)] == case.calls
    assert text_of(events) == ("" if case.calls and not case.text.strip() else case.text)
    assert [event.name for event in events if isinstance(event, CallRejected)] == case.rejected
    thinking = "".join(event.text for event in events if isinstance(event, ThinkingDelta))
    assert case.thinking in (None, thinking)
    if case.mended is not None:
        assert all(bool(one.call.repairs) is case.mended for one in ready(events)), ready(events)
    if name != "forced_json" or '"answer"' not in case.reply:  # the form around an answer is no text
        assert_nothing_is_lost(events, case.reply)
    assert_what_is_shown_is_the_beginning(events)


def assert_nothing_is_lost(events: list[Event], reply: str) -> None:
    """Text, reasoning and the raw calls make the reply again, but for white space and the tags of reasoning."""
    written = ""
    for event in events:
        if isinstance(event, TextDelta | ThinkingDelta):
            written += event.text
        elif isinstance(event, CallReady) and (written + event.raw).count(event.raw) <= reply.count(event.raw):
            written += event.raw
    assert UNSHOWN.sub("", written) == UNSHOWN.sub("", reply)


def assert_what_is_shown_is_the_beginning(events: list[Event]) -> None:
    shown = {event.id: event.text for event in events if isinstance(event, CallDelta)}
    ids = [one.call.id for one in ready(events)]
    assert len(set(ids)) == len(ids)
    for one in ready(events):
        whole = json.dumps(one.call.arguments, ensure_ascii=False, separators=(",", ":"))
        assert whole.startswith(shown.get(one.call.id, ""))


@pytest.mark.nightly
@pytest.mark.parametrize("name", seldom.FRAMES)
def test_the_same_situations_in_the_less_common_formats(name: str) -> None:  # F3
    for case in seldom.framed(name):
        assert_it_is_read(name, case)
        assert_the_same_in_pieces(name, case, (1, 2, 3, 4, 5, 6, 7), EVERY_SPLIT)


@each_format
def test_where_it_is_cut_does_not_matter(name: str) -> None:  # F3
    check_the_cases(name, lambda name, case: assert_the_same_in_pieces(name, case, (1, 7), SOME_SPLITS))


@pytest.mark.nightly
@each_format
def test_wherever_it_is_cut_it_does_not_matter(name: str) -> None:  # F3
    check_the_cases(name, lambda name, case: assert_the_same_in_pieces(name, case, (1, 2, 3, 4, 5, 6, 7), EVERY_SPLIT))


def assert_the_same_in_pieces(name: str, case: Case, sizes: tuple[int, ...], most: int) -> None:
    whole = events_of(name, case, [case.reply])
    for size in sizes:
        assert events_of(name, case, cut(case.reply, size)) == whole, size
    for pieces in splits(case.reply, most):
        assert events_of(name, case, pieces) == whole, pieces


@given(number=st.integers(0, max(0, len(CASES) - 1)), cuts=st.lists(st.integers(1, 30), min_size=1, max_size=12))
def test_cut_into_any_pieces(number: int, cuts: list[int]) -> None:  # F3
    name, case = CASES[number]
    pieces, rest, turn = [], case.reply, 0
    while rest:
        size = cuts[turn % len(cuts)]
        pieces.append(rest[:size])
        rest, turn = rest[size:], turn + 1
    assert events_of(name, case, pieces) == events_of(name, case, [case.reply])


def test_there_are_enough_cases() -> None:
    counts: dict[str, int] = {}
    for _, name, _ in all_cases():
        counts[name] = counts.get(name, 0) + 1
    print("\n".join(f"{name:20} {count}" for name, count in sorted(counts.items())))
    assert sum(counts.values()) >= FEWEST_CASES
    assert all(name in counts for name in formats.FORMATS), formats.FORMATS.keys() - counts.keys()
