"""DeepSeek: calls between marks with wide bars; V3 writes a type and a fence, V3.1 only the name and the JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from toolsupport.core.call_building import compact
from toolsupport.core.formats.format import Format
from toolsupport.core.formats.named_json import NamedCalls, NamedMarks
from toolsupport.core.formats.reply_parser import Grammar, ReaderContext
from toolsupport.core.formats.writing import listed, write_results
from toolsupport.core.scanner import Steps
from toolsupport.core.types import ToolCall, ToolSpec


def spellings(mark: str) -> Iterator[str]:
    """Return the spellings with the model's own characters, and with ASCII for either or both of them."""
    plain = mark.replace("▁", "_")
    yield from dict.fromkeys((mark, plain.replace("｜", "|"), plain, mark.replace("｜", "|")))


BEGIN, END = "<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>"
CALL, CALL_END, SEPARATOR = "<｜tool▁call▁begin｜>", "<｜tool▁call▁end｜>", "<｜tool▁sep｜>"
KIND = f"function{SEPARATOR}"
MARKS = NamedMarks(
    opens=tuple(spellings(CALL)),
    behind_name=(*spellings(SEPARATOR), "\n"),
    closes=tuple(spellings(CALL_END)),
    block_opens=tuple(spellings(BEGIN)),
    block_closes=tuple(spellings(END)),
    kind=tuple(spellings(KIND)),
)


def read(reading: ReaderContext, opener: str) -> Steps[None]:
    """Read the text after the beginning of a block, or of a single call."""
    yield from NamedCalls(reading, MARKS).read(opener)


def instructions(tools: Sequence[ToolSpec], *, fenced: bool) -> str:
    return (
        f"The functions you can call, as JSON Schema:\n{listed(tools)}\n\n"
        "To call one, write this and nothing after it, one part for each call:\n"
        f'{BEGIN}{_written("the_name", """{"an_argument": "its value"}""", fenced=fenced)}{END}\n'
        "The results come back in tool_response tags."
    )


def write_calls(calls: Sequence[ToolCall], *, fenced: bool) -> str:
    inside = "".join(_written(call.name, compact(call.arguments), fenced=fenced) for call in calls)
    return f"{BEGIN}{inside}{END}" if calls else ""


def _written(name: str, arguments: str, *, fenced: bool) -> str:
    if fenced:
        return f"{CALL}{KIND}{name}\n```json\n{arguments}\n```{CALL_END}"
    return f"{CALL}{name}{SEPARATOR}{arguments}{CALL_END}"


def _format(name: str, label: str, *, fenced: bool) -> Format:
    taught, written = partial(instructions, fenced=fenced), partial(write_calls, fenced=fenced)
    return Format(name, label, GRAMMAR.parser, taught, written, write_results)


OPENERS = (*MARKS.block_opens, *MARKS.opens)
GRAMMAR = Grammar(dict.fromkeys(OPENERS, read))
FORMATS = (
    _format("deepseek_v3", "DeepSeek V3", fenced=True),
    _format("deepseek_v31", "DeepSeek V3.1", fenced=False),
)
