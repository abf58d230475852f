"""The formats that write calls as tags like Qwen3-Coder, under other names for the tags."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from toolsupport.core.formats.deepseek import spellings
from toolsupport.core.formats.format import Format
from toolsupport.core.formats.reading import Grammar, Reading
from toolsupport.core.formats.tag_value import written_value
from toolsupport.core.formats.tags import TaggedCalls, Tags
from toolsupport.core.formats.writing import blocks, listed
from toolsupport.core.scanner import Steps
from toolsupport.core.words import Message, ToolCall, ToolSpec


@dataclass(frozen=True)
class Dialect:
    """`types` says that each parameter tells whether its value is a text or JSON."""

    tags: Tags
    types: bool = False

    def read(self, reading: Reading, opener: str) -> Steps[None]:
        """What follows a wrapper, or a function without one."""
        bare = opener in self.tags.functions
        if bare:
            reading.source.back_to(0)
        yield from TaggedCalls(reading, self.tags, bare=bare).read()

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
        if not self.tags.exact and text != text.strip("\r\n"):
            text = f"\n{text}\n"
        return f'{self.tags.parameters[0]}"{key}"{kind}>{text}{self.tags.parameter_ends[0]}'

    @property
    def grammar(self) -> Grammar:
        return Grammar(dict.fromkeys((*self.tags.wrappers, *self.tags.functions), self.read))


def write_results(results: Sequence[Message]) -> str:
    return blocks(results, "<tool_response>", "</tool_response>")


def _format(name: str, label: str, dialect: Dialect) -> Format:
    return Format(name, label, dialect.grammar.parser, dialect.instructions, dialect.write_calls, write_results)


def _dsml(tag: str) -> tuple[str, ...]:
    return tuple(spellings(tag.replace("@", "｜DSML｜")))


DSML = Dialect(
    Tags(
        functions=_dsml("<@invoke name="),
        parameters=_dsml("<@parameter name="),
        function_ends=_dsml("</@invoke>"),
        parameter_ends=_dsml("</@parameter>"),
        wrapper_ends=(*_dsml("</@function_calls>"), *_dsml("</@tool_calls>")),
        wrappers=(*_dsml("<@function_calls>"), *_dsml("<@tool_calls>")),
        exact=True,
    ),
    types=True,
)
MINIMAX = Dialect(
    Tags(
        functions=("<invoke name=",),
        parameters=("<parameter name=",),
        function_ends=("</invoke>",),
        parameter_ends=("</parameter>",),
        wrapper_ends=("</minimax:tool_call>",),
        wrappers=("<minimax:tool_call>",),
    )
)
FORMATS = (_format("deepseek_dsml", "DeepSeek DSML", DSML), _format("minimax_m2", "MiniMax M2", MINIMAX))
