"""How a model is asked again after it wrote a call that its server could not read."""

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
    """What the model is asked next: with the text it has shown, and with what was wrong."""
    note = NOTE.format(why=_short(why))
    if not shown.strip() and asked and asked[-1].role is Role.USER:
        return (*asked[:-1], replace(asked[-1], content=f"{asked[-1].content}\n\n{note}"))
    return (*asked, ChatMessage(Role.ASSISTANT, shown.strip() or NOTHING_SHOWN), ChatMessage(Role.USER, note))


def given_up(failed: Failed, garbled: CallGarbled) -> Failed:
    """The end of a reply that was asked for often enough; the server's own body stays as evidence."""
    message = GIVEN_UP.format(times=MOST_RETRIES + 1, why=_short(garbled.message))
    return Failed("unreadable_call", message, failed.status, failed.body)


def _short(why: str) -> str:
    return (why.strip().rstrip(".") or "its server gave no reason")[:LONGEST_REASON]
