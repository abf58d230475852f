"""Qwen3-Coder: <function=name> with one <parameter=key> for each value, in <tool_call> tags."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from toolsupport.core.formats.format import Format
from toolsupport.core.formats.reply_parser import Grammar, ReaderContext
from toolsupport.core.formats.tag_calls import TaggedCalls
from toolsupport.core.formats.tag_value import inline_value, written_value
from toolsupport.core.formats.tool_call_reader import SEED, SEED_TAGS, TAGS, WRAPPERS, read
from toolsupport.core.formats.writing import listed, write_results
from toolsupport.core.scanner import Steps
from toolsupport.core.types import ToolCall, ToolSpec


def read_bare(reading: ReaderContext, opener: str) -> Steps[None]:
    """Read a function without a wrapper: a call only under an offered name."""
    reading.source.back_to(0)
    yield from TaggedCalls(reading, TAGS, bare=True).read()


def read_bare_seed(reading: ReaderContext, opener: str) -> Steps[None]:
    """Read the same in Seed's spelling."""
    reading.source.back_to(0)
    yield from TaggedCalls(reading, SEED_TAGS, bare=True).read()


def instructions(tools: Sequence[ToolSpec]) -> str:
    return (
        f"The functions you can call, as JSON Schema:\n<tools>\n{listed(tools)}\n</tools>\n\n"
        "To call one, write this and nothing after it, one parameter element for each argument, the value as it is:\n"
        "<tool_call>\n<function=the_name>\n<parameter=an_argument>\n"
        "its value\n</parameter>\n</function>\n</tool_call>\n"
        "The results come back in tool_response tags."
    )


def write_calls(calls: Sequence[ToolCall]) -> str:
    return "\n".join(map(_written, calls))


def write_seed_calls(calls: Sequence[ToolCall]) -> str:
    return "\n".join(map(_written_for_seed, calls))


def seed_instructions(tools: Sequence[ToolSpec]) -> str:
    return instructions(tools).replace("tool_call>", "seed:tool_call>").replace("\nits value\n", "its value")


def _written(call: ToolCall) -> str:
    values = "".join(
        f"<parameter={key}>\n{written_value(value)}\n</parameter>\n" for key, value in call.arguments.items()
    )
    return f"<tool_call>\n<function={call.name}>\n{values}</function>\n</tool_call>"


def _written_for_seed(call: ToolCall) -> str:
    values = "".join(f"<parameter={key}>{inline_value(value)}</parameter>\n" for key, value in call.arguments.items())
    return f"{SEED}\n<function={call.name}>\n{values}</function>\n</seed:tool_call>"


GRAMMAR = Grammar({**dict.fromkeys(WRAPPERS, read), **dict.fromkeys(TAGS.functions, read_bare)})
FORMAT = Format("qwen3_coder_xml", "Qwen3-Coder XML", GRAMMAR.parser, instructions, write_calls, write_results)
SEED_GRAMMAR = Grammar({**dict.fromkeys(WRAPPERS, read), **dict.fromkeys(TAGS.functions, read_bare_seed)})
SEED_FORMAT = replace(
    FORMAT,
    name="seed_oss",
    label="Seed-OSS XML",
    parser=SEED_GRAMMAR.parser,
    instructions=seed_instructions,
    write_calls=write_seed_calls,
)
