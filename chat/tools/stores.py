"""What a tool may reach of its conversation's rows: handles that the transcript fills in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class NamedPrompt:
    """One of the team's prompts, as a model is told of it."""

    name: str
    description: str = ""


class MemoryStore(Protocol):
    """What is remembered in the conversation. `text` is what stood there when it was last read or written."""

    text: str

    async def write(self, text: str, basis: str) -> None:
        """Replace it, if what stands there has this digest. Raises ToolError, with what stands there now, if not."""


class PromptStore(Protocol):
    """The team's named prompts that the conversation may choose among."""

    offered: Sequence[NamedPrompt]

    async def choose(self, names: Sequence[str]) -> None:
        """Let these, in this order, and no others hold in the conversation. Raises ToolError where one is gone."""
