"""Calls written as Python: `[search(query="tea"), now()]`, with or without the brackets and the markers around them.

After a marker, or in brackets that begin with an offered tool, whatever looks like a call is one. Without brackets a
call stands at the beginning of a line, names an offered tool, has nothing after it on its line, and is not shown
while it is written. A fence that begins with a call belongs to it; any other fence is text to its end.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from toolsupport.core.events import CallReady, CallRejected
from toolsupport.core.formats.json_calls import JsonCalls
from toolsupport.core.formats.lookahead import match, peek
from toolsupport.core.formats.mentioned_calls import FenceRule
from toolsupport.core.formats.python_calls import CallReader
from toolsupport.core.formats.python_strings import UnreadableString
from toolsupport.core.formats.reply_parser import Grammar, ReaderContext
from toolsupport.core.scanner import SPACE, MarkerSet, Steps, TextSource
from toolsupport.core.tool_lookup import find_tool
from toolsupport.core.types import ToolCall

# Marks around the calls, by family. Every variant reads them all, since a mark is explicit.
WRAPPERS = {
    "<|python_start|>": "<|python_end|>",
    "<|tool_call_start|>": "<|tool_call_end|>",
    "<function_calls>": "</function_calls>",
}
CLOSERS = frozenset(WRAPPERS.values())
FENCE = "```"
A_FENCE = MarkerSet([FENCE])
A_LIST = "\n["
IN_A_FENCE = MarkerSet([FENCE, A_LIST, *WRAPPERS])

NAME = r"[A-Za-z_][\w.:/-]{0,127}"
FENCED = r"(?P<fence>```[a-z_]{0,12}[ \t]{0,8}\r?\n)?"
FENCE_BEGUN = r"`{0,3}|```[a-z_]{0,12}[ \t]{0,8}\r?"
# Gemma and Gemini print the result of a call.
CALL = rf"(?P<list>\[\s{{0,32}})?(?P<print>print\(\s{{0,8}})?(?!print\()(?P<name>{NAME})\s{{0,8}}\("
CALL_BEGUN = rf"(?:\[\s{{0,32}})?(?:print\(\s{{0,8}})?(?:{NAME}\s{{0,8}})?"
PRINTED = re.compile(r"\s{0,8}\)")
PRINTED_BEGUN = re.compile(r"\s{0,8}")
ON_A_LINE = re.compile(rf"[ \t]{{0,8}}{FENCED}{CALL}")
ON_A_LINE_BEGUN = re.compile(rf"[ \t]{{0,8}}(?:{FENCE_BEGUN}|{FENCED}{CALL_BEGUN})")
WRAPPED = re.compile(rf"\s{{0,32}}{FENCED}{CALL}")
WRAPPED_BEGUN = re.compile(rf"\s{{0,32}}(?:{FENCE_BEGUN}|{FENCED}{CALL_BEGUN})")
FOLLOWING = re.compile(rf"(?P<mark>[,;]\s{{0,32}})?{CALL}")
FOLLOWING_BEGUN = re.compile(rf"(?:[,;]\s{{0,32}})?{CALL_BEGUN}")
LISTED = re.compile(rf"\s{{0,32}}(?P<print>)(?P<name>{NAME})\s{{0,8}}\(")
LISTED_BEGUN = re.compile(rf"\s{{0,32}}(?:{NAME}\s{{0,8}})?")
LAST_COMMA = re.compile(r"[,;]\s{0,32}[\]<`]")
LAST_COMMA_BEGUN = re.compile(r"[,;]\s{0,32}")
COMMAS = re.compile(r"[,;\s]*")
TO_BRACKET = re.compile(r"[^)\n<]*")
BLANK = re.compile(r"[ \t]*")
UNREADABLE = "The call of {} could not be read: {}. Write it again."
NOT_ALONE = "there is other text on the same line"
LINE_END = re.compile(r"[ \t]{0,32}[\r\n;,`]")
LINE_END_BEGUN = re.compile(r"[ \t]{0,32}")


@dataclass(slots=True)
class EnclosingMarks:
    """The marks that are open around the calls; `printed`: the call is in `print(…)`.

    A fence that is named `tool_code` contains only calls.
    """

    closer: str = ""
    listed: bool = False
    fenced: bool = False
    tool_code: bool = False
    printed: bool = False

    @property
    def explicit(self) -> bool:
        return bool(self.closer or self.listed)

    @property
    def marks(self) -> MarkerSet:
        """Return the closers; a closing mark is recognised even if its opening one is missing."""
        return _marks(self.closer, self.listed, self.fenced)

    def close(self, mark: str) -> None:
        if mark == "]":
            self.listed = False
        elif mark == FENCE:
            self.fenced = False
        else:
            self.closer = ""


@cache
def _marks(closer: str, listed: bool, fenced: bool) -> MarkerSet:
    closers = [closer] if closer else list(WRAPPERS.values())
    return MarkerSet([*closers, *(["]"] if listed else []), *([FENCE] if fenced else [])])


def read_line(reading: ReaderContext, _opener: str) -> Steps[None]:
    """Read calls at the beginning of a line, or a fence without calls, which is text."""
    source = reading.source
    while True:
        reading.reply.text(source.cut())
        found = yield from match(source, ON_A_LINE, ON_A_LINE_BEGUN)
        fence = (found["fence"] or "") if found is not None else ""
        if found is not None and reading.may_call(found["name"]) and ("tool_code" in fence or not found["print"]):
            around = EnclosingMarks("", bool(found["list"]), bool(fence), "tool_code" in fence)
            ended = yield from _calls(reading, found, around)
            if ended:
                continue
        elif (yield from source.marker(A_FENCE)):
            yield from _fence(reading)
        return


def read_bare_line(reading: ReaderContext, _opener: str) -> Steps[None]:
    """Read calls at the beginning of a line beside other formats: nothing in a fence is one."""
    source = reading.source
    while True:
        reading.reply.text(source.cut())
        found = None if reading.fenced else (yield from match(source, ON_A_LINE, ON_A_LINE_BEGUN))
        if found is None or found["fence"] or not reading.may_call(found["name"]):
            return
        if not (yield from _calls(reading, found, EnclosingMarks("", bool(found["list"])))):
            return


def read_tool_code(reading: ReaderContext, _opener: str) -> Steps[bool]:
    """Read a fence named `tool_code` beside other formats; return False if it does not begin with a call."""
    source = reading.source
    source.back_to(0)
    found = yield from match(source, ON_A_LINE, ON_A_LINE_BEGUN)
    if found is None or not found["fence"] or not reading.may_call(found["name"]):
        return False
    yield from _calls(reading, found, EnclosingMarks("", bool(found["list"]), fenced=True, tool_code=True))
    return True


def read_list(reading: ReaderContext, _opener: str) -> Steps[None]:
    """Read calls in brackets, anywhere in the text."""
    if (yield from _list(reading)):
        yield from read_line(reading, "")


def read_list_alone(reading: ReaderContext, _opener: str) -> Steps[None]:
    """Read calls in brackets, without those on the following lines."""
    yield from _list(reading)


def _list(reading: ReaderContext) -> Steps[bool]:
    """Read the calls after an opening bracket; return True if a new line begins after them."""
    found = yield from match(reading.source, LISTED, LISTED_BEGUN)
    if found is None or not reading.may_call(found["name"]):
        return False
    return (yield from _calls(reading, found, EnclosingMarks("", listed=True)))


def read_wrapped(reading: ReaderContext, opener: str) -> Steps[None]:
    """Read calls after a marker, as Python or as JSON; a marker without calls is text."""
    found = yield from match(reading.source, WRAPPED, WRAPPED_BEGUN)
    if found is None:
        yield from JsonCalls(reading, MarkerSet([WRAPPERS[opener]]), MarkerSet([opener, WRAPPERS[opener]])).read()
        return
    around = EnclosingMarks(WRAPPERS[opener], bool(found["list"]), bool(found["fence"]))
    yield from _calls(reading, found, around)
    if around.closer:
        reading.reply.message_ends()
        yield from _to_closer(reading, around.closer)


def read_closed(reading: ReaderContext, closer: str) -> Steps[None]:
    """Read the calls that begin here, up to that closing mark."""
    found = yield from match(reading.source, WRAPPED, WRAPPED_BEGUN)
    if found is not None:
        yield from _calls(reading, found, EnclosingMarks(closer, bool(found["list"]), bool(found["fence"])))


def read_one(reading: ReaderContext, name: str) -> Steps[None]:
    """Read one call after a mark; its name and the opening bracket were consumed."""
    outcome = yield from _call(reading, name, EnclosingMarks("<|eom_id|>"))
    _report(reading, outcome, reading.source.cut())


def _fence(reading: ReaderContext) -> Steps[None]:
    """Pass text to the end of the fence; calls in a list or after a marker count there too."""
    source = reading.source
    source.take(source.at + len(FENCE))
    while True:
        found = yield from _text_to(reading, IN_A_FENCE)
        if found in WRAPPERS:
            source.take(source.at + len(found))
            yield from read_wrapped(reading, found)
        elif found == A_LIST:
            source.take(source.at + 1)
            reading.reply.text(source.cut())
            source.take(source.at + 1)
            yield from _list(reading)
        else:
            source.take(source.at + len(found))
            return


def _to_closer(reading: ReaderContext, closer: str) -> Steps[None]:
    """Pass text between the last call and the closing marker; a new opening marker ends it too."""
    found = yield from _text_to(reading, MarkerSet([closer, *WRAPPERS]))
    if found == closer:
        reading.source.skip(reading.source.at + len(closer))


def _text_to(reading: ReaderContext, markers: MarkerSet) -> Steps[str]:
    """Pass text up to one of the markers, which is not consumed; return "" at the end of the reply."""
    source = reading.source
    while True:
        found = markers.search(source.buffer, source.at)
        unsure = len(source.buffer) if source.ended else markers.unsure_from(source.buffer, source.at)
        certain = found is not None and found.start() < unsure
        source.take(found.start() if found and certain else unsure)
        reading.reply.text(source.cut())
        if found and certain:
            return found.group()
        if source.ended:
            return ""
        yield


def _calls(reading: ReaderContext, found: re.Match[str], around: EnclosingMarks) -> Steps[bool]:
    """Read the first call and all that follow it; return True if a new line begins after them."""
    following: re.Match[str] | None = found
    while following is not None:
        reading.source.take(following.end())
        around.printed = bool(following["print"])
        outcome = yield from _call(reading, following["name"], around)
        raw, following = yield from _behind(reading, around)
        _report(reading, outcome, raw)
    space = reading.source.cut()
    reading.reply.text(space)
    return "\n" in space


def _call(reading: ReaderContext, name: str, around: EnclosingMarks) -> Steps[CallReady | CallRejected | None]:
    """Read one call, without its raw text; return None if it is prose."""
    source, reply = reading.source, reading.reply
    identity = reply.new_id()
    shown = around.explicit or around.tool_code

    def put(text: str) -> None:
        if shown:
            reply.delta(identity, name, text)

    reader = CallReader(source, find_tool(name, reading.tools), put)
    reader.listed = around.explicit
    try:
        arguments = yield from reader.read()
        if around.printed:
            yield from _print_ends(source)
    except UnreadableString as broken:
        prose = not shown and not reader.arguments and bool((yield from peek(source)))
        yield from _to_its_end(reading, around)
        return None if prose else CallRejected(name, UNREADABLE.format(name, broken), "", identity)
    if not around.explicit and not (yield from _stands_alone(source)):
        return CallRejected(name, UNREADABLE.format(name, NOT_ALONE), "", identity) if shown else None
    return CallReady(ToolCall(identity, name, arguments, tuple(reader.repairs)))


def _print_ends(source: TextSource) -> Steps[None]:
    found = yield from match(source, PRINTED, PRINTED_BEGUN)
    if found is None:
        raise UnreadableString("what is printed is more than a call")
    source.take(found.end())


def _stands_alone(source: TextSource) -> Steps[bool]:
    """Return True if nothing follows on the line, or a separator does."""
    found = yield from match(source, LINE_END, LINE_END_BEGUN)
    return found is not None or not source.buffer[source.at :].strip(" \t")


def _to_its_end(reading: ReaderContext, around: EnclosingMarks) -> Steps[None]:
    """Consume text up to the likely end of a broken call, so that later calls are not lost with it."""
    source = reading.source
    closers = _marks(around.closer, listed=False, fenced=False)
    while True:
        yield from source.through(TO_BRACKET)
        head = yield from peek(source)
        if not head or (head == "\n" and not around.explicit):
            return
        if head == "<" and (yield from source.marker(closers)):
            return
        source.take(source.at + 1)
        if head == ")" and (yield from peek(source)) in ("", *",;]\r\n<`"):
            return


def _behind(reading: ReaderContext, around: EnclosingMarks) -> Steps[tuple[str, re.Match[str] | None]]:
    """Consume the closers of a call, and find the next call; space that belongs to neither stays in the record."""
    source = reading.source
    raw, mark = source.cut(), ""
    while True:
        # A closing mark may appear twice, also on the next line.
        yield from source.through(SPACE if around.explicit or around.fenced or mark in CLOSERS else BLANK)
        following = yield from match(source, FOLLOWING, FOLLOWING_BEGUN)
        if following is not None and _follows(reading, following, around):
            return raw, following
        if around.explicit and (yield from match(source, LAST_COMMA, LAST_COMMA_BEGUN)):
            yield from source.through(COMMAS)
        mark = yield from source.marker(around.marks)
        if not mark:
            return raw, None
        around.close(mark)
        source.take(source.at + len(mark))
        raw += source.cut()


def _follows(reading: ReaderContext, following: re.Match[str], around: EnclosingMarks) -> bool:
    apart = bool(following["mark"]) or around.fenced
    follows = around.explicit or (apart and reading.may_call(following["name"]))
    around.listed = around.listed or (follows and bool(following["list"]))
    return follows


def _report(reading: ReaderContext, outcome: CallReady | CallRejected | None, raw: str) -> None:
    if isinstance(outcome, CallReady):
        reading.reply.ready(outcome.call, raw)
    elif outcome is None:
        reading.reply.text(raw)
    else:
        reading.reply.rejected(CallRejected(outcome.name, outcome.reason, raw, outcome.id))


GRAMMAR = Grammar(
    {"\n": read_line, "[": read_list, **dict.fromkeys(WRAPPERS, read_wrapped)},
    beginning=read_line,
    fence=FenceRule.ALONE,
)
