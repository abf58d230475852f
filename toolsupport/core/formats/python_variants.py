"""The formats with calls in Python syntax, which differ in the marks around the calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from toolsupport.core.formats import pythonic
from toolsupport.core.formats.format import Format
from toolsupport.core.formats.mentioned_calls import FenceRule
from toolsupport.core.formats.python_writing import call, signatures
from toolsupport.core.formats.writing import write_results
from toolsupport.core.types import ToolCall, ToolSpec

Wrap = Callable[[Sequence[str]], str]


def _variant(name: str, label: str, wrap: Wrap) -> Format:
    def instructions(tools: Sequence[ToolSpec]) -> str:
        example = wrap(["first_function(text='its value', number=1)", "second_function()"])
        return (
            f"The functions you can call, with the schemas of their parameters:\n{signatures(tools)}\n\n"
            "To call functions, write the calls as Python does, with the names of the parameters and with literal "
            f"values only, and nothing after them:\n{example}\n"
            "The results come back in tool_response tags."
        )

    def write_calls(calls: Sequence[ToolCall]) -> str:
        return wrap([call(one) for one in calls]) if calls else ""

    grammar = replace(pythonic.GRAMMAR, fence=FenceRule.FORM) if wrap is _fenced else pythonic.GRAMMAR
    return Format(name, label, grammar.parser, instructions, write_calls, write_results)


def _listed(before: str = "", behind: str = "") -> Wrap:
    return lambda calls: f"{before}[{', '.join(calls)}]{behind}"


def _fenced(calls: Sequence[str]) -> str:
    return "```tool_code\n" + "\n".join(calls) + "\n```"


def _on_lines(calls: Sequence[str]) -> str:
    lines = "\n".join(calls)
    return f"<function_calls>\n{lines}\n</function_calls>"


FORMATS = (
    _variant("pythonic", "Pythonic", _listed()),
    _variant("llama4_pythonic", "Llama 4 Pythonic", _listed("<|python_start|>", "<|python_end|>")),
    _variant("lfm2_pythonic", "LFM2 Pythonic", _listed("<|tool_call_start|>", "<|tool_call_end|>")),
    _variant("tool_code_python", "Python in a fence", _fenced),
    _variant("olmo3_pythonic", "OLMo 3 Pythonic", _on_lines),
)
