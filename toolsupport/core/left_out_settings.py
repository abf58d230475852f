"""Writes the sentence about settings that were left out of requests because a server refused them."""

from __future__ import annotations

from collections.abc import Iterable

from toolsupport.core.sentence_codes import formatted

SENTENCE = "Not used for {model}: {settings}. Its server refuses this ({message:quoted})."
# Names of settings that are not their words.
WORDS = {"think": "thinking", "think_off": "thinking off", "reasoning_effort": "thinking beside tools"}


def named(settings: Iterable[str]) -> str:
    """Return the words for settings."""
    return ", ".join(WORDS.get(name, name.replace("_", " ")) for name in settings)


def facts(model: str, settings: Iterable[str], message: str) -> dict[str, str]:
    """Return the facts of the sentence."""
    return {"model": model, "settings": named(settings), "message": message}


def worded(model: str, settings: Iterable[str], message: str) -> str:
    """Return the sentence."""
    return formatted(SENTENCE, facts(model, settings, message))
