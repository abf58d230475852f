"""Any format: all marks are looked for at once, and what no mark announces must bear the name of an offered tool."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from toolsupport.core.formats import (
    deepseek,
    gemma,
    glm,
    harmony,
    hermes,
    kimi,
    kimi_k3,
    llama3_json,
    marked_json,
    minimax_m3,
    mistral,
    other_json,
    pure_json,
    pythonic,
    qwen3_coder_xml,
    xml_dialects,
)
from toolsupport.core.formats.reading import Grammar, Reader, Reading, ReplyParser
from toolsupport.core.scanner import Steps
from toolsupport.core.words import ToolSpec

FENCE = "```"
# Openers that nothing else begins with.
UNMISTAKABLE: dict[str, Reader] = {
    **deepseek.GRAMMAR.openers,
    **kimi.GRAMMAR.openers,
    **kimi_k3.GRAMMAR.openers,
    **minimax_m3.GRAMMAR.openers,
    **harmony.GRAMMAR.openers,
    **gemma.FUNCTION_GEMMA.grammar.openers,
    **gemma.GEMMA_4.grammar.openers,
    **other_json.PREFIXED.openers,
    **dict.fromkeys(xml_dialects.DSML.tags.wrappers, xml_dialects.DSML.read),
    **dict.fromkeys(xml_dialects.MINIMAX.tags.wrappers, xml_dialects.MINIMAX.read),
    **{opener: marks.read for marks in marked_json.ROWS.values() for opener in marks.opens if opener[0] == "<"},
}


def parser(tools: Sequence[ToolSpec], *, thinking: bool | None = None) -> ReplyParser:
    return grammar(tools).parser(tools, thinking=thinking)


def grammar(tools: Sequence[ToolSpec]) -> Grammar:
    """All openers; without tools no call can be told from text unless a mark announces it."""
    return Grammar(openers(tools), beginning=pythonic.read_bare_line if tools else None)


def openers(tools: Sequence[ToolSpec]) -> dict[str, Reader]:
    """`<tool_call>` belongs to Hermes, to Qwen's tags and to GLM's; what stands behind it decides."""
    bare = {
        "{": _read_json,
        "[": _read_list,
        "\n": pythonic.read_bare_line,
        **dict.fromkeys(qwen3_coder_xml.TAGS.functions, _read_function),
    }
    return {
        **hermes.GRAMMAR.openers,
        **mistral.openers(tools),
        llama3_json.TAG: llama3_json.read_tagged,
        **dict.fromkeys(qwen3_coder_xml.WRAPPERS, qwen3_coder_xml.read),
        **dict.fromkeys(pythonic.WRAPPERS, pythonic.read_wrapped),
        **UNMISTAKABLE,
        glm.OPENER: _read_tool_call,
        FENCE: _fence,
        **(bare if tools else {}),
    }


def _read_tool_call(reading: Reading, opener: str) -> Steps[None]:
    character = yield from reading.source.space()
    named = bool(character) and character not in "<{[`"
    yield from (glm.read_named(reading) if named else qwen3_coder_xml.read(reading, opener))


def _fence(reading: Reading, opener: str) -> Steps[None]:
    """What stands in a fence is shown, not called, unless a mark announces it."""
    reading.fenced = not reading.fenced
    yield from ()


def _read_json(reading: Reading, opener: str) -> Steps[None]:
    if not reading.fenced:
        yield from pure_json.read(reading, opener)


def _read_list(reading: Reading, opener: str) -> Steps[None]:
    """A list of objects, or a list of calls as Python writes them."""
    if not reading.fenced:
        character = yield from reading.source.space()
        yield from (pure_json.read if character == "{" else pythonic.read_list_alone)(reading, opener)


def _read_function(reading: Reading, opener: str) -> Steps[None]:
    if not reading.fenced:
        yield from qwen3_coder_xml.read_bare(reading, opener)


FORMAT = replace(hermes.FORMAT, name="auto", label="Whatever the model writes", parser=parser)
