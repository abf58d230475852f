"""ReAct: a line `Action: name` and a line `Action Input: {…}`, as in LangChain's prompts."""

from __future__ import annotations

import re
from collections.abc import Sequence

from toolsupport.core.call_building import compact, finished
from toolsupport.core.formats.argument_stream import ArgumentStream
from toolsupport.core.formats.format import Format
from toolsupport.core.formats.harmony import only_parameter
from toolsupport.core.formats.lookahead import match
from toolsupport.core.formats.named_json import NamedCalls, NamedMarks
from toolsupport.core.formats.reply_parser import Grammar, ReaderContext
from toolsupport.core.formats.writing import listed, write_results
from toolsupport.core.scanner import Steps
from toolsupport.core.types import ToolCall, ToolSpec

OPENERS = ("Action:", "**Action:**", "**Action**:")
HEAD = re.compile(
    r"[ \t]{0,8}[`*\"]{0,2}(?P<name>[\w.:/-]{1,128})[`*\"]{0,2}(?:\(\))?[ \t]{0,8}\r?\n\s{0,8}"
    r"(?:\*\*)?Action[ _]?Input(?:\*\*:|:\*\*|:(?!\*))[ \t]{0,8}(?=[^ \t])"
)
HEAD_BEGUN = re.compile(
    r"[ \t]{0,8}[`*\"]{0,2}[\w.:/-]{0,128}[`*\"]{0,2}(?:\(\)?)?[ \t]{0,8}(?:\r?\n?\s{0,8}"
    r"(?:\*{0,2}[Action _Input]{0,12}[*:]{0,3}[ \t]{0,8})?)?"
)
LINE = re.compile(r"[^\n]*")
NO_MARKS = NamedMarks(opens=(), behind_name=(), closes=())


class ReactCall(NamedCalls):
    """Reads the arguments after a name: an object, or the only argument as plain text on the line."""

    def behind(self, name: str) -> Steps[None]:
        source, tools = self._reading.source, self._reading.tools
        self._stream = ArgumentStream(self._reading.reply, tools, name)
        key = only_parameter(name, tools)
        if key and (yield from source.space()) not in ("{", "`"):
            text = (yield from source.through(LINE)).strip()
            self._written = finished(name, {key: text}, (f"took what was written for {key}",), tools)
        else:
            yield from self._arguments()
        self._report(source.cut())


def read(reading: ReaderContext, opener: str) -> Steps[None]:
    """Read a call if both lines exist and the name is that of an offered tool."""
    if reading.fenced:
        return
    found = yield from match(reading.source, HEAD, HEAD_BEGUN)
    if found is not None and reading.may_call(found["name"]):
        reading.source.take(found.end())
        yield from ReactCall(reading, NO_MARKS).behind(found["name"])


def instructions(tools: Sequence[ToolSpec]) -> str:
    return (
        f"The functions you can call, as JSON Schema:\n{listed(tools)}\n\n"
        "To call one, write these two lines and nothing after them, the arguments as JSON:\n"
        'Action: the_name\nAction Input: {"an_argument": "its value"}\n'
        "The results come back in tool_response tags."
    )


def write_calls(calls: Sequence[ToolCall]) -> str:
    return "\n".join(f"Action: {call.name}\nAction Input: {compact(call.arguments)}" for call in calls)


GRAMMAR = Grammar(dict.fromkeys(OPENERS, read))
FORMAT = Format("react", "ReAct", GRAMMAR.parser, instructions, write_calls, write_results)
