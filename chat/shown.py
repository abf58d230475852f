"""What a page shows of a conversation: the same values for a reload as for a live frame."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from toolsupport.registry.choices import ShownModel


@dataclass(frozen=True, slots=True)
class ShownQuestion:
    """An open question. `options` are the answers it takes; `diff` what would change."""

    id: int
    kind: str
    text: str
    options: tuple[str, ...]
    diff: str = ""
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class ShownCall:
    """A tool card.

    `status` is pending, waiting, running, done, failed, timeout, denied, stopped, interrupted or rejected.

    `phrase` and `target` make the closed line ("Read", "config.json"); `raw` is what the model really wrote.
    """

    id: str
    name: str
    phrase: str
    target: str
    arguments: dict[str, Any]
    status: str
    format: str
    served_by: str
    asked_as: str = ""
    duration_ms: int | None = None
    result: str = ""
    error: str = ""
    repairs: tuple[str, ...] = ()
    raw: str = ""
    question: ShownQuestion | None = None

    def to_json(self) -> dict[str, Any]:
        """The `call` object of the frames, without its html."""
        call: dict[str, Any] = {
            "id": self.id,
            "name": self.name,
            "arguments": self.arguments,
            "served_by": self.served_by,
            "format": self.format,
            "status": self.status,
            "duration_ms": self.duration_ms,
        }
        optional = {"asked_as": self.asked_as, "result": self.result, "error": self.error}
        return call | {key: value for key, value in optional.items() if value} | {"repairs": list(self.repairs)}


@dataclass(frozen=True, slots=True)
class ShownMessage:
    """One bubble. `html` is the finished markdown; while it is not finished only `text` is shown.

    `role` is user, assistant or notice; a notice has a `code` of notices.NOTICES and its text in `text`.
    """

    id: int
    parent: int | None
    role: str
    text: str
    html: str = ""
    thinking: str = ""
    thinking_ms: int | None = None
    finished: bool = True
    turn: int | None = None
    code: str = ""
    model: str = ""
    calls: tuple[ShownCall, ...] = ()
    created_at: datetime | None = None
    ended: str = ""
    ended_detail: str = ""


@dataclass(frozen=True, slots=True)
class ShownConversation:
    """Everything the chat page needs, read in one transaction."""

    id: str
    title: str
    tail: int
    model: ShownModel | None
    messages: tuple[ShownMessage, ...] = ()
    turn: int | None = None
    turn_status: str = ""
    settings: dict[str, Any] = field(default_factory=dict)
