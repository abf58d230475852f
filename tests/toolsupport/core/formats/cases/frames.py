"""The same situations for every format: each format only gives its syntax, and this makes the cases."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tests.toolsupport.core.formats.cases.arguments import BROKEN, LEFT_ALONE, SOUND
from tests.toolsupport.core.formats.cases.case import Case
from toolsupport.core.types import JSON

OSLO: JSON = {"city": "Oslo"}


@dataclass(frozen=True)
class Frame:
    """How a format writes things. `many` writes several calls, `one` a single one.

    `half` is the beginning of a marker and no more, `aside` a sentence that mentions the markers.
    """

    one: Callable[[str, str], str]
    many: Callable[[list[str]], str]
    half: str
    aside: str
    json: bool = True
    marked: bool = True
    before: bool = True


def cases_of(frame: Frame) -> Iterator[Case]:
    """All the cases that follow from how the format writes a call."""
    yield from _plain(frame)
    yield from _several(frame)
    yield from _without_call(frame)
    yield from _thinking(frame)
    if frame.json:
        yield from _arguments(frame)


def oslo(frame: Frame) -> str:
    return frame.one("weather", '{"city": "Oslo"}')


def _plain(frame: Frame) -> Iterator[Case]:
    call = [("weather", OSLO)]
    yield Case("a call and nothing else", oslo(frame), call, mended=False)
    yield Case("a call of a tool without parameters", frame.one("now", "{}"), [("now", {})], mended=False)
    yield Case("line breaks around the call", f"\n\n{oslo(frame)}\n", call, mended=False)
    yield Case("space behind the call", f"{oslo(frame)}   ", call, mended=False)
    yield Case(
        "a name with a dash",
        frame.one("run-sql", '{"statement": "select 1"}'),
        [("run-sql", {"statement": "select 1"})],
    )
    yield Case("a name with a dot", frame.one("music.play", '{"track": "Blue"}'), [("music.play", {"track": "Blue"})])
    yield Case(
        "a name with a prefix that was left out",
        frame.one("read_file", '{"path": "a.txt"}'),
        [("read_file", {"path": "a.txt"})],
    )
    yield Case("a name in capitals", frame.one("Weather", '{"city": "Oslo"}'), [("Weather", OSLO)])
    if frame.before:
        yield Case("text before", f"I will look.\n{oslo(frame)}", call, text="I will look.\n")
        yield Case("a colon before", f"Let me see:\n\n{oslo(frame)}", call, text="Let me see:\n\n")
        yield Case("emoji before", f"🫖 ok\n{oslo(frame)}", call, text="🫖 ok\n")
        yield Case("brackets in the text before", f"a [1] {{b}} <c>:\n{oslo(frame)}", call, text="a [1] {b} <c>:\n")
    if frame.marked:
        yield Case(
            "an unknown name behind a marker", frame.one("teleport", '{"to": "Oslo"}'), [("teleport", {"to": "Oslo"})]
        )
        yield Case("text behind", f"{oslo(frame)}\nThat was it.", call, text="\nThat was it.")


def _several(frame: Frame) -> Iterator[Case]:
    three = [("weather", OSLO), ("now", {}), ("weather", {"city": "Rome"})]
    written = [("weather", '{"city": "Oslo"}'), ("now", "{}"), ("weather", '{"city": "Rome"}')]
    yield Case("three calls", frame.many([frame.one(*one) for one in written]), three, mended=False)
    yield Case("the same call twice is made twice", frame.many([oslo(frame)] * 2), [("weather", OSLO)] * 2)
    if frame.before:
        between = "\n" if frame.many(["", ""]) == "\n" else ""
        reply = f"Both.\n{frame.many([oslo(frame), frame.one('now', '{}')])}"
        yield Case("text before two calls", reply, [("weather", OSLO), ("now", {})], text="Both.\n" + between)


def _without_call(frame: Frame) -> Iterator[Case]:
    replies = {
        "an ordinary answer": "It is 4 °C in Oslo.",
        "an empty reply": "",
        "nothing but space": " \n ",
        "half a marker at the end": f"So {frame.half}",
        "the markers are only mentioned": frame.aside,
        "a list in Markdown": "- one\n- [two](http://x.example)\n- `three()`",
        "a JSON object that is the answer": '{"temperature": 4, "unit": "C"}',
        "a JSON list that is the answer": "[1, 2, 3]",
        "angle brackets": "a < b and b > c, so <a, c>",
        "code in a fence": "Like this:\n```js\nconst a = [1];\n```\nDone.",
    }
    for name, reply in replies.items():
        yield Case(name, reply, text=reply)


def _thinking(frame: Frame) -> Iterator[Case]:
    call = [("weather", OSLO)]
    yield Case("thinking before the call", f"<think>Cold?</think>{oslo(frame)}", call, thinking="Cold?")
    yield Case("thinking and an answer", "<think>Hm.</think>Hello.", text="Hello.", thinking="Hm.")
    yield Case("thinking that never ends", "<think>Hm, well", thinking="Hm, well")
    draft = frame.one("weather", '{"city": "Bergen"}')
    yield Case("a draft in thinking, then the call", f"<think>\n{draft}\n</think>\n{oslo(frame)}", call)
    yield Case("the same call in thinking and after", f"<think>\n{oslo(frame)}\n</think>\n{oslo(frame)}", call)
    yield Case("the only call stands in thinking", f"<think>\n{oslo(frame)}\n</think>\n", call)
    yield Case("the only call stands in thinking that never ends", f"<think>Now:\n{oslo(frame)}", call)


def _arguments(frame: Frame) -> Iterator[Case]:
    for name, written, meant in SOUND:
        yield Case(f"arguments: {name}", frame.one("note", written), [("note", meant)], mended=False)
    for name, tool, written, meant in LEFT_ALONE:
        yield Case(f"left alone: {name}", frame.one(tool, written), [(tool, meant)], mended=False)
    for name, tool, written, meant in BROKEN:
        yield Case(f"mended: {name}", frame.one(tool, written), [(tool, meant)], mended=True)
