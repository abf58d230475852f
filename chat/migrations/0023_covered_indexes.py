"""Removes indexes whose column another index of the same table begins with: every answer wrote both."""

from __future__ import annotations

from django.conf import settings
from django.db import migrations, models

# The name of each index, its model and field, and the settings of that field.
OWNER = {"to": settings.AUTH_USER_MODEL, "on_delete": models.PROTECT, "related_name": "conversations"}
CHAT = {"to": "chat.conversation", "on_delete": models.CASCADE}
MESSAGE = {"to": "chat.message", "on_delete": models.CASCADE, "related_name": "tool_runs"}
COMPARISON = {"to": "chat.comparison", "on_delete": models.CASCADE, "related_name": "answers"}
COVERED = (
    ("chat_conversation_owner_id_0460d4a2", "conversation", "owner", OWNER),
    ("chat_turn_conversation_id_e306b789", "turn", "conversation", {**CHAT, "related_name": "turns"}),
    ("chat_message_conversation_id_a1207bf4", "message", "conversation", {**CHAT, "related_name": "messages"}),
    ("chat_toolrun_message_id_9eeed5ea", "toolrun", "message", MESSAGE),
    (
        "chat_rawexchange_conversation_id_a941b307",
        "rawexchange",
        "conversation",
        {**CHAT, "related_name": "raw_exchanges"},
    ),
    ("chat_comparedanswer_comparison_id_b64c8173", "comparedanswer", "comparison", COMPARISON),
    ("chat_memory_conversation_id_0e872428", "memory", "conversation", {**CHAT, "related_name": "memories"}),
)


def dropped(index: str, model: str, field: str, given: dict[str, object]) -> migrations.SeparateDatabaseAndState:
    """Drop the index alone: Django would copy the whole table for it on SQLite."""
    made = f'CREATE INDEX IF NOT EXISTS "{index}" ON "chat_{model}" ("{field}_id")'
    return migrations.SeparateDatabaseAndState(
        [migrations.RunSQL(f'DROP INDEX IF EXISTS "{index}"', made)],
        [migrations.AlterField(model, field, models.ForeignKey(**given, db_index=False))],
    )


class Migration(migrations.Migration):
    dependencies = [("chat", "0022_comparisons"), migrations.swappable_dependency(settings.AUTH_USER_MODEL)]

    operations = [dropped(*one) for one in COVERED]
