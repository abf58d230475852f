"""Harmony, of gpt-oss: every message has a channel, and a call is a message to a function."""

from __future__ import annotations

import re
from collections.abc import Sequence

from toolsupport.core.call_building import compact, finished
from toolsupport.core.formats.argument_stream import ArgumentStream, JsonArguments
from toolsupport.core.formats.format import Format
from toolsupport.core.formats.json_calls import CUT_OFF, TOO_DEEP
from toolsupport.core.formats.lookahead import match
from toolsupport.core.formats.reply_parser import Grammar, ReaderContext
from toolsupport.core.formats.tag_calls import TaggedCalls
from toolsupport.core.formats.writing import listed, write_results
from toolsupport.core.formats.xml_dialects import INVOKE
from toolsupport.core.json_repair import read_json
from toolsupport.core.json_scanner import DEEPEST, JsonWalk
from toolsupport.core.scanner import MarkerSet, Steps
from toolsupport.core.tool_lookup import find_tool
from toolsupport.core.types import ToolCall, ToolSpec

START, CHANNEL, MESSAGE, CALLED = "<|start|>", "<|channel|>", "<|message|>", "<|call|>"
ENDS = MarkerSet([CALLED, "<|end|>", "<|return|>", "<|eom|>", "<|eot|>"])
ALL_ENDS = MarkerSet([*ENDS.markers, START, CHANNEL])
# The header of a message: roles, channels, names and kinds of content.
WORDS = r"[\w .:/=-]{0,200}"
PARTS = rf"{WORDS}(?:<\|(?:channel|constrain)\|>{WORDS}){{0,2}}"
HEADER = re.compile(rf"{PARTS}<\|message\|>")
HEADER_BEGUN = re.compile(rf"{PARTS}(?:<(?:\|\w{{0,10}}\|?)?)?")
RECIPIENT = re.compile(r"to=(?:functions\.)?([\w.:/-]+)")
# The same for a receiver that stands before the channel.
TO = "to=functions."
HEADED = re.compile(rf"(?P<name>[\w.:/-]{{1,128}})\s?(?:<\|(?:channel|constrain)\|>{WORDS}){{0,2}}<\|message\|>")
HEADED_BEGUN = re.compile(
    rf"[\w.:/-]{{0,128}}\s?(?:<\|(?:channel|constrain)\|>{WORDS}){{0,2}}(?:<(?:\|\w{{0,10}}\|?)?)?"
)
# A server that leaves out special tokens passes on the words between them, glued together.
BARE_TO = tuple(f"{role}{channel} to=" for role in ("assistant", "") for channel in ("commentary", "analysis"))
BARE = re.compile(r"(?:functions\.)?(?P<name>[\w.:/-]{1,128})\s?(?:(?:json|code)\s?)?(?=\{)")
BARE_BEGUN = re.compile(r"[\w.:/-]{0,138}\s?(?:\w{0,4}\s?)?")
GLUED = re.compile(r"(?:commentary|analysis)?(?:json|code)?\Z")
BEGUN = re.compile(r"\s{0,8}(?:to=[\w.:/-]{1,128})?\s?<\|message\|>")
BEGUN_BEGUN = re.compile(r"\s{0,8}(?:t|to|to=[\w.:/-]{0,128})?\s?(?:<(?:\|\w{0,7}\|?)?)?")
REASONING = re.compile(r"<\|channel\|>\s*analysis\b|\bto=self\b")
# Receivers whose messages are words.
WRAPPERS = MarkerSet(INVOKE.tags.wrappers)
PEOPLE = frozenset({"assistant", "user", "self", "all"})
TAGGED = MarkerSet([*INVOKE.tags.wrappers, *INVOKE.tags.functions])


def read(reading: ReaderContext, opener: str) -> Steps[None]:
    """Read one message to its end; marks without a message, and quoted ones, are text."""
    found = yield from match(reading.source, HEADER, HEADER_BEGUN)
    if found is None:
        return
    reading.source.take(found.end())
    header = opener + found.group()
    recipient = RECIPIENT.search(header)
    if recipient and recipient[1] not in PEOPLE:
        yield from _call(reading, _known(recipient[1], reading.tools) or recipient[1])
    elif not (yield from reading.reply.quotes.holds(reading.source)):
        reading.source.cut()
        reading.reply.message_ends()
        thinking = REASONING.search(header) is not None
        if thinking or recipient:
            yield from _words(reading, thinking=thinking)
        else:
            reading.begins = reading.in_message = True


def read_begun(reading: ReaderContext, opener: str) -> Steps[None]:
    """Read the message whose beginning is in the prompt: its recipient comes first."""
    found = yield from match(reading.source, BEGUN, BEGUN_BEGUN)
    if found is not None:
        yield from read(reading, "")


def read_recipient(reading: ReaderContext, opener: str) -> Steps[None]:
    """Read a message whose first mark is in the prompt: the recipient comes before the beginning of a message."""
    found = yield from match(reading.source, HEADED, HEADED_BEGUN)
    if found is not None:
        reading.source.take(found.end())
        yield from _call(reading, _known(found["name"], reading.tools) or found["name"])
    else:
        yield from read_bare(reading, opener)


def read_bare(reading: ReaderContext, opener: str) -> Steps[None]:
    """Read a call without any mark: only one of an offered tool, whose arguments are an object."""
    found = yield from match(reading.source, BARE, BARE_BEGUN)
    if found is None:
        return
    known = _known(found["name"], reading.tools)
    if known:
        reading.source.take(found.end())
        yield from _call(reading, known)


def _known(name: str, tools: Sequence[ToolSpec]) -> str:
    """Return the name of an offered tool without the words glued to it, as in `get_weatherjson`; "" if it is none."""
    return next((one for one in (name, GLUED.sub("", name)) if find_tool(one, tools)), "")


def _words(reading: ReaderContext, *, thinking: bool) -> Steps[None]:
    """Stream reasoning, or text to a recipient: nothing in it is a call."""
    source = reading.source
    say = reading.reply.thinking if thinking else reading.reply.text
    while True:
        found = ALL_ENDS.search(source.buffer, source.at)
        unsure = len(source.buffer) if source.ended else ALL_ENDS.unsure_from(source.buffer, source.at)
        say(source.skip(found.start() if found else unsure))
        if found or source.ended:
            break
        yield
    source.skip(source.at + len(ENDS.match(source.buffer, source.at)))
    reading.reply.message_ends()


def end_message(reading: ReaderContext, opener: str) -> Steps[None]:
    """Hide the end mark of a text message; without such a message the mark is text, and so is a quoted one."""
    if reading.in_message and not (yield from reading.reply.quotes.holds(reading.source)):
        reading.source.cut()
        reading.reply.message_ends()
        reading.begins, reading.in_message = True, False


def _call(reading: ReaderContext, name: str) -> Steps[None]:
    """Read the arguments, an object; anything else is the only argument of a tool that has one."""
    source = reading.source
    stream = ArgumentStream(reading.reply, reading.tools, name)
    character = yield from source.space()
    start = source.recorded
    if character == "<" and (yield from source.marker(TAGGED)):
        yield from source.found(WRAPPERS)
        yield from TaggedCalls(reading, INVOKE.tags, bare=False).read()
        if not source.recorded:
            yield from _end(reading)
        return
    if character != "{":
        yield from _raw_argument(reading, stream)
        return
    walk = JsonWalk(source, ALL_ENDS, JsonArguments(stream))
    yield from walk.value()
    read_one = read_json(source.since(start)) if walk.deepest <= DEEPEST else None
    written = finished(name, read_one.value if read_one else "?", read_one.repairs if read_one else (), reading.tools)
    if walk.deepest > DEEPEST or walk.cut_off:
        written = TOO_DEEP if walk.deepest > DEEPEST else CUT_OFF
    end = source.recorded
    yield from source.space()
    if not (yield from source.closed(ENDS)):
        source.back_to(end)
    stream.done(written, source.cut())


def _end(reading: ReaderContext) -> Steps[None]:
    """Consume the end of a call's message."""
    source = reading.source
    yield from source.space()
    if (yield from source.closed(ENDS)):
        source.cut()


def _raw_argument(reading: ReaderContext, stream: ArgumentStream) -> Steps[None]:
    """Read code or text instead of JSON."""
    source = reading.source
    start = source.recorded
    while not (found := ALL_ENDS.search(source.buffer, source.at)):
        source.take(len(source.buffer) if source.ended else ALL_ENDS.unsure_from(source.buffer, source.at))
        if source.ended:
            break
        yield
    if found:
        source.take(found.start())
    text = source.since(start)
    yield from source.closed(ENDS)
    key = only_parameter(stream.name, reading.tools)
    value: object = {key: text} if key and text.strip() else text.strip()
    repairs = (f"took what was written for {key}",) if key and text.strip() else ()
    stream.done(finished(stream.name, value, repairs, reading.tools), source.cut())


def only_parameter(name: str, tools: Sequence[ToolSpec]) -> str:
    spec = find_tool(name, tools)
    known = list(spec.parameters.get("properties") or ()) if spec else []
    return known[0] if len(known) == 1 else ""


def instructions(tools: Sequence[ToolSpec]) -> str:
    return (
        f"The functions you can call, as JSON Schema:\n{listed(tools)}\n\n"
        "To call one, write this and nothing after it, the arguments as JSON:\n"
        f'{_head("the_name")}{{"an_argument": "its value"}}{CALLED}\n'
        "The results come back in tool_response tags."
    )


def write_calls(calls: Sequence[ToolCall]) -> str:
    return f"{START}assistant".join(f"{_head(call.name)}{compact(call.arguments)}{CALLED}" for call in calls)


def _head(name: str) -> str:
    return f"{CHANNEL}commentary to=functions.{name} <|constrain|>json{MESSAGE}"


GRAMMAR = Grammar(
    {
        **dict.fromkeys(ENDS.markers, end_message),
        START: read,
        CHANNEL: read,
        TO: read_recipient,
        f"assistant {TO}": read_recipient,
        **dict.fromkeys(BARE_TO, read_bare),
    }
)
FORMAT = Format("harmony", "Harmony", GRAMMAR.parser, instructions, write_calls, write_results)
