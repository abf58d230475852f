"""Continues an answer that ended early, or regenerates it as a branch of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from chat.models import Conversation, Message
from chat.transcript.conversations.conversations import keep_first_choice
from chat.transcript.messages import present
from chat.transcript.settings import turn_settings
from chat.transcript.settings.turn_settings import ChatRequestContext
from chat.transcript.turns.begin import Draft, question_before
from toolsupport.core import format_choice
from toolsupport.core.errors import ConfigError, NotFound
from toolsupport.core.types import Role
from toolsupport.registry.models import picker


def _as_set(conversation: Conversation) -> ChatRequestContext:
    return turn_settings.prepared(conversation)


def _without_tools(conversation: Conversation) -> ChatRequestContext:
    conversation.settings = conversation.settings | {"tools_on": False}
    return turn_settings.prepared(conversation)


def _in_text(conversation: Conversation) -> ChatRequestContext:
    """Raise ConfigError with the reason if calls cannot be written as text here."""
    name = format_choice.text_for(turn_settings.prepared(conversation).request_spec.capabilities)
    conversation.settings = conversation.settings | {turn_settings.ASKED_FORMAT: name}
    made = turn_settings.prepared(conversation)
    if made.request_spec.format == name:
        return made
    against = next((one.reason for one in made.toolbox.formats if one.name == name and not one.usable), "")
    raise ConfigError(
        f"Calls cannot be written as text in this answer. {against or made.toolbox.format_reason}".strip()
    )


# The ways to regenerate an answer; their settings are not saved in the conversation's row.
MODES: Mapping[str, Callable[[Conversation], ChatRequestContext]] = {
    "same": _as_set,
    "without_tools": _without_tools,
    "text": _in_text,
}


@dataclass(frozen=True, slots=True)
class ContinueRequest:
    """A request to continue the answer at the end of the branch."""

    client_id: str

    def client_id_in(self, conversation: Conversation) -> str:
        return self.client_id

    def draft(self, conversation: Conversation) -> Draft:
        """Raises NotFound if no answer can be continued, ConfigError."""
        keep_first_choice(conversation)
        last = _last_answer(conversation)
        if last is None or last.turn is None or not present.may_go_on(last.turn, last.content):
            raise NotFound("There is no answer that could be continued.")
        return Draft(turn_settings.prepared(conversation), last, forks=True, goes_on=True)


@dataclass(frozen=True, slots=True)
class RegenerateRequest:
    """A request for another answer to the question of `message` (an answer or its question); `mode` is a key of MODES.

    `model` names another one, as in choosing a model, for this answer only.
    """

    client_id: str
    message: int
    mode: str = "same"
    model: str | None = None

    def client_id_in(self, conversation: Conversation) -> str:
        return self.client_id

    def draft(self, conversation: Conversation) -> Draft:
        """Raises NotFound if there is no such message or model, ConfigError."""
        keep_first_choice(conversation)
        row = conversation.messages.filter(pk=self.message).first()
        asked = row and question_before(row)
        if asked is None:
            raise NotFound("This message does not exist.")
        if self.model:
            conversation.profile_id = picker.find(self.model)
        conversation.leaf = asked
        return Draft(MODES[self.mode](conversation), asked, forks=True)


def _last_answer(conversation: Conversation) -> Message | None:
    """Return the answer at the end of the branch; one before a person's message is history."""
    row = conversation.leaf
    while row is not None and row.role == Role.NOTICE:
        row = row.parent
    return row if row is not None and row.role == Role.ASSISTANT else None
