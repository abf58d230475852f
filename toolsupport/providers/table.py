"""The table of the kinds of servers we can talk to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from toolsupport.core.errors import ConfigError
from toolsupport.providers.codec import Codec
from toolsupport.providers.ollama import OllamaCodec


@dataclass(frozen=True, slots=True)
class Provider:
    """A kind of server. `wire` names the bytes it speaks: rows of one wire differ only by address or default.

    `default_url` is "" where there is none; `hint` tells a person what to do when the server does not answer.
    `codec` takes the longest line in bytes and makes the reader of one reply.
    """

    kind: str
    title: str
    wire: str
    codec: Callable[[int], Codec]
    chat_path: str
    default_url: str
    hint: str


PROVIDERS = {
    provider.kind: provider
    for provider in (
        Provider(
            kind="ollama",
            title="Ollama",
            wire="ollama",
            codec=OllamaCodec,
            chat_path="/api/chat",
            default_url="http://127.0.0.1:11434",
            hint="Start it with `ollama serve`, or correct its address.",
        ),
        Provider(
            kind="simulator",
            title="Simulator",
            wire="ollama",
            codec=OllamaCodec,
            chat_path="/api/chat",
            default_url="",
            hint="It starts with this site; alone, start it with `manage.py simulator`.",
        ),
    )
}

LINE_BYTES = 2 * 1024 * 1024


def provider(kind: str) -> Provider:
    """The row of a kind. Raises ConfigError for a kind that is not in the table."""
    try:
        return PROVIDERS[kind]
    except KeyError:
        known = ", ".join(PROVIDERS)
        raise ConfigError(f"There is no kind of server called {kind!r}; use one of {known}.") from None


def codec(kind: str, line_bytes: int = LINE_BYTES) -> Codec:
    """A fresh codec for one reply of a server of this kind; a longer line than `line_bytes` fails the reply."""
    return provider(kind).codec(line_bytes)
