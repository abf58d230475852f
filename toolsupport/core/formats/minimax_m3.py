"""MiniMax M3: tags after a mark that no text contains, each argument in a tag of its own name."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from toolsupport.core.call_building import ParsedCall, finished, schema_of
from toolsupport.core.coercion import resolved, types
from toolsupport.core.formats.argument_stream import TEXT, ArgumentStream
from toolsupport.core.formats.format import Format
from toolsupport.core.formats.json_calls import CUT_OFF, TOO_DEEP
from toolsupport.core.formats.reply_parser import Grammar, ReaderContext
from toolsupport.core.formats.tag_calls import NO_PARAMETERS, TWICE, UNCLEAR
from toolsupport.core.formats.tag_value import written_value
from toolsupport.core.formats.writing import listed, write_results
from toolsupport.core.json_repair import END_ADDED
from toolsupport.core.json_scanner import DEEPEST
from toolsupport.core.scanner import MarkerSet, Steps
from toolsupport.core.text_values import from_text
from toolsupport.core.tool_lookup import find_tool
from toolsupport.core.types import JSON, ToolCall, ToolSpec

MARK = "]<]minimax[>["
BLOCK, BLOCK_END = f"{MARK}<tool_call>", f"{MARK}</tool_call>"
CALL, CALL_END = f"{MARK}<invoke name=", f"{MARK}</invoke>"
MARKS, CALLS = MarkerSet([MARK]), MarkerSet([CALL])
BLOCK_ENDS, CALL_ENDS = MarkerSet([BLOCK_END]), MarkerSet([CALL_END])
# Marks that end a call whose own end is missing.
BEHIND_A_CALL = MarkerSet([BLOCK, BLOCK_END, CALL])
TAG_BEGINS, TAG_ENDS = MarkerSet(["<"]), MarkerSet([">"])
NAME = re.compile(r"[^<>\n]*")
LONGEST_NAME = 128


@dataclass(slots=True)
class ArgumentNode:
    """An argument, or a part of one: text, or parts."""

    key: str
    text: list[str] = field(default_factory=list)
    parts: list[ArgumentNode] = field(default_factory=list)


def read(reading: ReaderContext, opener: str) -> Steps[None]:
    """Read the calls of a block, or one alone; if none begins, the text stays in the record."""
    source, bare = reading.source, opener == CALL
    if bare:
        source.back_to(0)
    while True:
        yield from source.space()
        if not (yield from source.found(CALLS)):
            return
        name = (yield from source.word(NAME, LONGEST_NAME)).strip().strip("\"'")
        if not (yield from source.found(TAG_ENDS)) or not name:
            return
        call = _TreeCall(reading, name)
        yield from call.read()
        end = source.recorded
        yield from source.space()
        closed = not bare and (yield from source.closed(BLOCK_ENDS))
        if not closed and (bare or not (yield from source.marker(CALLS))):
            source.back_to(end)
        call.report(source.cut())
        if bare or closed:
            return


class _TreeCall:
    """One call: a tree of tags."""

    def __init__(self, reading: ReaderContext, name: str) -> None:
        self._reading = reading
        self._stream = ArgumentStream(reading.reply, reading.tools, name)
        self._spec = find_tool(name, reading.tools)
        self._root = self._spec.parameters if self._spec else {}
        self._open: list[ArgumentNode] = [ArgumentNode("")]
        self._repairs: list[str] = []
        self._broken: ParsedCall | None = None
        self._showing = False

    def read(self) -> Steps[None]:
        """Read everything up to the end of the call."""
        source = self._reading.source
        while True:
            found = MARKS.search(source.buffer, source.at)
            unsure = len(source.buffer) if source.ended else MARKS.unsure_from(source.buffer, source.at)
            self._text(source.take(found.start() if found else unsure))
            if found:
                if (yield from self._ends_here()):
                    return
                yield from self._tag()
            elif source.ended:
                self._broken = CUT_OFF
                return
            else:
                yield

    def report(self, raw: str) -> None:
        root = self._open[0]
        if "".join(root.text).strip():
            self._broken = self._broken or NO_PARAMETERS
        ends = MarkerSet(f"{MARK}</{node.key}>" for node in root.parts)
        self._stream.done(self._broken or self._whole(root), raw, ends)

    def _whole(self, root: ArgumentNode) -> ParsedCall:
        arguments = {key: self._value(key, nodes) for key, nodes in members(root.parts).items()}
        return finished(self._stream.name, arguments, tuple(dict.fromkeys(self._repairs)), self._reading.tools)

    def _ends_here(self) -> Steps[bool]:
        """Return whether the call ends at this mark, by its own end or because something else begins."""
        closed = yield from self._reading.source.closed(CALL_ENDS)
        if not closed and not (yield from self._reading.source.marker(BEHIND_A_CALL)):
            return False
        if not closed or len(self._open) > 1:
            self._repairs.append(END_ADDED)
        while len(self._open) > 1:
            self._close()
        return True

    def _tag(self) -> Steps[None]:
        """Read one tag after its mark; anything else is text."""
        source = self._reading.source
        start = source.recorded
        yield from source.found(MARKS)
        begun = yield from source.found(TAG_BEGINS)
        name = (yield from source.word(NAME, LONGEST_NAME)) if begun else ""
        if not name.strip("/ ") or not (yield from source.found(TAG_ENDS)):
            self._text(source.since(start))
        elif name.startswith("/"):
            self._close_named(name[1:].strip())
        else:
            self._begin(name.strip())

    def _begin(self, key: str) -> None:
        written = self._open[0].parts
        known = any(part.key == key for part in written)
        if len(self._open) == 1 and not known and not self._broken:
            self._show_last()
        self._open.append(ArgumentNode(key))
        if len(self._open) > DEEPEST:
            self._broken = TOO_DEEP
        elif len(self._open) == 2 and not known and self._stream.takes_text(key):
            self._showing = True
            self._stream.key(key)
            self._stream.text_begins()

    def _show_last(self) -> None:
        """Stream the argument before this one; a list is complete only when another argument begins."""
        for key, nodes in list(members(self._open[0].parts).items())[-1:]:
            if not self._stream.has(key):
                self._stream.value(key, self._value(key, nodes))

    def _close_named(self, key: str) -> None:
        """Close the tag of that name with its contents; an end without a beginning is dropped."""
        if all(node.key != key for node in self._open[1:]):
            self._repairs.append("left out an end without a beginning")
            if any(part.key == key for part in self._open[0].parts):  # the text before it may belong to its value
                self._broken = self._broken or UNCLEAR
            return
        while self._open[-1].key != key:
            self._repairs.append(END_ADDED)
            self._close()
        self._close()

    def _close(self) -> None:
        node = self._open.pop()
        above = self._open[-1].parts
        known = len(self._open) == 1 and any(part.key == node.key for part in above)
        if known and not (above[-1].key == node.key and self._may_be_a_list(node.key)):
            self._stream.stop()
            self._repairs.append(TWICE)
            return
        above.append(node)
        if self._showing and len(self._open) == 1:
            self._showing = False
            self._stream.text_ends()

    def _may_be_a_list(self, key: str) -> bool:
        schema = schema_of(key, self._spec)
        return schema is not None and "array" in types(schema, self._root)

    def _text(self, piece: str) -> None:
        if not piece:
            return
        self._open[-1].text.append(piece)
        if self._showing and len(self._open) == 2:
            self._stream.text(piece)

    def _value(self, key: str, nodes: Sequence[ArgumentNode]) -> Any:
        return value_of(nodes, schema_of(key, self._spec), self._root, self._repairs)


def members(parts: Sequence[ArgumentNode]) -> dict[str, list[ArgumentNode]]:
    """Return the parts by key, in order of first appearance."""
    found: dict[str, list[ArgumentNode]] = {}
    for part in parts:
        found.setdefault(part.key, []).append(part)
    return found


def value_of(nodes: Sequence[ArgumentNode], schema: Mapping[str, Any] | None, root: JSON, repairs: list[str]) -> Any:
    """Return the value of a tag. Several of one name are a list; if the schema has no list, the first one counts."""
    node = nodes[0]
    allowed = types(schema, root) if schema is not None else TEXT
    text = "".join(node.text)
    if len(nodes) > 1 and (schema is None or "array" in allowed):
        items = resolved(schema, root).get("items")
        return [value_of([one], items, root, repairs) for one in nodes]
    if len(nodes) > 1:
        repairs.append(TWICE)
    if not node.parts:
        return text if allowed == TEXT else from_text(text, allowed)
    schema = resolved(schema, root)
    if "array" in allowed and "object" not in allowed:
        return [value_of([part], schema.get("items"), root, repairs) for part in node.parts]
    inner = schema.get("properties") or {}
    return {key: value_of(group, inner.get(key), root, repairs) for key, group in members(node.parts).items()}


def instructions(tools: Sequence[ToolSpec]) -> str:
    example = write_calls([ToolCall("", "the_name", {"an_argument": "its value"})])
    return (
        f"The functions you can call, as JSON Schema:\n{listed(tools)}\n\n"
        "To call functions, write this and nothing after it, one part for each call and a tag named like each"
        f" argument; a text is written as it is, any other value as JSON:\n{example}\n"
        "The results come back in tool_response tags."
    )


def write_calls(calls: Sequence[ToolCall]) -> str:
    return "\n".join([BLOCK, *map(_written, calls), BLOCK_END]) if calls else ""


def _written(call: ToolCall) -> str:
    inside = [f"{MARK}<{key}>{written_value(value)}{MARK}</{key}>" for key, value in call.arguments.items()]
    return "\n".join([f'{CALL}"{call.name}">', *inside, CALL_END])


GRAMMAR = Grammar({BLOCK: read, CALL: read})
FORMAT = Format("minimax_m3", "MiniMax M3", GRAMMAR.parser, instructions, write_calls, write_results)
