"""The memory and the chosen prompts of a conversation, as part of the system text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from chat.models import Conversation
from chat.tools.stores import NamedPrompt
from toolsupport.registry import raw_sql

MEMORY = "Remembered from earlier in this conversation:"

NEWEST = "SELECT text FROM chat_memory WHERE conversation_id = %s ORDER BY id DESC LIMIT 1"
OFFERED = """SELECT name, description FROM chat_prompt WHERE NOT withdrawn AND NOT EXISTS
(SELECT 1 FROM chat_prompt AS later WHERE later.name = chat_prompt.name AND later.id > chat_prompt.id) ORDER BY name"""
TEXT = "SELECT text FROM chat_prompt WHERE name = %s ORDER BY id DESC LIMIT 1"


@dataclass(frozen=True, slots=True)
class PromptContext:
    """`memory` and `chosen` are texts of the conversation, `prompts` are all that can be chosen."""

    memory: str = ""
    chosen: tuple[str, ...] = ()
    prompts: tuple[NamedPrompt, ...] = ()

    def system(self, base: str) -> str:
        """The system text that begins with `base`; what is said of tools comes after it."""
        memory = f"{MEMORY}\n{self.memory}" if self.memory else ""
        return "\n\n".join(text for text in (base.strip(), *self.chosen, memory) if text)


def of(conversation: Conversation) -> PromptContext:
    """As it stands in the rows."""
    prompts = offered()
    chosen = chosen_names(conversation.settings, prompts)
    return PromptContext(memory_of(conversation.pk), tuple(_text(name) for name in chosen), prompts)


def memory_of(conversation: UUID) -> str:
    """What is remembered, "" where nothing is."""
    found = raw_sql.row(NEWEST, conversation)
    return str(found[0]) if found else ""


def offered() -> tuple[NamedPrompt, ...]:
    """The prompts that can be chosen, by name."""
    return tuple(NamedPrompt(name, description) for name, description in raw_sql.rows(OFFERED))


def chosen_names(settings: Mapping[str, Any], prompts: tuple[NamedPrompt, ...]) -> tuple[str, ...]:
    """Those of the prompts that hold in a conversation with these settings, in the order they were chosen in."""
    known = {prompt.name for prompt in prompts}
    return tuple(name for name in settings.get("prompts") or () if name in known)


def _text(name: str) -> str:
    found = raw_sql.row(TEXT, name)
    return str(found[0]) if found else ""
