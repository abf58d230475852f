"""Judges whether a written call was complete when a token limit or a stop string cut its reply.

Used only for calls that nothing but the end of the reply ended. Formats with an end mark need theirs; in the others the
JSON or Python must be closed. After a stop string closed JSON is enough in all of them: the string may be the mark,
and servers remove the mark that ends a turn.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from toolsupport.core.formats.end_marks import END_MARKS
from toolsupport.core.json_repair import END_ADDED, STRING_CLOSED
from toolsupport.core.types import ToolCall

CUT = (
    "The reply ended before this call was complete, mostly because its limit of tokens was reached, so the call did not"
    " run. Write the whole call"
    " again. Make it shorter, or split long content into several smaller calls."
)
TAG = "<|python_tag|>"
TAG_ENDS = ("<|eom_id|>", "<|eot_id|>")
MINIMAX = "]<]minimax[>["
# After these marks stands JSON, and nothing closes it.
WITHOUT_END = (TAG, "<|function_call|>")
# A closing tag that is not the one of a parameter, and the other marks that end a call or a block of calls.
CALL_END = re.compile(
    r"</(?![^<>]{0,30}(?:parameter|param|argument|arg_key|arg_type|arg_value)(?::\w{1,20})?>)[^<>/]{1,60}>\Z"
    r"|<(?:[|｜][^<>=]{0,40})?(?:end|END|suffix)[^<>=]{0,30}>\Z"
    r"|<\|close\|>(?:call|tools)<\|sep\|>\Z|<\|(?:calls?|return)\|>\Z|<tool_call\|>\Z|<\|message_sep\|>\Z|\[/TOOL_CALLS\]\Z"
)
FENCE = re.compile(r"(?:Action:\s{0,4})?(`{3,16})")
BEGUN_MARK = re.compile(r"<[|｜]?\w{0,20}[|｜]?\Z")
BRACKET_MARK = re.compile(r"\[[A-Z_]{2,20}\]\Z")
SPECIAL = re.compile(r"[\"'()\[\]{}]")
# JSON or Python directly after a mark.
BEHIND_MARK = re.compile(r"[>\]]\s*(?=[\[{])")
# Stop strings that end a turn, or the model's part of a reply, cut nothing.
OBSERVATION = "observation"
OPENING, CLOSING = frozenset("([{"), frozenset(")]}")
TAIL = 120  # characters; no end mark is longer


def closed_by_model(call: ToolCall) -> bool:
    """Return whether the arguments needed no end: a text in them may hold the mark at which the limit cut them."""
    return not {END_ADDED, STRING_CLOSED} & set(call.repairs)


def may_cut(stops: Iterable[str]) -> bool:
    """Return whether one of these stop strings may end a reply within a call."""
    ends = (stop.strip() for stop in stops)
    return any(end not in END_MARKS and not end.lower().startswith(OBSERVATION) for end in ends)


def is_closed(written: str) -> bool:
    """Return whether the JSON or Python after the mark of a call is closed, even if something is missing after it."""
    written = written.strip()
    found = BEHIND_MARK.search(written)
    return found is not None and written[-1] in CLOSING and _closed(written[found.end() :])


def is_complete(written: str) -> bool:
    """Return whether the calls of one block have their own end."""
    written = written.strip()
    tail = written[-TAIL:]
    fence = FENCE.match(written)
    if fence:
        return len(written) > fence.end() and tail.endswith(f"\n{fence[1]}")
    if written.startswith(TAG) and written[len(TAG) :].lstrip()[:1] not in ("{", "["):
        return tail.endswith(TAG_ENDS)
    if written.startswith(MINIMAX):
        return tail.endswith((f"{MINIMAX}</invoke>", f"{MINIMAX}</tool_call>"))  # any other tag is that of an argument
    if written.startswith("<") and not written.startswith(WITHOUT_END):
        return CALL_END.search(tail) is not None
    if CALL_END.search(tail):
        return True
    # The JSON is closed, and the limit cut the mark after it.
    written = BEGUN_MARK.sub("", written)
    tail = written[-TAIL:].rstrip(" \n,;")
    return tail[-1:] in CLOSING and not BRACKET_MARK.search(tail) and _closed(written)


def _closed(written: str) -> bool:
    """Return whether no bracket and no string is open at the end."""
    at = depth = 0
    while found := SPECIAL.search(written, at):
        mark, at = found.group(), found.end()
        if mark in OPENING:
            depth += 1
        elif mark in CLOSING:
            depth -= 1
        else:
            at = _text_end(written, found.start())
            if at < 0:
                return False
    return depth <= 0


def _text_end(written: str, start: int) -> int:
    """Return where the string that begins with a quote ends, -1 if it does not."""
    quote = written[start]
    mark = quote * 3 if written.startswith(quote * 3, start) else quote
    at = start + len(mark)
    end = written.find(mark, at)
    while end >= 0:
        escape = written.find("\\", at, end)
        if escape < 0:
            return end + len(mark)
        at = escape + 2
        end = end if end >= at else written.find(mark, at)
    return -1
