"""Watches the answer of a model that calls tools natively for calls that it wrote into its text.

The text itself is not changed. A call that is found runs only after a person's approval.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from toolsupport.core.events import (
    TEXTS,
    CallFound,
    CallReady,
    CallRejected,
    Event,
    TextReclassified,
    ThinkingDelta,
)
from toolsupport.core.formats import auto, pure_json, pythonic
from toolsupport.core.formats.reply_parser import Grammar, ReplyParser
from toolsupport.core.tool_lookup import find_tool
from toolsupport.core.types import ToolSpec

MOST_FOUND = 16
LONGEST_THOUGHT = 64_000  # characters that are searched for a call
TOOL_TAG = re.compile(r"<([\w.-]+)(?:/>|>.*)")
PYTHON_LIST = re.compile(r"\[[\w.:/-]+\(")
# First mark → format; the longest match counts, without white space.
FORMATS_BY_MARK = {
    "<tool_call>{": "hermes",
    "<tool_call>[": "hermes",
    "<toolcall>": "hermes",
    "<tools>": "hermes",
    "<tool>{": "hermes",
    "<tool_use>{": "hermes",
    "<function>{": "hermes",
    "<function-call>": "hermes",
    "<tool_call><": "qwen3_coder_xml",
    "<tool_call>": "glm45",
    "<seed:tool_call>": "qwen3_coder_xml",
    "<function": "qwen3_coder_xml",
    "<functionname=": "minicpm5",
    "<｜tool▁call": "deepseek_v3",
    "<｜DSML｜": "deepseek_dsml",
    "<|tool_calls_section": "kimi_k2",
    "<|channel|>": "harmony",
    "assistantcommentaryto=": "harmony",
    "commentaryto=": "harmony",
    "<minimax:tool_call>": "minimax_m2",
    "<dots_function_call>": "dots",
    "<atem:": "muse_glimmer",
    "<steptml:": "step3",
    "<invoke": "invoke",
    "<antml:": "invoke",
    "<function_calls><": "invoke",
    "<longcat_tool_call>": "longcat",
    "<｜GCML｜": "gigachat35",
    "<|function_call|>": "gigachat3",
    "functioncall<|role_sep|>": "gigachat3",
    "<tool_calls><": "hy_v3",
    "<tool_calls:": "hy_v3",
    "<tool_call:": "hy_v3",
    "]<]minimax[>[": "minimax_m3",
    "<ifm|": "k2_horizon",
    "<|open|>": "kimi_k3",
    "<|tool_calls|>": "solar_open",
    "<|begin|>assistant<|tool_calls|>": "solar_open",
    "<|end|><|begin|>assistant": "solar_open",
    "<|tool_call:begin|>": "solar_open",
    "<|tool_call:start|>": "solar_open2",
    "<|tool_call|>": "granite",
    "<function_call>": "granite_20b_fc",
    "<|START_ACTION|>": "command_r7b",
    "<TOOLCALL>": "nemotron_toolcall",
    "<tool_calls>": "jamba",
    "<|action_start|>": "internlm2",
    "<|tools_prefix|>": "apertus",
    "<|tool_call>": "gemma4",
    "<start_function_call>": "functiongemma",
    "<|tool_call_start|>": "lfm2_pythonic",
    "<|python_start|>": "llama4_pythonic",
    "<function_calls>": "olmo3_pythonic",
    "[TOOL_CALLS]": "mistral",
    "<|python_tag|>": "llama3_json",
    "Action:": "react",
    "**Action": "react",
    "```tool_code": "tool_code_python",
    "```": "pure_json",
    "{": "pure_json",
    "[": "pure_json",
}


# Marks of formats that look like the tag of a tool.
GENERAL_TAGS = tuple(mark.rstrip("{[<:") for mark in FORMATS_BY_MARK if mark.startswith("<") and len(mark) > 1)


@lru_cache(maxsize=128)
def _grammar(names: tuple[str, ...]) -> Grammar:
    if not names:
        return Grammar({})
    return Grammar({**auto.openers(names), **pure_json.GRAMMAR.openers}, beginning=pythonic.read_bare_line)


class ProseWatcher:
    """Receives the text of one answer, and returns the calls found in it at the end."""

    def __init__(self, tools: Sequence[ToolSpec]) -> None:
        self._tools = tuple(tools)
        self._parser = ReplyParser(_grammar(tuple(tool.name for tool in tools)), tools, draft=True)
        self._found: list[CallFound] = []
        self._began = False

    def watch(self, text: str) -> None:
        """Add a piece of the answer. Empty lines before its first word cost as much as others and change nothing."""
        if not self._began:
            blank = len(text) - len(text.lstrip())
            text, self._began = text[text.rfind("\n", 0, blank) + 1 :], blank < len(text)
        self._keep(self._parser.feed(text))

    def flush(self, *, cut: bool = False) -> list[CallFound]:
        """Return the complete calls of offered tools in the text, at most MOST_FOUND."""
        self._keep(self._parser.flush(cut=cut))
        found, self._found = self._found, []
        return found

    def _keep(self, events: Sequence[Event]) -> None:
        for event in events:
            if isinstance(event, CallRejected):
                self._found = [one for one in self._found if one.call.id != event.id]
            if isinstance(event, CallReady | CallFound) and find_tool(event.call.name, self._tools):
                self._found.append(CallFound(event.call, event.raw, format_of(event.raw)))
        del self._found[MOST_FOUND:]


class ThoughtWatcher:
    """Keeps the reasoning at the end of a reply: its last words may be a call that the server did not read.

    Kimi K2, GLM and Qwen3.5 write calls before they end their reasoning, and servers pass all of it on as reasoning.
    """

    def __init__(self, tools: Sequence[ToolSpec]) -> None:
        self._tools = tools
        self._parts: list[str] = []
        self.found: list[CallFound] = []

    def take(self, event: Event) -> None:
        if isinstance(event, ThinkingDelta):
            self._parts.append(event.text)
        elif isinstance(event, TEXTS) and event.text.strip():
            self._parts.clear()
        elif isinstance(event, TextReclassified):
            self._parts.append(event.thinking)

    def searching(self, step: int) -> Iterator[None]:
        """Search the end of the reasoning in steps, and keep the calls that nothing follows in `found`."""
        end = "".join(self._parts)[-LONGEST_THOUGHT:].rstrip()
        watcher = ProseWatcher(self._tools)
        for at in range(0, len(end), step):
            watcher.watch(end[at : at + step])
            yield None
        for call in reversed(watcher.flush()):
            raw = call.raw.strip()
            if not end.endswith(raw):
                break
            end = end.removesuffix(raw).rstrip()
            self.found.insert(0, call)


def format_of(raw: str) -> str:
    """Return the name of the format that a call was written in."""
    start = "".join(raw[:200].split())
    if TOOL_TAG.match(start) and not start.startswith(GENERAL_TAGS):
        return "tool_tags"
    mark = max((one for one in FORMATS_BY_MARK if start.startswith(one)), key=len, default="")
    if PYTHON_LIST.match(start):
        return "pythonic"
    return FORMATS_BY_MARK.get(mark) or ("mistral_args" if "[ARGS]" in start else "pythonic")
