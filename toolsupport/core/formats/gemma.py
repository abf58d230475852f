"""Gemma: call:name{key:value}, with marks of their own around texts; FunctionGemma and Gemma 4 differ in the marks."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from toolsupport.core.call_building import ParsedCall, compact, finished
from toolsupport.core.formats.argument_stream import ENCODE, ArgumentStream, JsonArguments
from toolsupport.core.formats.format import Format
from toolsupport.core.formats.json_calls import CUT_OFF, TOO_DEEP, JsonCalls
from toolsupport.core.formats.lookahead import peek
from toolsupport.core.formats.premature_ends import AMBIGUOUS
from toolsupport.core.formats.reply_parser import Grammar, ReaderContext
from toolsupport.core.formats.writing import listed, write_results
from toolsupport.core.json_repair import TWO_OF_ONE_KEY, read_json
from toolsupport.core.json_scanner import DEEPEST
from toolsupport.core.scanner import MarkerSet, Steps, TextSource
from toolsupport.core.types import ToolCall, ToolSpec

CALLED = MarkerSet(["call:"])
NAME = re.compile(r"[\w.:/-]*")
KEY = re.compile(r"([{,]\s*)([^\s:{}\[\],\"']+)(\s*:)")
# Anything else after a text means that the text holds its own mark.
BEHIND_A_TEXT = re.compile(r"\s*(?:[,:}\]]|\Z)")
LONGEST_NAME = 128
UNREADABLE = "The arguments cannot be read. Write the call again, every text between its marks."


@dataclass(frozen=True)
class GemmaDialect:
    """The marks of one model."""

    opener: str
    closer: str
    quote: str

    @cached_property
    def structure(self) -> MarkerSet:
        return MarkerSet([self.quote, self.closer, *"{}[],:"])

    @cached_property
    def quotes(self) -> MarkerSet:
        return MarkerSet([self.quote])

    @cached_property
    def closers(self) -> MarkerSet:
        return MarkerSet([self.closer])

    @cached_property
    def ends(self) -> MarkerSet:
        return MarkerSet([self.opener, self.closer])

    @property
    def grammar(self) -> Grammar:
        return Grammar({self.opener: self.read})

    def read(self, reading: ReaderContext, opener: str) -> Steps[None]:
        """Read the call after the opener; if none begins, the consumed text stays in the record."""
        source = reading.source
        if (yield from source.space()) in ("{", "["):
            yield from JsonCalls(reading, self.closers, self.ends).read()
            return
        called = yield from source.found(CALLED)
        if called:
            yield from source.space()
        name = yield from source.word(NAME, LONGEST_NAME)
        # Without the word `call` only a brace right after it distinguishes a name from prose about the mark.
        if not name or (yield from (source.space() if called else peek(source))) != "{":
            return
        stream = ArgumentStream(reading.reply, reading.tools, name)
        start = source.recorded
        deepest = yield from self._object(source, JsonArguments(stream))
        written = self._written(name, source.since(start), reading.tools) if deepest else CUT_OFF
        end = source.recorded
        yield from source.space()
        if not (yield from source.closed(self.closers)):
            source.back_to(end)
        stream.done(TOO_DEEP if deepest > DEEPEST else written, source.cut(), self.quotes)

    def _object(self, source: TextSource, listener: JsonArguments) -> Steps[int]:
        """Consume everything to the last brace, or to the end mark; return its nesting depth, 0 if cut off."""
        opened: list[str] = []
        deepest = 0
        loose: list[str] = []
        while True:
            found = yield from self._to(self.structure, source, loose.append)
            mark = found.group() if found else ""
            if not mark or mark == self.closer:
                return deepest if mark else 0
            source.take(source.at + len(mark))
            bare = "".join(loose).strip()
            if '"' in bare:  # keys in the quotes of JSON: the arguments are shown when they are whole
                listener.strange()
            if bare:
                listener.bare(bare, len(opened))
            loose.clear()
            if mark == self.quote:
                if not (yield from self._text(source, listener, len(opened))):
                    return 0
                continue
            _open_or_close(mark, opened)
            deepest = max(deepest, len(opened))
            listener.mark(mark, len(opened))
            if not opened:
                return deepest

    def _text(self, source: TextSource, listener: JsonArguments, depth: int) -> Steps[bool]:
        """Consume a string between two marks; return False if the reply ends within it."""
        listener.string_began(depth)
        found = yield from self._to(self.quotes, source, lambda piece: listener.string(ENCODE(piece)[1:-1], depth))
        if found:
            source.take(source.at + len(self.quote))
            listener.string_ended(depth)
        return found is not None

    def _to(self, marks: MarkerSet, source: TextSource, put: Callable[[str], object]) -> Steps[re.Match[str] | None]:
        """Consume the text before the next of the marks, None if there is none."""
        while True:
            found = marks.search(source.buffer, source.at)
            unsure = len(source.buffer) if source.ended else marks.unsure_from(source.buffer, source.at)
            certain = found is not None and found.start() < unsure
            put(source.take(found.start() if found and certain else unsure))
            if certain or source.ended:
                return marks.search(source.buffer, source.at)
            yield

    def _written(self, name: str, text: str, tools: Sequence[ToolSpec]) -> ParsedCall:
        """Convert to JSON: strings stand between the marks, at every second place, the rest has bare keys."""
        parts = text.split(self.quote)
        if not all(map(BEHIND_A_TEXT.match, parts[2::2])):
            return ParsedCall(name, why_not=AMBIGUOUS)
        parts[::2] = [KEY.sub(r'\1"\2"\3', part) for part in parts[::2]]
        parts[1::2] = [json.dumps(part) for part in parts[1::2]]
        read = read_json("".join(parts))
        if read is None or not isinstance(read.value, dict):
            return ParsedCall(name, why_not=UNREADABLE)
        if TWO_OF_ONE_KEY in read.repairs:  # one of them may be quoted in the text of another argument
            return ParsedCall(name, why_not=AMBIGUOUS)
        return finished(name, read.value, read.repairs, tools)

    def instructions(self, tools: Sequence[ToolSpec]) -> str:
        example = self.write_calls([ToolCall("", "the_name", {"an_argument": "its value", "another": 1})])
        return (
            f"The functions you can call, as JSON Schema:\n{listed(tools)}\n\n"
            f"To call one, write this and nothing after it, once for each call:\n{example}\n"
            "The results come back in tool_response tags."
        )

    def write_calls(self, calls: Sequence[ToolCall]) -> str:
        return "".join(f"{self.opener}call:{call.name}{self._literal(call.arguments)}{self.closer}" for call in calls)

    def _literal(self, value: Any) -> str:
        if isinstance(value, dict):
            return "{" + ",".join(f"{self._key(key)}:{self._literal(one)}" for key, one in value.items()) + "}"
        if isinstance(value, list):
            return "[" + ",".join(map(self._literal, value)) + "]"
        return f"{self.quote}{value}{self.quote}" if isinstance(value, str) else compact(value)

    def _key(self, key: str) -> str:
        return key if key.isidentifier() else f"{self.quote}{key}{self.quote}"


def _open_or_close(mark: str, opened: list[str]) -> None:
    """Count brackets; a brace also closes open lists in it."""
    if mark in "{[":
        opened.append(mark)
    elif mark == "}":
        while opened.pop() != "{":
            pass
    elif mark == "]" and opened[-1] == "[":
        opened.pop()


def _format(name: str, label: str, dialect: GemmaDialect) -> Format:
    return Format(name, label, dialect.grammar.parser, dialect.instructions, dialect.write_calls, write_results)


FUNCTION_GEMMA = GemmaDialect("<start_function_call>", "<end_function_call>", "<escape>")
GEMMA_4 = GemmaDialect("<|tool_call>", "<tool_call|>", '<|"|>')
FORMATS = (
    _format("functiongemma", "FunctionGemma", FUNCTION_GEMMA),
    _format("gemma4", "Gemma 4", GEMMA_4),
)
