"""Checks whether another model was chosen while an answer was being written."""

from __future__ import annotations

from toolsupport.registry import raw_sql

# A regenerated answer has its model from the beginning: that was no switch during the answer.
SWAPPED = """SELECT 1 FROM chat_turn JOIN chat_conversation ON chat_conversation.id = chat_turn.conversation_id
WHERE chat_turn.id = %s AND chat_conversation.profile_id <> chat_turn.profile_id AND EXISTS
(SELECT 1 FROM chat_message WHERE chat_message.conversation_id = chat_turn.conversation_id
 AND chat_message.role = 'notice' AND chat_message.code = 'switched' AND chat_message.id >
 (SELECT MIN(written.id) FROM chat_message AS written WHERE written.turn_id = chat_turn.id))"""


def model_changed(turn_id: int) -> bool:
    """Return True if the conversation now has another model than this turn."""
    return raw_sql.row(SWAPPED, turn_id) is not None
