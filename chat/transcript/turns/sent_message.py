"""Stores a person's message, with the turn that answers it."""

from __future__ import annotations

from dataclasses import dataclass

from chat.models import Conversation, Message
from chat.transcript.conversations import branches, pending_files
from chat.transcript.conversations.conversations import keep_first_choice
from chat.transcript.messages import attachments
from chat.transcript.messages.titles import title_of
from chat.transcript.settings import turn_settings
from chat.transcript.turns.begin import Draft
from toolsupport.core.types import Role
from toolsupport.registry import row_objects

START = 0


@dataclass(frozen=True, slots=True)
class SentMessage:
    """A person's message. `client_id` makes a message that is sent twice one message.

    It follows `parent`: None for the end of the shown branch, START for the beginning.
    """

    client_id: str
    text: str
    parent: int | None = None
    attachments: tuple[str, ...] = ()

    def client_id_in(self, conversation: Conversation) -> str:
        return self.client_id

    def draft(self, conversation: Conversation) -> Draft:
        """Raises NotFound if there is no such parent, ConfigError."""
        if self.parent is not None:
            branches.cut(conversation, self.parent)
        keep_first_choice(conversation)
        checked = attachments.check(str(conversation.pk), self.attachments)
        pending_files.sent(conversation, checked)
        message = row_objects.new(
            Message,
            conversation=conversation,
            parent_id=conversation.leaf_id,
            role=Role.USER,
            content=self.text,
            attachments=checked,
        )
        conversation.title = conversation.title or title_of(self.text)
        return Draft(turn_settings.prepared(conversation), message, forks=self.parent is not None)
