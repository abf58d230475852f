"""A mark that no call follows is text: a parser that finds it again and again would never end."""

from __future__ import annotations

from tests.examples import by_night
from tests.tables import every
from tests.toolsupport.core.formats.replies import read, text
from toolsupport.core.events import CallReady, ThinkingDelta
from toolsupport.core.formats import FORMATS, auto, parser
from toolsupport.core.formats.calls_in_prose import ProseWatcher
from toolsupport.core.types import ToolSpec

TOOLS = (ToolSpec("lookup_ticket"),)
OPENERS = sorted(auto.openers([tool.name for tool in TOOLS]))
BEHIND = ("Hello there.", "", " ", "\n\n", "lookup_ticket", "<", "{", "[", "function")


def some_formats(number: int) -> list[str]:
    """Each format once in as many numbers as there are texts to stand behind a mark; all of them by night."""
    return [name for place, name in enumerate(FORMATS) if by_night() or (place + number) % len(BEHIND) == 0]


@every("behind", BEHIND)
def test_every_format_ends_behind_every_mark(behind: str) -> None:  # F3
    shift = BEHIND.index(behind)
    for number, opener in enumerate(OPENERS):
        text = f"{opener}{behind}{opener}{behind}"
        # Every mark is met by every format, and all that may follow it by the two that find most marks.
        for name in ("step3", "auto", *some_formats(number + shift)):
            reader = parser(name, TOOLS)
            events = [*reader.feed(text), *reader.flush()]
            assert not any(isinstance(event, CallReady) and event.call.name == "Hello" for event in events)
        watcher = ProseWatcher(TOOLS)
        watcher.watch(text)
        watcher.flush()


# Marks that a format writes around its answer.
AROUND_ANSWERS = [
    *(("command_r7b", mark) for mark in ("<|START_RESPONSE|>", "<|END_RESPONSE|>", "<|START_TEXT|>")),
    *(
        (name, mark)
        for name in ("kimi_k3", "auto")
        for mark in ("<|open|>response<|sep|>", "<|close|>response<|sep|>", "<|close|>message<|sep|>")
    ),
    ("gigachat3", "<|message_sep|>"),
    *(
        (name, f"{mark}<|message|>")
        for name in ("harmony", "muse_glimmer", "auto")
        for mark in (
            "<|channel|>final",
            "<|start|>assistant<|channel|>final",
            "<|start|>assistant",
            "<|channel|>commentary",
        )
    ),
    ("functionary_v32", ">>>all\n"),
]


def quoting(mark: str) -> tuple[str, ...]:
    return (
        f"A template:\n```\n{mark}It is cold.{mark}\n```\nNothing else.",
        f"A template:\n~~~text\n{mark}It is cold.\n~~~\nNothing else.",
        f"The mark `{mark}` ends an answer.",
        f'The mark "{mark}" ends an answer.',
        f"The mark '{mark}' ends an answer.",
    )


@every("name, mark", AROUND_ANSWERS)
def test_a_mark_around_an_answer_is_left_out_and_kept_where_it_is_quoted(name: str, mark: str) -> None:
    assert text(read(name, [f"{mark}It is cold.{mark}"])) == "It is cold."
    for quoted in (one for one in quoting(mark) if not mark.endswith("\n") or "```" in one or "~~~" in one):
        assert text(read(name, [quoted])) == text(read(name, quoted)) == quoted


@every("name", ["harmony", "muse_glimmer"])
@every("mark", ["<|end|>", "<|return|>", "<|start|>assistant<|channel|>analysis<|message|>", "<|start|>"])
def test_a_message_may_quote_the_marks_of_messages(name: str, mark: str) -> None:  # F3
    for quoted in quoting(mark):
        reply = f"<|channel|>final<|message|>{quoted}<|return|>"
        for pieces in ([reply], list(reply)):
            events = read(name, pieces)
            assert text(events) == quoted and not any(isinstance(event, ThinkingDelta) for event in events)
