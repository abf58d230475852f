"""The formats that write calls as tags like Qwen3-Coder, with other tag names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from toolsupport.core.formats.deepseek import spellings
from toolsupport.core.formats.format import Format
from toolsupport.core.formats.json_calls import JsonCalls
from toolsupport.core.formats.reply_parser import Grammar, ReaderContext
from toolsupport.core.formats.tag_calls import TaggedCalls, TagSet
from toolsupport.core.formats.tag_value import KEPT, PAIRED, written_value
from toolsupport.core.formats.writing import listed, write_results
from toolsupport.core.scanner import MarkerSet, Steps
from toolsupport.core.types import ToolCall, ToolSpec


@dataclass(frozen=True)
class XmlDialect:
    """`types`: each parameter has an attribute with whether its value is a text or JSON."""

    tags: TagSet
    types: bool = False

    def read(self, reading: ReaderContext, opener: str) -> Steps[None]:
        """Read the text after a wrapper, or a function without one; JSON if the model used the syntax of Hermes."""
        bare = opener in self.tags.functions
        if bare:
            reading.source.back_to(0)
        elif (yield from reading.source.space()) in ("{", "["):
            yield from JsonCalls(reading, self.closers, self.ends).read()
            return
        yield from TaggedCalls(reading, self.tags, bare=bare).read()

    @cached_property
    def closers(self) -> MarkerSet:
        return MarkerSet(self.tags.wrapper_ends)

    @cached_property
    def ends(self) -> MarkerSet:
        return MarkerSet([*self.tags.wrappers, *self.tags.wrapper_ends])

    def instructions(self, tools: Sequence[ToolSpec]) -> str:
        kinds = ' A text is written as it is, with string="true"; any other value as JSON, with string="false".'
        return (
            f"The functions you can call, as JSON Schema:\n{listed(tools)}\n\n"
            "To call functions, write this and nothing after it, one part for each call and each argument:\n"
            f"{self.write_calls([ToolCall('', 'the_name', {'an_argument': 'its value'})])}\n"
            f"The results come back in tool_response tags.{kinds if self.types else ''}"
        )

    def write_calls(self, calls: Sequence[ToolCall]) -> str:
        tags, inside = self.tags, "\n".join(map(self._written, calls))
        return f"{tags.wrappers[0]}\n{inside}\n{tags.wrapper_ends[0]}" if calls else ""

    def _written(self, call: ToolCall) -> str:
        lines = [self._parameter(key, value) for key, value in call.arguments.items()]
        return "\n".join([f'{self.tags.functions[0]}"{call.name}">', *lines, self.tags.function_ends[0]])

    def _parameter(self, key: str, value: object) -> str:
        kind = f' string="{"true" if isinstance(value, str) else "false"}"' if self.types else ""
        text = written_value(value)
        if self.tags.breaks != KEPT and text[:1] in ("\r", "\n"):
            text = f"\n{text}\n"
        return f'{self.tags.parameters[0]}"{key}"{kind}>{text}{self.tags.parameter_ends[0]}'

    @property
    def grammar(self) -> Grammar:
        return Grammar(dict.fromkeys((*self.tags.wrappers, *self.tags.functions), self.read))


def _format(name: str, label: str, dialect: XmlDialect) -> Format:
    return Format(name, label, dialect.grammar.parser, dialect.instructions, dialect.write_calls, write_results)


def _barred(word: str, *wrappers: str) -> XmlDialect:
    """Return tags with a word between bars before their names, in every spelling of the bars.

    DeepSeek V4.1 has a space before each name.
    """

    def tags(*names: str) -> tuple[str, ...]:
        barred = (name.replace("@", f"｜{word}｜{space}") for space in ("", " ") for name in names)
        return tuple(one for name in barred for one in spellings(name))

    return XmlDialect(
        TagSet(
            functions=tags("<@invoke name="),
            parameters=tags("<@parameter name="),
            function_ends=tags("</@invoke>"),
            parameter_ends=tags("</@parameter>"),
            wrapper_ends=tags(*(f"</@{one}>" for one in wrappers)),
            wrappers=tags(*(f"<@{one}>" for one in wrappers)),
            breaks=KEPT,
        ),
        types=True,
    )


DSML = _barred("DSML", "function_calls", "tool_calls", "calls")
GCML = _barred("GCML", "tool_calls", "function_calls")
# Prefixes of `invoke` and `parameter`: none, or the vendor's own namespace.
NAMESPACES = ("", "antml:", "minimax:", "dots:", "steptml:", "atem:")
WRAPPERS = (
    "function_calls", "antml:function_calls", "minimax:tool_call", "dots_function_call", "steptml:function_calls",
    "atem:function_calls",
)  # fmt: skip


def invoke(wrapper: str, namespace: str = "") -> XmlDialect:
    """Return the dialect that is written with this wrapper and this namespace, and reads all of them."""
    namespaces = dict.fromkeys((namespace, *NAMESPACES))
    wrappers = dict.fromkeys((wrapper, *WRAPPERS))
    return XmlDialect(
        TagSet(
            functions=tuple(f"<{one}invoke name=" for one in namespaces),
            parameters=tuple(f"<{one}parameter name=" for one in namespaces),
            function_ends=tuple(f"</{one}invoke>" for one in namespaces),
            parameter_ends=tuple(f"</{one}parameter>" for one in namespaces),
            wrapper_ends=tuple(f"</{one}>" for one in wrappers),
            wrappers=tuple(f"<{one}>" for one in wrappers),
            breaks=PAIRED,
        )
    )


INVOKE = invoke("function_calls")
FORMATS = (
    _format("deepseek_dsml", "DeepSeek DSML", DSML),
    _format("gigachat35", "GigaChat 3.5", GCML),
    _format("minimax_m2", "MiniMax M2", invoke("minimax:tool_call")),
    _format("invoke", "Invoke tags", INVOKE),
    _format("dots", "dots", invoke("dots_function_call")),
)
