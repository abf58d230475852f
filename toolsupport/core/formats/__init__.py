"""The formats in which models write calls as text, in order of preference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from toolsupport.core.formats import (
    auto,
    code_mode,
    deepseek,
    forced_json,
    functionary,
    gemma,
    glm,
    harmony,
    hermes,
    kimi,
    kimi_k3,
    llama3_json,
    marked_json,
    minicpm5,
    minimax_m3,
    mistral,
    muse_glimmer,
    other_json,
    pure_json,
    python_variants,
    qwen3_coder_xml,
    react,
    solar,
    step3,
    tool_tags,
    xml_dialects,
)
from toolsupport.core.formats.format import Format, Parser
from toolsupport.core.formats.reply_parser import Grammar, ReplyParser
from toolsupport.core.types import ToolSpec

_ALL = (
    hermes.FORMAT,
    mistral.FORMAT,
    mistral.JSON_FORMAT,
    mistral.ARGS_FORMAT,
    *python_variants.FORMATS,
    pure_json.FORMAT,
    llama3_json.FORMAT,
    qwen3_coder_xml.FORMAT,
    code_mode.FORMAT,
    *glm.FORMATS,
    *deepseek.FORMATS,
    *xml_dialects.FORMATS,
    step3.FORMAT,
    muse_glimmer.FORMAT,
    minicpm5.FORMAT,
    minimax_m3.FORMAT,
    kimi.FORMAT,
    kimi_k3.FORMAT,
    *solar.FORMATS,
    harmony.FORMAT,
    qwen3_coder_xml.SEED_FORMAT,
    *gemma.FORMATS,
    *functionary.FORMATS,
    *marked_json.FORMATS,
    *other_json.FORMATS,
    react.FORMAT,
    tool_tags.FORMAT,
    forced_json.FORMAT,
    auto.FORMAT,
)
FORMATS: Mapping[str, Format] = MappingProxyType({one.name: one for one in _ALL})

# Names in the family table of formats that another format also reads.
ALIASES: Mapping[str, str] = MappingProxyType(
    {
        "mistral_name_json": "mistral_args",
        "function_invocation": "qwen3_coder_xml",
        "json_fence": "pure_json",
        "python_tag_call": "llama3_json",
    }
)


PLAIN = Grammar({})


def parser(name: str, tools: Sequence[ToolSpec], *, thinking: bool | None = None) -> ReplyParser:
    """Return a parser for one reply.

    `thinking`: the reply begins inside reasoning (None: unknown). "native" and "" parse only reasoning. Raises
    KeyError.
    """
    if name in ("", "native"):
        return PLAIN.parser((), thinking=thinking)
    return FORMATS[ALIASES.get(name, name)].parser(tools, thinking=thinking)


__all__ = ["ALIASES", "FORMATS", "Format", "Parser", "parser"]
