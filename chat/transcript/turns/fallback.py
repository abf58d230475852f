"""Continues a running turn with another model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from chat.models import Message, Turn
from chat.transcript.announcements import AddedNotice, Announcement, StartedTurn, announce
from chat.transcript.conversations.conversations import say
from chat.transcript.settings import turn_settings
from chat.transcript.settings.turn_settings import ChatRequestContext
from chat.transcript.turn_store import fenced
from toolsupport.core.errors import ConfigError
from toolsupport.core.types import Role
from toolsupport.registry.metrics import call_metrics
from toolsupport.registry.metrics.call_metrics import CallCount
from toolsupport.registry.models import profile_cache

CODE = "fallback"
Counts = Callable[[], Sequence[CallCount]]


@dataclass(frozen=True, slots=True)
class Takeover:
    """A turn with its next model, and the announcements: the notice, and the model that answers from now on."""

    prepared: ChatRequestContext
    announced: tuple[Announcement[AddedNotice], Announcement[StartedTurn]]


@fenced
def take_over(turn: Turn, profile_id: int, counts: Counts, facts: dict[str, str]) -> Takeover:
    """Continue the turn with this model, as after a switch, with a notice; the model of the chat stays. `counts`

    returns the counts of the former model, which stay with that one. Raises ConfigError.
    """
    profile = profile_cache.profile(profile_id)
    if profile is None:
        raise ConfigError("This model does not exist.")
    conversation = turn.conversation
    conversation.profile = profile
    prepared = turn_settings.prepared(conversation)
    request_spec = prepared.request_spec
    call_metrics.add(turn.profile_id, counts())
    written = Message.objects.filter(turn=turn, role=Role.ASSISTANT, finished=True, profile=None)
    written.update(profile_id=turn.profile_id)
    Turn.objects.filter(pk=turn.pk).update(
        profile=profile, capabilities=request_spec.capabilities.to_json(), format=request_spec.format
    )
    notice = say(conversation, CODE, facts)
    tools = tuple(tool.name for tool in request_spec.tools)
    started = StartedTurn(turn.pk, request_spec.model, request_spec.format, tools)
    return Takeover(prepared, (notice, announce(conversation.pk, started)))
