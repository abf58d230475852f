"""Code instead of calls: a Python fence, or the text after <|python_tag|>, is run by one tool.

A fence begins on a line of its own and ends with the first backquotes outside Python's texts and comments. The line
break before them is theirs. A fence of another language is text, and so is what stands in it.
"""

from __future__ import annotations

import json
import keyword
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from toolsupport.core.formats.format import Format
from toolsupport.core.formats.lookahead import match, peek, pour
from toolsupport.core.formats.mentioned_calls import FenceRule
from toolsupport.core.formats.python_writing import call, signatures
from toolsupport.core.formats.reply_parser import Grammar, ReaderContext
from toolsupport.core.formats.writing import write_results
from toolsupport.core.scanner import MarkerSet, Steps
from toolsupport.core.types import ToolCall, ToolSpec

TOOL = "python_execution"
# Programs run no other code.
NO_FUNCTIONS = frozenset({TOOL, "bash"})
TAG = "<|python_tag|>"
TAG_ENDS = MarkerSet(["<|eom_id|>", "<|eot_id|>"])

FENCE = re.compile(r"(?P<indent>[ \t]{0,16})(?P<fence>`{3,16})(?P<language>[^\n`]{0,64})\n")
FENCE_BEGUN = re.compile(r"[ \t]{0,16}(?:`{0,16}|`{3,16}[^\n`]{0,64})")
LANGUAGES = frozenset({"python", "python3", "py", "tool_code", "ipython"})
PLAIN = re.compile(r"[^'\"#`\\]*")
COMMENT = re.compile(r"[^\n]*")
QUOTED = {mark: re.compile(rf"[^\\\n{mark}]*") for mark in "'\""}
QUOTED_LONG = {mark: re.compile(rf"[^\\`{mark}]*") for mark in "'\""}
BACKQUOTES = re.compile(r"`*")
TO_BACKQUOTE = re.compile(r"[^`]*")
LAST_BREAK = re.compile(r"\r?\n[ \t]*\Z|\r\Z")


@dataclass(slots=True)
class CodeStream:
    """Code that is being written, streamed except for a final line break, which may belong to the fence.

    White space alone is not code: nothing is streamed before there is some.
    """

    reading: ReaderContext
    identity: str
    shown: bool = True
    pieces: list[str] = field(default_factory=list)
    held: str = ""
    begun: bool = False
    doubted: list[str] | None = None
    place: int = 0

    def put(self, piece: str) -> None:
        if not piece:
            return
        if self.doubted is not None:
            self.doubted.append(piece)
            return
        self.pieces.append(piece)
        if not self.begun and piece.isspace():
            return
        text = self.held + piece if self.begun else "".join(self.pieces)
        if not self.begun:
            self.begun = True
            self._show('{"code":"')
        tail = LAST_BREAK.search(text)
        self.held = tail.group() if tail else ""
        self._show(json.dumps(text[: len(text) - len(self.held)], ensure_ascii=False)[1:-1])

    def doubt(self) -> None:
        """Note that a fence seems to end here, within a string: true only if the string never ends."""
        if self.doubted is None:
            self.doubted, self.place = [], self.reading.source.recorded

    def trust(self) -> None:
        """Accept the doubtful part as code."""
        doubted, self.doubted = self.doubted, None
        self.put("".join(doubted or ()))

    @property
    def begins_a_line(self) -> bool:
        return bool(self.pieces) and self.pieces[-1].endswith("\n")

    def end(self) -> str:
        """Return all of it, without the line break that was held back."""
        self._show('"}')
        code = "".join(self.pieces)
        return code[: len(code) - len(self.held)]

    def _show(self, text: str) -> None:
        if self.shown:
            self.reading.reply.delta(self.identity, TOOL, text)


def read_line(reading: ReaderContext, _opener: str) -> Steps[None]:
    """Read a fence at the beginning of a line; any other line stays text."""
    source = reading.source
    reading.reply.text(source.cut())
    found = yield from match(source, FENCE, FENCE_BEGUN)
    if found is None:
        return
    source.take(found.end())
    if found["language"].strip().lower() in LANGUAGES:
        yield from _read_fence(reading, found)
    else:
        yield from _pass_fence(reading, len(found["fence"]))


def read_tag(reading: ReaderContext, _opener: str) -> Steps[None]:
    """Read everything after the tag as code."""
    source = reading.source
    code = CodeStream(reading, reading.reply.new_id())
    while True:
        found = TAG_ENDS.search(source.buffer, source.at)
        unsure = len(source.buffer) if source.ended else TAG_ENDS.unsure_from(source.buffer, source.at)
        code.put(source.take(found.start() if found else unsure))
        if found:
            source.take(found.end())
            break
        if source.ended:
            break
        yield
    _report(reading, code, "")


def _read_fence(reading: ReaderContext, found: re.Match[str]) -> Steps[None]:
    code = CodeStream(reading, reading.reply.new_id(), shown=not found["indent"])
    closed = yield from _through_python(code, len(found["fence"]))
    _report(reading, code, found["indent"], () if closed else ("closed the fence at the end of the reply",))


def _report(reading: ReaderContext, code: CodeStream, indent: str, repairs: tuple[str, ...] = ()) -> None:
    if not "".join(code.pieces).strip():
        reading.reply.text(reading.source.cut())
        return
    text = code.end()
    if indent:
        text = re.sub(rf"^[ \t]{{1,{len(indent)}}}", "", text, flags=re.MULTILINE)
    reading.reply.ready(ToolCall(code.identity, TOOL, {"code": text}, repairs), reading.source.cut())


def _pass_fence(reading: ReaderContext, length: int) -> Steps[None]:
    """Pass text up to the line of backquotes that ends a fence of another language."""
    source = reading.source
    while source.left or not source.ended:
        yield from pour(source, TO_BACKQUOTE, lambda _piece: reading.reply.text(source.cut()))
        marks = yield from source.through(BACKQUOTES)
        reading.reply.text(source.cut())
        if len(marks) >= length:
            return
        if not source.left and not source.ended:
            yield


def _through_python(code: CodeStream, length: int) -> Steps[bool]:
    """Consume code and the backquotes that end it; return False if the reply ends first."""
    source = code.reading.source
    while True:
        yield from pour(source, PLAIN, code.put)
        head = yield from peek(source)
        if not head:
            return False
        if head == "`":
            marks = yield from source.through(BACKQUOTES)
            if len(marks) >= length:
                return True
            code.put(marks)
        elif head == "#":
            yield from pour(source, COMMENT, code.put)
        elif head == "\\":
            code.put(source.take(source.at + len((yield from peek(source, 2)))))
        else:
            yield from _through_text(code, head, length)
            if code.doubted is not None:
                source.back_to(code.place)
                return True


def _through_text(code: CodeStream, mark: str, length: int) -> Steps[None]:
    """Consume one Python string to its end; one in single quotes ends with its line at the latest."""
    source = code.reading.source
    long = (yield from peek(source, 3)) == mark * 3
    end = mark * 3 if long else mark
    code.put(source.take(source.at + len(end)))
    while True:
        yield from pour(source, (QUOTED_LONG if long else QUOTED)[mark], code.put)
        head = yield from peek(source, len(end))
        if head == end:
            code.trust()
            code.put(source.take(source.at + len(end)))
        elif head and head[0] == "`":
            yield from _backquotes(code, length)
            continue
        if not head or head == end or head[0] == "\n":
            return
        width = len((yield from peek(source, 2))) if head[0] == "\\" else 1
        code.put(source.take(source.at + width))


def _backquotes(code: CodeStream, length: int) -> Steps[None]:
    """Handle backquotes in a string; on a line of their own they may end the fence after all."""
    begins_a_line = code.begins_a_line
    marks = yield from code.reading.source.through(BACKQUOTES)
    if begins_a_line and len(marks) >= length and (yield from peek(code.reading.source)) in ("", "\n", "\r"):
        code.doubt()
    code.put(marks)


def callable_name(name: str) -> bool:
    """Whether Python can call a function of this name."""
    return name.isidentifier() and not keyword.iskeyword(name)


def instructions(tools: Sequence[ToolSpec]) -> str:
    # A turn may come to this format from another one, with tools that programs do not have.
    others = signatures([tool for tool in tools if tool.name not in NO_FUNCTIONS and callable_name(tool.name)])
    about = [
        f"\n\nWhat programs can do: {tool.description}" for tool in tools if tool.name == TOOL and tool.description
    ]
    listed = f"Besides Python itself there are these functions:\n{others}\n\n" if others else ""
    return (
        f"{listed}To do something, write Python in a fence, print what you want to know, and write nothing after it:\n"
        "```python\nprint(6 * 7)\n```\n"
        "It is run, and what it printed comes back in tool_response tags. Only such a fence is run: show code that "
        f"shall not run in a fence of another name, for example ```text.{''.join(about)}"
    )


def write_calls(calls: Sequence[ToolCall]) -> str:
    return "\n".join(_fenced(_code_of(one)) for one in calls)


def _code_of(one: ToolCall) -> str:
    code = one.arguments.get("code")
    return code if one.name == TOOL and isinstance(code, str) else call(one)


def _fenced(code: str) -> str:
    longest = max((len(marks) for marks in re.findall(r"`+", code)), default=0)
    fence = "`" * min(16, max(3, longest + 1))
    return f"{fence}python\n{code}\n{fence}"


GRAMMAR = Grammar({"\n": read_line, TAG: read_tag}, beginning=read_line, fence=FenceRule.FORM)
FORMAT = Format("code_mode", "Code", GRAMMAR.parser, instructions, write_calls, write_results)
