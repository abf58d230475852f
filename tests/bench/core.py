"""The price of the small steps that every answer takes, each beside what is promised for it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from statistics import median

import django
from django.conf import settings

from tests.bench.upstream import line
from tests.bench.verdicts import Line, Promise

LINES = 2000
TOOLS = 200
SEARCHED = 1000
PIECE = 4
SIZES = (1000, 4000, 16_000, 64_000)  # characters of a call
PROSE = "A paragraph of an ordinary answer goes on like this, with a word or two in **bold**, and then it ends. " * 4
MARKDOWN = f"{PROSE}\n\n## A heading\n\nSome *text* with `code` and a [link](https://example.org).\n\n- one\n- two\n\n"
CODE = "```python\ndef f(x):\n    return x + 1\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n"


@dataclass(frozen=True)
class Step:
    """`prepare` gives what is timed; one run of it does `pieces` of work, each to take `most` microseconds."""

    name: str
    prepare: Callable[[], Callable[[], object]]
    pieces: int
    most: float


def codec() -> Callable[[], object]:
    from toolsupport.providers import codec

    lines = [line("fake", f"word{number} ") for number in range(LINES)]

    def run() -> None:
        reader = codec("ollama")
        for one in lines:
            reader.feed(one)

    return run


def family() -> Callable[[], object]:
    from toolsupport.core.families import find

    numbers = count()
    return lambda: find(f"hf.co/person{next(numbers)}/Qwen2.5-Coder-7B-Instruct-GGUF:Q4_K_M")


def request_spec() -> Callable[[], object]:
    """All that a request needs: what is known, which tools, and the text that tells of them."""
    from toolsupport.core import prompt
    from toolsupport.core.families import find
    from toolsupport.core.resolve import resolve
    from toolsupport.core.tool_selection import Candidate, ToolPreferences, choose
    from toolsupport.core.types import ChatMessage, RequestSpec, Role, ToolSpec

    waiting = [Candidate(ToolSpec(f"wiki_{number}"), kind="mcp", server="wiki") for number in range(TOOLS // 2)]
    own = [Candidate(ToolSpec(f"tool_{number}", "Does one thing.")) for number in range(TOOLS - len(waiting))]
    asked = [ChatMessage(Role.USER, "What is in this folder?")]

    def run() -> object:
        known = resolve(find("qwen3:8b"), [], "build")
        chosen = choose(known, [*own, *waiting], ToolPreferences())
        made = RequestSpec("qwen3:8b", known, chosen.tools, chosen.excluded, chosen.format, system="Be brief.")
        return prompt.messages(made, asked), prompt.options(made, asked)

    return run


def search() -> Callable[[], object]:
    from tests.data.public_tools import questions, tools
    from toolsupport.core.tool_index import IndexEntry, ToolIndex, entry_of

    found = [entry_of(spec) for spec in tools()]
    index = ToolIndex([IndexEntry(f"{number}.{one.name}", one.text) for number in range(3) for one in found][:SEARCHED])
    asked = [query for query, _ in questions()]
    numbers = count()
    return lambda: index.find(asked[next(numbers) % len(asked)], 10)


def markdown() -> Callable[[], object]:
    from toolsupport.rendering.messages import render

    numbers = count()
    return lambda: render((MARKDOWN + CODE) * 20 + str(next(numbers)))


def frame() -> Callable[[], object]:
    from chat.broadcast.frames import TextDeltaFrame

    return lambda: TextDeltaFrame(1, 0, "some words of an answer ").render()


def call_in(name: str, characters: int) -> str:
    """A reply in that format whose one call writes a file of about so many characters."""
    from toolsupport.core.formats import FORMATS
    from toolsupport.core.types import ToolCall

    content = "A line of code, x = 1\n" * (characters // 22)
    return FORMATS[name].write_calls([ToolCall("call_1", "write_file", {"path": "a.py", "content": content})])


def format_step(name: str, characters: int) -> Step:
    """Read a call in pieces of four characters, counted for each character."""
    asked = name if name != "auto" else "hermes"

    def prepare() -> Callable[[], object]:
        from toolsupport.core.formats import parser
        from toolsupport.core.types import ToolSpec

        text = {"type": "string"}
        tool = ToolSpec("write_file", "", {"type": "object", "properties": {"path": text, "content": text}})
        reply = call_in(asked, characters)
        pieces = [reply[at : at + PIECE] for at in range(0, len(reply), PIECE)]

        def run() -> None:
            reader = parser(name, [tool])
            for piece in pieces:
                reader.feed(piece)
            reader.flush()

        return run

    return Step(name, prepare, len(call_in(asked, characters)), 2)


def slowest_format(characters: int) -> Line:
    """Measure all formats with a call of this size, and print each; the line has the slowest."""
    from toolsupport.core.formats import FORMATS

    size, spent = f"read a character of {characters // 1000} kB", dict[str, float]()
    steps = [format_step(name, characters) for name in FORMATS if name != "code_mode"]
    for step in steps:
        spent[step.name] = microseconds(step.prepare(), step.pieces)
        print(f"{size} in {step.name}: {spent[step.name]:.2f} µs", flush=True)
    name = max(spent, key=spent.__getitem__)
    figure = f"{size} (slowest: {name}), µs"
    return Line("one step", Promise(figure, steps[0].most), spent[name])


STEPS = (
    Step("read one line of Ollama's answer", codec, LINES, 20),
    Step("find a model's family", family, 1, 50),
    Step("make a brief with 200 tools", request_spec, 1, 2000),
    Step("search 1,000 tools by words", search, 1, 2000),
    Step("render 1 kB of Markdown", markdown, round(len(MARKDOWN + CODE) * 20 / 1000), 3000),
    Step("write one text frame", frame, 1, 20),
)


def microseconds(run: Callable[[], object], pieces: int) -> float:
    """The median time of the processor for one piece, over runs of about half a second; others may be at work here."""
    run()
    times: list[float] = []
    while sum(times) < 0.5 or len(times) < 5:
        start = time.process_time()
        run()
        times.append(time.process_time() - start)
    return median(times) / pieces * 1e6


def main() -> list[Line]:
    """The lines of the table."""
    if not settings.configured:
        settings.configure()
        django.setup()
    lines = []
    for step in STEPS:
        spent = microseconds(step.prepare(), step.pieces)
        lines.append(Line("one step", Promise(f"{step.name}, µs", step.most), spent))
    return [*lines, *map(slowest_format, SIZES)]
