"""Builds the retry prompt after a model wrote a call that its server could not parse."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from toolsupport.core.events import CallGarbled, Failed
from toolsupport.core.types import ChatMessage, Role

MOST_RETRIES = 2

# Templates of some families insist that people and models take turns, so a reply that showed nothing has a text too.
NOTHING_SHOWN = "(My tool call could not be read.)"
NOTE = (
    "Your last tool call could not be read, so it did not run: {why}. Write the call again exactly in the format you "
    "were given, with every tag closed and every quote escaped, or answer without it."
)
LONGEST_REASON = 300

GIVEN_UP = (
    "The model wrote a tool call that its server could not read, {times} times in a row ({why}). "
    "Nothing was run. Ask again, or let the model write its calls as text."
)


def messages(asked: Sequence[ChatMessage], shown: str, why: str) -> tuple[ChatMessage, ...]:
    """Return the messages of the retry: the text that the model has shown, and the error."""
    note = NOTE.format(why=_short(why))
    if not shown.strip() and asked and asked[-1].role is Role.USER:
        return (*asked[:-1], replace(asked[-1], content=f"{asked[-1].content}\n\n{note}"))
    return (*asked, ChatMessage(Role.ASSISTANT, shown.strip() or NOTHING_SHOWN), ChatMessage(Role.USER, note))


def given_up(failed: Failed, garbled: CallGarbled) -> Failed:
    """Return the final event after the last retry; the server's own body is kept as evidence."""
    message = GIVEN_UP.format(times=MOST_RETRIES + 1, why=_short(garbled.message))
    return Failed("unreadable_call", message, failed.status, failed.body)


def _short(why: str) -> str:
    return (why.strip().rstrip(".") or "its server gave no reason")[:LONGEST_REASON]
