"""Changes settings of a conversation without losing concurrent changes.

Its statements are written out, so that other kept rows stay valid (`kept_rows`).
"""

from __future__ import annotations

import uuid
from typing import Any

from chat.models import Conversation
from toolsupport.registry import raw_sql

SETTINGS = "SELECT settings FROM chat_conversation WHERE id = %s {lock}"
CHANGE = "UPDATE chat_conversation SET settings = %s WHERE id = %s"


def change(conversation: uuid.UUID, **changed: Any) -> dict[str, Any]:
    """Change settings and return all of them. Must run in a transaction; locks the conversation until that ends."""
    found = raw_sql.rows(SETTINGS, conversation)
    if not found:
        raise Conversation.DoesNotExist
    return _stored(conversation, raw_sql.parsed(found[0][0]) | changed)


def changed(conversation: Conversation, **changed: Any) -> dict[str, Any]:
    """Do the same for a conversation that this transaction has locked and read."""
    return _stored(conversation.pk, conversation.settings | changed)


def _stored(conversation: uuid.UUID, settings: dict[str, Any]) -> dict[str, Any]:
    raw_sql.change(CHANGE, settings, conversation)
    return settings
