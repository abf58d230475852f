"""Reads a call from the error of a server that could not parse it.

Groq answers 400 with the text of the model in `failed_generation`, and proxies pass that on; llama-server has it behind
"Failed to parse input at pos 0". The reader of all replies reads that text, by the same rules. It is read as a cut one,
since the server does not state whether it was: a call without its own end is none. All of its calls must be valid, or
the model is asked again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from toolsupport import loop_share, stepwise_reader
from toolsupport.core.error_body import GENERATED, unwrap
from toolsupport.core.events import CallReady, Event, Finished, TextDelta, ThinkingDelta
from toolsupport.core.formats import FORMATS, auto
from toolsupport.core.reply_builder import ReplyBuilder
from toolsupport.core.reply_reader import ReplyReader
from toolsupport.core.types import ChatMessage, RequestSpec, ToolSpec

REPAIR = "read it from the error of its server, which could not parse it"
# A server may repeat a message in its error. One that holds these words makes all such errors doubtful.
QUOTED = (GENERATED, "parse input at pos")
# Groq takes the beginning of a tag for a token of its own, and leaves it out.
WITHOUT_BEGINNING = re.compile(r"\s*(?=[A-Za-z_][\w.:/-]{0,127}[=>]?\s{0,8}\{)")
FUNCTION, FUNCTION_END = "<function=", "</function>"


@dataclass(frozen=True, slots=True)
class LostReply:
    """A reply that ended with an error. `before` is the text of earlier attempts, `silent`: nothing of it was shown."""

    body: str
    question: Sequence[ChatMessage]
    offered: Sequence[ToolSpec]
    before: str
    silent: bool


def for_error(request_spec: RequestSpec) -> RequestSpec:
    """Return the spec in whose format the text in an error is read: with native tools the model's own is not known."""
    return request_spec if request_spec.format in FORMATS else replace(request_spec, format=auto.FORMAT.name)


async def read(lost: LostReply, listener: ReplyReader, check: Callable[[Event], Event | None]) -> list[Event]:
    """Return the rest of the reply with its end, from the error; nothing if that holds no call, or an invalid one."""
    size = len(lost.body) + sum(message.size for message in lost.question)
    written = await loop_share.apart(lambda: generated(lost.body, lost.question), size)
    if not written:
        return []
    reply = ReplyBuilder(lost.before)
    for event in await stepwise_reader.read(listener, [TextDelta(written), Finished("length")], check, lost.offered):
        reply.take(event)
    calls = [call for call in reply.calls if isinstance(call, CallReady)]
    if not calls or len(calls) < len(reply.calls):
        return []
    return [*(_shown(reply, lost.before) if lost.silent else ()), *map(_noted, calls), Finished("tool_calls")]


def _shown(reply: ReplyBuilder, before: str) -> list[Event]:
    text = reply.text[len(before) :]
    thinking: list[Event] = [ThinkingDelta(reply.thinking)] if reply.thinking else []
    return [*thinking, TextDelta(text)] if text else thinking


def generated(body: str, messages: Iterable[ChatMessage] = ()) -> str:
    """Return the text of the model in an error body, "" if there is none, or a message may be its source."""
    written = unwrap(body).generated
    if not written or any(_quotes(message.content) for message in messages):
        return ""
    found = WITHOUT_BEGINNING.match(written)
    without = found and FUNCTION not in written and written.rstrip().endswith(FUNCTION_END)
    return FUNCTION + written[found.end() :] if found and without else written


def _quotes(text: str) -> bool:
    plain = text.lower().replace("_", "")
    return any(words in plain for words in QUOTED)


def _noted(call: CallReady) -> CallReady:
    return replace(call, call=replace(call.call, repairs=(*call.call.repairs, REPAIR)))
