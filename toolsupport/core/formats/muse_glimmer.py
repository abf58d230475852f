"""Muse Glimmer: one message per recipient; those of a tool are invoke tags in the namespace `atem`."""

from __future__ import annotations

from collections.abc import Sequence

from toolsupport.core.formats import harmony
from toolsupport.core.formats.format import Format
from toolsupport.core.formats.reply_parser import Grammar
from toolsupport.core.formats.writing import write_results
from toolsupport.core.formats.xml_dialects import invoke
from toolsupport.core.types import ToolCall, ToolSpec

ATEM = invoke("atem:function_calls", "atem:")


def instructions(tools: Sequence[ToolSpec]) -> str:
    return ATEM.instructions(tools)


def write_calls(calls: Sequence[ToolCall]) -> str:
    """Write calls without the recipients, which belong to the messages of a template."""
    return ATEM.write_calls(calls)


GRAMMAR = Grammar({**harmony.GRAMMAR.openers, **ATEM.grammar.openers}, beginning=harmony.read_begun)
FORMAT = Format("muse_glimmer", "Muse Glimmer", GRAMMAR.parser, instructions, write_calls, write_results)
