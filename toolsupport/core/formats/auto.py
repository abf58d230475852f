"""Any format: all marks are searched at once, and calls without a mark must name an offered tool."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

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
    react,
    solar,
    step3,
    tool_call_reader,
    tool_tags,
    xml_dialects,
)
from toolsupport.core.formats.bare_json import WRAPPERS_OF_CALLS, read_wrapped
from toolsupport.core.formats.named_json import NamedCalls
from toolsupport.core.formats.reply_parser import Grammar, Reader, ReaderContext, ReplyParser
from toolsupport.core.scanner import Steps
from toolsupport.core.types import ToolSpec

FENCE = "```"
TOOL_CODE = "```tool_code"
MARK = re.compile("<|functools")
# Openers that nothing else begins with.
UNMISTAKABLE: dict[str, Reader] = {
    **dict.fromkeys(deepseek.GRAMMAR.openers, step3.read),
    **kimi.GRAMMAR.openers,
    **kimi_k3.GRAMMAR.openers,
    **solar.GRAMMAR.openers,
    **solar.PAIR_GRAMMAR.openers,
    **minimax_m3.GRAMMAR.openers,
    **harmony.GRAMMAR.openers,
    **gemma.FUNCTION_GEMMA.grammar.openers,
    **gemma.GEMMA_4.grammar.openers,
    **other_json.PREFIXED.openers,
    **dict.fromkeys((*xml_dialects.DSML.tags.wrappers, *xml_dialects.DSML.tags.functions), xml_dialects.DSML.read),
    **dict.fromkeys(xml_dialects.GCML.tags.wrappers, xml_dialects.GCML.read),
    **dict.fromkeys(xml_dialects.INVOKE.tags.wrappers, xml_dialects.INVOKE.read),
    **dict.fromkeys(glm.LONGCAT.openers_of_calls, glm.LONGCAT.read),
    **dict.fromkeys(glm.HY.openers_of_calls, glm.HY.read),
    **dict.fromkeys(glm.K2.openers_of_calls, glm.K2.read),
    **{opener: read for row in marked_json.ROWS.values() for opener, read in row.calls.items() if MARK.search(opener)},
}


def _read_tool_calls(reading: ReaderContext, opener: str) -> Steps[None]:
    """Read a list in JSON, or the calls of Hunyuan 3 in tags."""
    character = yield from reading.source.space()
    yield from (glm.HY.read if character == "<" else marked_json.ROWS["jamba"].read)(reading, opener)


def _read_function_calls(reading: ReaderContext, opener: str) -> Steps[None]:
    """Read invoke tags, or Python."""
    character = yield from reading.source.space()
    yield from (xml_dialects.INVOKE.read if character == "<" else pythonic.read_wrapped)(reading, opener)


def _read_call_begin(reading: ReaderContext, opener: str) -> Steps[None]:
    """Read a call of Kimi or DeepSeek, whose ASCII marks are the same; the text after the name decides."""
    yield from NamedCalls(reading, CALL_BEGINS).read(opener)


# Openers that belong to several formats.
CALL_BEGINS = replace(
    kimi.MARKS,
    opens=(*kimi.MARKS.opens, *deepseek.MARKS.opens),
    behind_name=(*kimi.MARKS.behind_name, *deepseek.MARKS.behind_name),
    closes=(*kimi.MARKS.closes, *deepseek.MARKS.closes),
    kind=deepseek.MARKS.kind,
)
OF_SEVERAL: dict[str, Reader] = {
    "<tool_calls>": _read_tool_calls,
    "<function_calls>": _read_function_calls,
    kimi.CALL: _read_call_begin,
}


def parser(tools: Sequence[ToolSpec], *, thinking: bool | None = None) -> ReplyParser:
    return grammar(tools).parser(tools, thinking=thinking)


def grammar(tools: Sequence[ToolSpec]) -> Grammar:
    """Return all openers; without tools only a mark can distinguish a call from text."""
    return _grammar(tuple(tool.name for tool in tools))


@lru_cache(maxsize=128)
def _grammar(names: tuple[str, ...]) -> Grammar:
    beginning = pythonic.read_bare_line if names else None
    return Grammar(openers(names), beginning, silent=kimi_k3.AROUND)


def openers(names: Sequence[str]) -> dict[str, Reader]:
    """Return the marks of all formats, and the beginnings of calls without a mark; `names` are those of the tools."""
    bare = {
        "{": _read_json,
        "[": _read_list,
        "\n": pythonic.read_bare_line,
        **dict.fromkeys(tool_call_reader.TAGS.functions, _read_function),
        **dict.fromkeys(xml_dialects.INVOKE.tags.functions, _read_invoke),
    }
    return {
        **dict.fromkeys(WRAPPERS_OF_CALLS, read_wrapped),
        **tool_tags.openers(names),
        **mistral.openers(names),
        llama3_json.TAG: llama3_json.read_tagged,
        **dict.fromkeys(pythonic.WRAPPERS, pythonic.read_wrapped),
        **UNMISTAKABLE,
        **dict.fromkeys(tool_call_reader.WRAPPERS, tool_call_reader.read),
        **OF_SEVERAL,
        FENCE: _fence,
        **({TOOL_CODE: _read_tool_code, **bare, **react.GRAMMAR.openers} if names else {}),
    }


def _fence(reading: ReaderContext, opener: str) -> Steps[None]:
    """Treat the content of a fence as text, unless a mark announces a call."""
    reading.fenced = not reading.fenced
    yield from ()


def _read_tool_code(reading: ReaderContext, opener: str) -> Steps[None]:
    """Read the calls of Gemma; a fence of that name without calls is an ordinary fence."""
    place = reading.source.recorded
    if reading.fenced or not (yield from pythonic.read_tool_code(reading, opener)):
        reading.source.take(reading.source.at + place - reading.source.recorded)
        yield from _fence(reading, opener)


def _read_json(reading: ReaderContext, opener: str) -> Steps[None]:
    if not reading.fenced:
        yield from pure_json.read(reading, opener)


def _read_list(reading: ReaderContext, opener: str) -> Steps[None]:
    """Read a list of objects, or a Python list of calls."""
    if not reading.fenced:
        character = yield from reading.source.space()
        yield from (pure_json.read if character == "{" else pythonic.read_list_alone)(reading, opener)


def _read_function(reading: ReaderContext, opener: str) -> Steps[None]:
    if not reading.fenced:
        yield from qwen3_coder_xml.read_bare(reading, opener)


def _read_invoke(reading: ReaderContext, opener: str) -> Steps[None]:
    if not reading.fenced:
        yield from xml_dialects.INVOKE.read(reading, opener)


FORMAT = replace(hermes.FORMAT, name="auto", label="Whatever the model writes", parser=parser)
