"""Stores which tools were found for a conversation, so that its prompt stays the same from turn to turn."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress

from django.db import transaction
from django.utils import timezone

from chat.models import Turn
from chat.transcript.announcements import AddedNotice, Announcement
from chat.transcript.conversations.conversations import Person, own, say
from chat.transcript.settings import chat_settings, turn_settings
from chat.transcript.settings.turn_settings import FOUND_BY, ChatRequestContext
from chat.transcript.turn_store import fenced
from chat.transcript.turns.resume import gone_on
from toolsupport.core import outside_content
from toolsupport.core.errors import ConfigError
from toolsupport.core.outside_content import OutsideSource
from toolsupport.core.tool_selection import LIMITS
from toolsupport.core.types import ToolSpec
from toolsupport.registry.models.request_context import RequestContext

# More than any model gets; earlier finds move down and are dropped at the end.
MOST = 10
KEY = "toolset"


def searchable(prepared: RequestContext) -> tuple[ToolSpec, ...]:
    """Return the deferred tools that may run in a turn with this request context."""
    return tuple(one.spec for one in prepared.remotes if one.spec.name in prepared.usable)


@fenced
def add(turn: Turn, names: Sequence[str], outside: Iterable[OutsideSource] = ()) -> None:
    """Offer these tools from now on, before those that were found earlier. A search without results counts too.

    Outside content that has made the model search continues with them, wherever they are offered. Descriptions of new
    tools are outside content: permissions that were given before are revoked, and a person is asked again.
    """
    settings, sources = turn.conversation.settings, outside_content.stored(outside)
    before = [name for name in settings.get(KEY) or () if name not in names]
    marked = {name: old for name, old in (settings.get(FOUND_BY) or {}).items() if name in before}
    marked |= {name: sources for name in names if sources}
    if set(names) - set(settings.get(KEY) or ()):
        turn.conversation.grants.filter(revoked_at=None).update(revoked_at=timezone.now())
    chat_settings.change(turn.conversation_id, **{KEY: [*names, *before][:MOST], FOUND_BY: marked})


@transaction.atomic
def say_cut(person: Person, conversation_id: str) -> Announcement[AddedNotice] | None:
    """Add a notice about found tools that the chosen model cannot get, if any. Raises NotFound."""
    conversation = own(person, conversation_id, lock=True)
    if not conversation.settings.get(KEY):
        return None
    with suppress(ConfigError):
        made = turn_settings.prepared(conversation)
        cut = [one.name for one in made.toolbox.verdicts if one.candidate.materialised and one.rule in LIMITS]
        if cut:
            return say(conversation, "tools_cut", {"model": made.request_spec.model, "tools": ", ".join(cut)})
    return None


def prepared(turn_id: int) -> ChatRequestContext:
    """Return the request context for the rest of a turn, with the tools found meanwhile, in its present format."""
    turn = Turn.objects.select_related("conversation", "profile__server").get(pk=turn_id)
    turn.conversation.profile = turn.profile
    return gone_on(turn, turn_settings.prepared(turn.conversation))
