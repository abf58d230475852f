"""Changes settings of a conversation without losing concurrent changes."""

from __future__ import annotations

import uuid
from typing import Any

from chat.models import Conversation


def change(conversation: uuid.UUID, **changed: Any) -> dict[str, Any]:
    """Change settings and return all of them. Must run in a transaction; locks the conversation until that ends."""
    row = Conversation.objects.select_for_update(no_key=True).only("settings").get(pk=conversation)
    return _stored(conversation, row.settings | changed)


def changed(conversation: Conversation, **changed: Any) -> dict[str, Any]:
    """Do the same for a conversation that this transaction has locked and read."""
    return _stored(conversation.pk, conversation.settings | changed)


def _stored(conversation: uuid.UUID, settings: dict[str, Any]) -> dict[str, Any]:
    Conversation.objects.filter(pk=conversation).update(settings=settings)
    return settings
