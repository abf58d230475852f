"""Interfaces through which tools access their conversation's rows; the transcript implements them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class NamedPrompt:
    """One of the team's prompts, as a model sees it."""

    name: str
    description: str = ""


class MemoryStore(Protocol):
    """The memory of the conversation. `text` is its content when it was last read or written."""

    text: str

    async def write(self, text: str, basis: str) -> None:
        """Replace it if its present content has this digest; otherwise raise ToolError with that content."""


class PromptStore(Protocol):
    """The team's named prompts that the conversation may select."""

    offered: Sequence[NamedPrompt]

    async def choose(self, names: Sequence[str]) -> None:
        """Select exactly these, in this order. Raises ToolError if one was withdrawn."""
