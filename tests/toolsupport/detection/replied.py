"""Replies of a model under test, as their events make them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from toolsupport.core.events import CallReady, CallRejected, Event, TextDelta, ThinkingDelta
from toolsupport.core.types import ToolCall
from toolsupport.detection import ProbeReply


def replied(
    text: str = "",
    calls: Sequence[ToolCall] = (),
    rejected: Sequence[CallRejected] = (),
    thinking: str = "",
    **given: Any,
) -> ProbeReply:
    """A reply of these parts; `given` are other fields."""
    reply = ProbeReply(**given)
    events: list[Event] = [ThinkingDelta(thinking), TextDelta(text), *map(CallReady, calls), *rejected]
    for event in events:
        reply.take(event)
    return reply
