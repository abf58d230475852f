"""The exception tree: the responsible side decides the class.

ToolsupportError
├── ProviderError          a model server is at fault
│   ├── Unreachable        it cannot be reached, or went away
│   ├── Refused            it answered with an error (status, body)
│   └── Garbled            it answered with unreadable bytes
├── ConfigError            a setting is at fault: an administrator can fix it
│   └── UnreadableSecret   it is encrypted with a key that this process does not have
├── ToolError              a tool could not do what it was asked; the text is for the model
├── NotAllowed             the person may not do this
├── NotFound               it does not exist, or is not theirs (the two look the same)
├── Busy                   a limit was reached; `limit` names it
│   └── QuotaSpent         a quota is used up until it starts again in `seconds`
├── StorageUnavailable     nothing can be saved at the moment
├── Conflict               another writer was faster; `current` is the present state
└── Lost                   the process owns the turn no longer, so it may not write it

A hallucinated call or a failed stream is an event (core/events.py), not an exception.
"""

from __future__ import annotations


class ToolsupportError(Exception):
    """Base of all errors of this project; its message can be shown to people."""

    @property
    def words(self) -> str:
        """The message, with its code and parameters where it is a sentence that rows hold so; `str` drops these."""
        return self.args[0] if self.args else ""


class ProviderError(ToolsupportError):
    """A model server failed. `kind` is a key of events.FAILURES."""

    kind = "server"

    def __init__(self, message: str, *, kind: str = "", status: int = 0, body: str = "") -> None:
        super().__init__(message)
        self.kind = kind or self.kind
        self.status = status
        self.body = body


class Unreachable(ProviderError):
    kind = "unreachable"


class RequestRefused(ProviderError):
    kind = "refused"


class GarbledReply(ProviderError):
    kind = "garbled"


class ConfigError(ToolsupportError):
    """A setting is wrong; the message names it and the remedy."""


class UnreadableSecret(ConfigError):
    """A stored secret cannot be decrypted here; another process may have its key."""


class ToolError(ToolsupportError):
    """A tool failed; the model receives the message as an error result."""


class NotAllowed(ToolsupportError):
    """The person lacks the permission."""


class NotFound(ToolsupportError):
    """It does not exist, or belongs to another person."""


class Busy(ToolsupportError):
    """A limit is reached. Nothing is queued."""

    def __init__(self, message: str, limit: str) -> None:
        super().__init__(message)
        self.limit = limit


class QuotaSpent(Busy):
    """A quota is used up. It starts again in `seconds`."""

    def __init__(self, message: str, seconds: int) -> None:
        super().__init__(message, "quota")
        self.seconds = seconds


class StorageUnavailable(ToolsupportError):
    """Nothing can be saved at the moment, and nothing was changed."""


class Conflict(ToolsupportError):
    """Another writer was faster; `current` describes the present state."""

    def __init__(self, message: str, current: str) -> None:
        super().__init__(message)
        self.current = current


class Lost(ToolsupportError):
    """The turn has another owner, or has ended: this process stops it and writes nothing more to it."""
