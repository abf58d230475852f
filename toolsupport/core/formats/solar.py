"""Solar Open of Upstage: a name and JSON between marks; version 2 writes marks around each key and value."""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType

from toolsupport.core.call_building import compact
from toolsupport.core.formats.format import Format
from toolsupport.core.formats.key_value_tags import PairTagSet
from toolsupport.core.formats.named_json import NamedCalls, NamedMarks
from toolsupport.core.formats.reply_parser import Grammar, ReaderContext
from toolsupport.core.formats.writing import listed, write_results
from toolsupport.core.scanner import Steps
from toolsupport.core.types import ToolCall, ToolSpec

CALLS, CALLS_END = "<|tool_calls|>", "<|calls|>"
CALL, CALL_END = "<|tool_call:begin|>", "<|tool_call:end|>"
NAME, ARGUMENTS = "<|tool_call:name|>", "<|tool_call:args|>"
TURN = "<|begin|>assistant"
MARKS = NamedMarks(
    opens=(CALL,),
    behind_name=(ARGUMENTS,),
    closes=(CALL_END,),
    # The calls are a turn of their own, behind one of words.
    block_opens=(CALLS, f"{TURN}{CALLS}", f"<|end|>{TURN}{CALLS}"),
    block_closes=(CALLS_END,),
    behind_id=(NAME,),
)
PAIRS = PairTagSet(
    written=MappingProxyType(
        {
            "tool_call": "<|tool_call:start|>",
            "/tool_call": CALL_END,
            "arg_key": "<|tool_arg:start|>",
            "/arg_key": "",
            "arg_value": "<|tool_arg:value|>",
            "/arg_value": "<|tool_arg:end|>",
        }
    )
)


def read(reading: ReaderContext, opener: str) -> Steps[None]:
    """Read the text after the beginning of a turn of calls, or of a single call."""
    yield from NamedCalls(reading, MARKS).read(opener)


def instructions(tools: Sequence[ToolSpec]) -> str:
    return (
        f"The functions you can call, as JSON Schema:\n{listed(tools)}\n\n"
        "To call one, write this and nothing after it, one part for each call, with a number of its own:\n"
        f'{CALLS}{CALL}0{NAME}the_name{ARGUMENTS}{{"an_argument": "its value"}}{CALL_END}{CALLS_END}\n'
        "The results come back in tool_response tags."
    )


def write_calls(calls: Sequence[ToolCall]) -> str:
    inside = "".join(
        f"{CALL}{place}{NAME}{call.name}{ARGUMENTS}{compact(call.arguments)}{CALL_END}"
        for place, call in enumerate(calls)
    )
    return f"{CALLS}{inside}{CALLS_END}" if calls else ""


GRAMMAR = Grammar(dict.fromkeys((*MARKS.block_opens, *MARKS.opens), read))
PAIR_GRAMMAR = Grammar(dict.fromkeys(PAIRS.opens, PAIRS.read))
FORMATS = (
    Format("solar_open", "Solar Open", GRAMMAR.parser, instructions, write_calls, write_results),
    Format("solar_open2", "Solar Open 2", PAIR_GRAMMAR.parser, PAIRS.instructions, PAIRS.write_calls, write_results),
)
