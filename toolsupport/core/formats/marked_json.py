"""The formats that write JSON objects with a name and arguments between two marks, each a row of one table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from toolsupport.core.call_building import compact
from toolsupport.core.formats import tool_call_reader
from toolsupport.core.formats.format import Format
from toolsupport.core.formats.json_calls import JsonCalls
from toolsupport.core.formats.reply_parser import Grammar, Reader, ReaderContext
from toolsupport.core.formats.writing import listed, write_results
from toolsupport.core.scanner import MarkerSet, Steps
from toolsupport.core.types import JSON, ToolCall, ToolSpec


@dataclass(frozen=True)
class JsonMarks:
    """One format. The first opener and the first closer are those that are written; `listed` puts all calls in a list.

    `name` and `arguments` are the keys of a call, `kinds` may follow the opener, `silent` are hidden marks around text.
    `unclosed`: no closer is written, since the first opener has none.
    """

    opens: tuple[str, ...]
    closes: tuple[str, ...] = ()
    listed: bool = True
    name: str = "name"
    arguments: str = "arguments"
    kinds: tuple[str, ...] = ()
    silent: tuple[str, ...] = ()
    unclosed: bool = False

    @cached_property
    def closers(self) -> MarkerSet:
        return MarkerSet(self.closes)

    @cached_property
    def ends(self) -> MarkerSet:
        return MarkerSet([*self.opens, *self.closes])

    @cached_property
    def behind_the_opener(self) -> MarkerSet:
        return MarkerSet(self.kinds)

    def read(self, reading: ReaderContext, opener: str) -> Steps[None]:
        """Read the text after the opener: calls, or text that only mentions it."""
        if opener.endswith("{"):  # the object begins within the opener
            reading.source.back_to(len(opener) - 1)
        yield from reading.source.space()
        yield from reading.source.found(self.behind_the_opener)
        yield from JsonCalls(reading, self.closers, self.ends).read()

    def instructions(self, tools: Sequence[ToolSpec]) -> str:
        example = self._around([{self.name: "the_name", self.arguments: {"an_argument": "its value"}}])
        return (
            f"The functions you can call, as JSON Schema:\n{listed(tools)}\n\n"
            f"To call functions, write this and nothing after it{', all calls in one list' if self.listed else ''}:\n"
            f"{example}\nThe results come back in tool_response tags."
        )

    def write_calls(self, calls: Sequence[ToolCall]) -> str:
        written = [{self.name: call.name, self.arguments: call.arguments} for call in calls]
        return self._around(written) if calls else ""

    def _around(self, objects: Sequence[JSON]) -> str:
        opener, closer = self.opens[0] + "".join(self.kinds[:1]), "".join(self.closes[: not self.unclosed])
        bodies = [compact(objects)] if self.listed else [compact(one) for one in objects]
        return "\n".join(f"{opener}{body}{closer}" for body in bodies)

    @property
    def calls(self) -> dict[str, Reader]:
        """Return the openers with their readers; one shared by several formats has a reader of its own."""
        common = tool_call_reader.HERMES
        return {opener: tool_call_reader.read if opener in common else self.read for opener in self.opens}

    @property
    def grammar(self) -> Grammar:
        return Grammar(self.calls, silent=self.silent)


def _format(name: str, label: str) -> Format:
    marks = ROWS[name]
    return Format(name, label, marks.grammar.parser, marks.instructions, marks.write_calls, write_results)


# The form on the model's own page; its templates on servers have a word before it.
PHI, PHI_END = "<|tool_call|>", "<|/tool_call|>"
AROUND_WORDS = ("<|START_RESPONSE|>", "<|END_RESPONSE|>", "<|START_TEXT|>", "<|END_TEXT|>")
ROWS = {
    "granite": JsonMarks(("<|tool_call|>", "<tool_call>"), ("</tool_call>", PHI_END)),
    "granite_20b_fc": JsonMarks(("<function_call>",), ("</function_call>",), listed=False),
    "command_r7b": JsonMarks(
        ("<|START_ACTION|>",),
        ("<|END_ACTION|>",),
        name="tool_name",
        arguments="parameters",
        silent=AROUND_WORDS,
    ),
    "command_r_plus": JsonMarks(
        ("Action: ```json\n", "Action:"), ("\n```", "```"), name="tool_name", arguments="parameters"
    ),
    "nemotron_toolcall": JsonMarks(("<TOOLCALL>",), ("</TOOLCALL>",)),
    "jamba": JsonMarks(("<tool_calls>",), ("</tool_calls>",)),
    "phi4_mini": JsonMarks(("functools", PHI), (PHI_END,), unclosed=True),
    "firefunction": JsonMarks(("functools",)),
    "internlm2": JsonMarks(
        ("<|action_start|>",), ("<|action_end|>",), listed=False, arguments="parameters", kinds=("<|plugin|>",)
    ),
}
# GigaChat ends its words with a mark before it calls, and each call with the same. Some servers drop
# `<|role_sep|>`.
ROWS["gigachat3"] = JsonMarks(
    ("<|function_call|>", "function call<|role_sep|>", "function call{"),
    ("<|message_sep|>",),
    listed=False,
    silent=("<|message_sep|>",),
)
# The same marks under another name.
ROWS |= {"hunyuan_a13b": ROWS["jamba"], "nemotron_v2": ROWS["nemotron_toolcall"]}
LABELS = {
    "granite": "Granite",
    "granite_20b_fc": "Granite 20B",
    "command_r7b": "Command R7B",
    "command_r_plus": "Command R+",
    "nemotron_toolcall": "Nemotron",
    "jamba": "Jamba",
    "phi4_mini": "Phi-4 mini",
    "internlm2": "InternLM 2",
    "hunyuan_a13b": "Hunyuan A13B",
    "nemotron_v2": "Nemotron Nano 2",
    "firefunction": "FireFunction",
    "gigachat3": "GigaChat 3",
}
FORMATS = tuple(_format(name, label) for name, label in LABELS.items())
