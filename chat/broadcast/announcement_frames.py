"""The frame that tells pages of an announcement."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from chat.broadcast import fragments, frames
from chat.transcript.announcements import Announcement, StartedMessage, StartedTurn


def frame_of(announced: Announcement) -> frames.ServerFrame:
    """The frame with the number and the thing of an announcement."""
    return FRAMES[type(announced.thing)](announced.seq, announced.thing)


def _message_started(seq: int, thing: StartedMessage) -> frames.MessageStarted:
    shown = thing.message
    return frames.MessageStarted(seq, shown.id, shown.parent, str(shown.role), shown.turn, fragments.message(shown))


def _turn_started(seq: int, thing: StartedTurn) -> frames.TurnStarted:
    return frames.TurnStarted(seq, thing.turn, thing.model, thing.format, list(thing.tools))


FRAMES: dict[type, Callable[[int, Any], frames.ServerFrame]] = {
    StartedMessage: _message_started,
    StartedTurn: _turn_started,
}
