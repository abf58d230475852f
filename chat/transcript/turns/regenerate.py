"""An answer once more: gone on with where it broke off, or made anew as a branch of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from django.db import transaction

from chat.models import Conversation, Message
from chat.transcript.conversations import branches
from chat.transcript.conversations.conversations import Person, keep_first_choice, own
from chat.transcript.messages import present
from chat.transcript.settings import turn_settings
from chat.transcript.settings.turn_settings import ChatRequestContext
from chat.transcript.turns import lifecycle
from chat.transcript.turns.lifecycle import AcceptedMessage
from toolsupport.core import format_choice, types
from toolsupport.core.errors import ConfigError, NotFound
from toolsupport.core.prompt import GO_ON
from toolsupport.core.types import Role
from toolsupport.registry.models import picker

UNFINISHED = ("stopped", "interrupted", "model_changed")


@dataclass(frozen=True, slots=True)
class ContinueRequest:
    """Continue the answer that ends the branch."""

    client_id: str


@dataclass(frozen=True, slots=True)
class RegenerateRequest:
    """Answer again what `message` (an answer, or what it answers) was about; `mode` is a key of MODES.

    `model` names another one, as in choosing a model, for this answer only.
    """

    client_id: str
    message: int
    mode: str = "same"
    model: str | None = None


def _as_set(conversation: Conversation) -> ChatRequestContext:
    return turn_settings.briefing(conversation)


def _without_tools(conversation: Conversation) -> ChatRequestContext:
    conversation.settings = conversation.settings | {"tools_on": False}
    return turn_settings.briefing(conversation)


def _in_text(conversation: Conversation) -> ChatRequestContext:
    """Raises ConfigError with the reason where calls cannot be written as text here."""
    name = format_choice.text_for(turn_settings.briefing(conversation).brief.capabilities)
    conversation.settings = conversation.settings | {turn_settings.ASKED_FORMAT: name}
    made = turn_settings.briefing(conversation)
    if made.brief.format == name:
        return made
    against = next((one.reason for one in made.toolbox.formats if one.name == name and not one.usable), "")
    raise ConfigError(
        f"Calls cannot be written as text in this answer. {against or made.toolbox.format_reason}".strip()
    )


# How an answer is made anew; the conversation's row is not saved with what they set.
MODES: Mapping[str, Callable[[Conversation], ChatRequestContext]] = {
    "same": _as_set,
    "without_tools": _without_tools,
    "text": _in_text,
}


@transaction.atomic
def accept(
    person: Person, conversation_id: str, wish: ContinueRequest | RegenerateRequest, owner: str
) -> AcceptedMessage:
    """Begin the turn that answers once more; it is `owner`'s at once, and no message of a person is added.

    Raises NotFound, Busy or ConfigError, and then nothing is kept.
    """
    conversation = own(person, conversation_id, lock=True)
    room = lifecycle.room_for(conversation, wish.client_id, owner)
    if room.known is not None:
        asked = present.message(lifecycle.question_of(room.known))
        return AcceptedMessage(room.known, asked, conversation.tail, repeated=True)
    keep_first_choice(conversation)
    begun = (
        _gone_on(conversation, wish, owner) if isinstance(wish, ContinueRequest) else _anew(conversation, wish, owner)
    )
    return replace(begun, ended=room.ended)


def _gone_on(conversation: Conversation, wish: ContinueRequest, owner: str) -> AcceptedMessage:
    last = _last_answer(conversation)
    if last is None or last.turn is None or not may_go_on(last.turn.status, last.turn.reason):
        raise NotFound("There is no answer that could be continued.")
    accepted = _begun(conversation, last, turn_settings.briefing(conversation), (wish.client_id, owner))
    assert accepted.claimed is not None
    history = accepted.claimed.history
    if history and history[-1].role is Role.ASSISTANT:
        # For this turn only: in the transcript nobody said it.
        history = (*history, types.ChatMessage(Role.USER, GO_ON))
    return replace(accepted, claimed=replace(accepted.claimed, history=history))


def may_go_on(status: str, reason: str) -> bool:
    """True for an answer that broke off without a fault: stopped, interrupted, at another model or at a limit."""
    return status in UNFINISHED or (status == "done" and bool(reason))


def _anew(conversation: Conversation, wish: RegenerateRequest, owner: str) -> AcceptedMessage:
    row = conversation.messages.filter(pk=wish.message).first()
    asked = row and _question(row)
    if asked is None:
        raise NotFound("There is no such message.")
    if wish.model:
        conversation.profile_id = picker.find(wish.model)
    conversation.leaf = asked
    return _begun(conversation, asked, MODES[wish.mode](conversation), (wish.client_id, owner))


def _begun(
    conversation: Conversation, asked: Message, briefing: ChatRequestContext, who: tuple[str, str]
) -> AcceptedMessage:
    """A turn that runs already, with an empty reply at the end of the branch; `who` is (client_id, owner)."""
    turn = lifecycle.new_turn(conversation, *who, briefing)
    reply = lifecycle.empty_reply(turn, conversation)
    seq = lifecycle.grown(conversation, reply, 2) - 2
    claimed = lifecycle.claimed(turn, conversation, briefing)
    fresh = present.message(reply, siblings=branches.siblings(reply))
    return AcceptedMessage(turn.pk, present.message(_question(asked) or asked), seq, claimed=claimed, reply=fresh)


def _last_answer(conversation: Conversation) -> Message | None:
    """The answer that ends the branch; what a person said after it makes it history."""
    row = conversation.leaf
    while row is not None and row.role == Role.NOTICE:
        row = row.parent
    return row if row is not None and row.role == Role.ASSISTANT else None


def _question(row: Message) -> Message | None:
    """What a person said, and this message answers."""
    found: Message | None = row
    while found is not None and found.role != Role.USER:
        found = found.parent
    return found
