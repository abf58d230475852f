"""Chooses how much of a conversation a model with tools is shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from toolsupport.core.types import ChatMessage, Permit, RequestSpec, Role

# Context → its name for people. Models that get confused in a long chat often call tools well in a short one.
TURN_CONTEXTS = {
    "full": "the whole conversation",
    "minimal": "the latest message",
    "minimal_system": "the latest message, with a short prompt",
}
LOSES_ITS_WAY = ("poor", False)

GO_ON = "Go on exactly where your answer broke off. Repeat nothing of it."
CALL_FIRST = "Call a tool for this request if one fits, before you answer it."


def context_of(request_spec: RequestSpec) -> str:
    """Return a key of TURN_CONTEXTS: the chosen one, else the latest message for a model that is poor at several turns.

    A probe gets exactly what it requests, as it measures that.
    """
    if not request_spec.offers_tools:
        return "full"
    if request_spec.turn_context in TURN_CONTEXTS:
        return request_spec.turn_context
    if request_spec.permit is Permit.PROBE:
        return "full"
    return "minimal" if request_spec.capabilities["multi_turn"].value in LOSES_ITS_WAY else "full"


def kept(request_spec: RequestSpec, log: Sequence[ChatMessage]) -> Sequence[ChatMessage]:
    """Return the part of the log that the model is shown: all, or the latest message of a person and what followed."""
    context = context_of(request_spec)
    start = _latest(log)
    if context == "full" or start is None:
        return log
    asked, *followed = log[start:]
    if context == "minimal_system":
        asked = replace(asked, content=f"{CALL_FIRST}\n\n{asked.content}")
    return (asked, *followed)


def _latest(log: Sequence[ChatMessage]) -> int | None:
    """Return the position of the latest request; a request to continue is not one."""
    requests = (number for number in reversed(range(len(log))) if log[number].role is Role.USER)
    return next((number for number in requests if log[number].content != GO_ON), None)


def with_notes(request_spec: RequestSpec, shown: Sequence[ChatMessage]) -> Sequence[ChatMessage]:
    """Put the notes before the first message of a person that is shown; a short prompt leaves them out."""
    if not request_spec.notes or context_of(request_spec) == "minimal_system":
        return shown
    first = next((number for number, message in enumerate(shown) if message.role is Role.USER), None)
    if first is None:
        return (ChatMessage(Role.USER, request_spec.notes), *shown)
    noted = replace(shown[first], content=f"{request_spec.notes}\n\n{shown[first].content}")
    return (*shown[:first], noted, *shown[first + 1 :])
