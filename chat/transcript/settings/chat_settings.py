"""Changes settings of a conversation without losing concurrent changes."""

from __future__ import annotations

import uuid
from typing import Any

from chat.models import Conversation
from chat.transcript.locks import hold


def change(conversation: uuid.UUID, **changed: Any) -> dict[str, Any]:
    """Change settings and return all of them. Must run in a transaction; locks the conversation until that ends."""
    hold(conversation)
    rows = Conversation.objects.filter(pk=conversation)
    settings: dict[str, Any] = rows.values_list("settings", flat=True).get() | changed
    rows.update(settings=settings)
    return settings
