"""No format waits without need: text and arguments appear while they are written, at a cost that is linear."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import pytest

from tests.examples import by_night
from tests.growth import grows_no_faster
from tests.tables import every
from tests.toolsupport.core.formats.cases.case import TOOLS
from toolsupport.core.events import CallDelta, CallReady, Event, Finished, TextDelta
from toolsupport.core.formats import FORMATS, parser
from toolsupport.core.reply_reader import ReplyReader
from toolsupport.core.scanner import MarkerSet, TextSource
from toolsupport.core.types import JSON, ToolCall

# Two marks of MiniMax M3, which stand between two values; no reader looks further ahead to decide.
LONGEST_WAIT = 56
VALUE = 8 * (
    "It's a <b>file</b> of [lists], {sets}, functools, Action: none, a > b >> c >>> d, `code`, <tool_call> or "
    'x = f(1) \\ and "words".\n'
)
PROSE = (
    "functools is a module with caches and much else in it",
    "Action: we wait until it is over and look at it then",
    "I would use functools, and then Action: none follows it",
    "Action: ```we wait``` until it is over and look then",
    ">>> import this and read what it says about all of it",
    ">>>and then some more of it and so on until the end of it",
    "[1] is a source, [the other] is not, and [that is all of it",
    "{so it is} and {so it stays for as long as it may be",
    "`code` and ``more code`` and ` one more for the end of it",
    "a < b and c > d, or <so it goes on and on to the end",
    "now and then it goes on (for as long as it may go on)",
    "<tool_call> is a mark that many models write in front",
    "The weather\nis good today and stays so until the end of it",
)


def write(name: str, calls: list[tuple[str, JSON]]) -> str:
    """A reply of calls in that format; code mode writes code."""
    asked = [ToolCall(f"call_{place}", *call) for place, call in enumerate(calls)]
    return FORMATS["hermes" if name == "auto" else name].write_calls(asked)


def long_call(name: str, text: str) -> str:
    if name == "code_mode":
        return write(name, [("python_execution", {"code": text})])
    return write(name, [("write_file", {"path": "a.txt", "content": text})])


def waits(name: str, reply: str, wanted: type[Event]) -> Iterator[int]:
    """How many characters were fed between each event of that kind and the one before it."""
    reader, fed = parser(name, TOOLS), 0
    for character in reply:
        fed += 1
        if any(isinstance(event, wanted) for event in reader.feed(character)):
            yield fed
            fed = 0


@every("name", FORMATS)
def test_an_argument_is_shown_while_it_is_written(name: str) -> None:  # F3
    text = "x = 1\nprint(x)\n" * 60 if name == "code_mode" else VALUE
    found = list(waits(name, long_call(name, text), CallDelta))
    assert len(found) > len(text) / 4
    assert max(found[1:]) <= LONGEST_WAIT


@every("name", FORMATS)
def test_prose_is_shown_while_it_is_written(name: str) -> None:  # F3
    for line in PROSE:
        reply = f"Well. {line}. {'More of it, word for word. ' * 8}"
        found = list(waits(name, reply, TextDelta))
        assert max(found) <= LONGEST_WAIT, line
        assert len(reply) - sum(found) <= LONGEST_WAIT, line


def test_no_marker_is_begun_by_nothing() -> None:
    assert not MarkerSet([]).begins("")


# -- cost --

SMALL, LARGE = 400, 1600
Reply = Callable[[str, int], str]


def _opener(name: str) -> str:
    """How a call begins, up to and with the first letters of its first text."""
    reply = long_call(name, "print(1)")
    return reply[: reply.index("print(1)" if name == "code_mode" else "a.txt") + 3]


SHAPES: dict[str, Reply] = {
    "text": lambda name, size: "Some words, a < b, [1], `code`, {x}. " * (size // 37),
    "one long argument": lambda name, size: long_call(name, "words and words\n" * (size // 16)),
    "one long argument that never ends": lambda name, size: _opener(name) + "words and words " * (size // 16),
    "many small calls": lambda name, size: "\n".join([write(name, [("now", {})])] * (size // 20)),
    "a list of calls": lambda name, size: write(name, [("now", {})] * (size // 20)),
    "openers that never end": lambda name, size: _opener(name) * (size // 20),
    "names that never end": lambda name, size: (_opener(name)[:12] + "a") * (size // 12),
    "brackets": lambda name, size: _opener(name)[:-4] + "[{" * (size // 2),
    "brackets in an argument": lambda name, size: _opener(name) + '"[{\'' * (size // 4),
    "quotes": lambda name, size: _opener(name) + "\"'" * (size // 2),
    "ends in an argument": lambda name, size: _opener(name) + long_call(name, "x")[-12:] * (size // 12),
}  # fmt: skip


class Work:
    """Counts the characters that a source holds, gives back or repeats: all that makes a reader read twice."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.characters = 0
        push, back_to, since = TextSource.push, TextSource.back_to, TextSource.since

        def counted_push(source: TextSource, text: str) -> None:
            self.characters += source.left + len(text)
            push(source, text)

        def counted_back_to(source: TextSource, recorded: int) -> None:
            self.characters += source.recorded - recorded
            back_to(source, recorded)

        def counted_since(source: TextSource, recorded: int) -> str:
            self.characters += source.recorded - recorded
            return since(source, recorded)

        monkeypatch.setattr(TextSource, "push", counted_push)
        monkeypatch.setattr(TextSource, "back_to", counted_back_to)
        monkeypatch.setattr(TextSource, "since", counted_since)

    def of(self, name: str, reply: str) -> int:
        self.characters = 0
        reader = parser(name, TOOLS)
        for character in reply:
            reader.feed(character)
        reader.flush()
        return self.characters


@pytest.mark.parametrize("name", FORMATS)
def test_four_times_the_text_is_four_times_the_work(name: str, monkeypatch: pytest.MonkeyPatch) -> None:  # F3
    work = Work(monkeypatch)
    for shape, reply in SHAPES.items():
        assert work.of(name, reply(name, LARGE)) <= 7 * work.of(name, reply(name, SMALL)), shape


@every("name", [name for name in FORMATS if name not in ("auto", "code_mode")])
def test_a_call_that_a_limit_cut_anywhere_is_never_made(name: str) -> None:  # F3
    reply = long_call(name, "some words")
    for end in range(len(reply) // 3, len(reply.rstrip()) - len(reply.rsplit("words", 1)[1])):
        reader = parser(name, TOOLS)
        events = [*reader.feed(reply[:end]), *reader.flush(cut=True)]
        assert not any(isinstance(event, CallReady) for event in events), reply[:end]


LENGTHS = (8_000, 64_000) if by_night() else (2_000, 8_000)
ENOUGH = 0.1  # seconds
MOST_OPENERS = 100 if by_night() else 1  # of the marks of a format


def read_openers(name: str, opener: str, length: int) -> None:
    reader, reply = ReplyReader(name, TOOLS), (opener * (length // len(opener) + 1))[:length]
    for at in range(0, len(reply), 64):
        reader.feed([TextDelta(reply[at : at + 64])])
    reader.feed([Finished("stop")])


def half_openers(name: str) -> set[str]:
    """Marks, what is left of them without their last character, what may follow them, and a call that never ends."""
    openers, whole = parser(name, TOOLS).openers[:MOST_OPENERS], long_call(name, "a")
    halves = {part for one in openers for part in (one[:-1], f'{one}{{"')}
    return (halves | {whole[: len(whole) // 3]} | ({*openers} if by_night() else set())) - {""}


@pytest.mark.parametrize("name", FORMATS)
def test_repeated_openers_cost_no_more_than_their_length(name: str) -> None:  # F3
    for opener in sorted(half_openers(name)):
        assert grows_no_faster(partial(read_openers, name, opener), *LENGTHS, times=2.0, enough=ENOUGH), opener
