"""Continues an answer from the place where it was cut off."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from toolsupport.simulator.types import HistoryMessage, ModelInput, SimulatedReply

ASKED = re.compile(
    r"\W*(?:please\s+)?(?:go on|continue|carry on|keep going|finish your answer)\b"
    r"(?:\s+(?:exactly|please|with (?:it|that|your answer)|your answer|from|where|the answer)\b[^.!?\n]{0,80})?[.!]*"
    r"(?:\s*(?:do not|don't) repeat[^.!?\n]{0,80}[.!]*|\s*repeat nothing[^.!?\n]{0,80}[.!]*)?\s*",
    re.IGNORECASE,
)
COMPLETE = "There is nothing to continue: my answer was complete."
NOT_MINE = "I cannot continue this answer: my rules would have given a different one."


def reply(speak: Callable[[ModelInput], SimulatedReply], prompt: ModelInput) -> SimulatedReply:
    """Reply with the rest of the cut answer if a message asks for it; otherwise as the model does."""
    broken = _broken(prompt)
    if not broken:
        return speak(prompt)
    before = replace(prompt, messages=prompt.messages[: -1 - len(broken)])
    whole = speak(before)
    left = rest(whole.content, "".join(message.content for message in broken))
    if left is None:
        # An answer that was cut during its thoughts or a call has shown no text yet.
        return whole if whole.calls and not whole.content else SimulatedReply(NOT_MINE)
    if not left and not whole.calls:
        return SimulatedReply(COMPLETE)
    return replace(whole, content=left, thinking="")


def _broken(prompt: ModelInput) -> tuple[HistoryMessage, ...]:
    """Return the messages of the cut answer if the latest message asks for its rest; else none."""
    *earlier, last = prompt.messages or (HistoryMessage(""),)
    if last.role != "user" or not ASKED.fullmatch(last.content[:400]):
        return ()
    begun = len(earlier)
    while begun and earlier[begun - 1].role == "assistant" and not earlier[begun - 1].calls:
        begun -= 1
    return tuple(earlier[begun:])


def rest(whole: str, response: str) -> str | None:
    """Return what follows a beginning in a text, ignoring white space; None if the text does not begin with it."""
    place = 0
    for sign in response:
        if sign.isspace():
            continue
        while place < len(whole) and whole[place].isspace():
            place += 1
        if place == len(whole) or whole[place] != sign:
            return None
        place += 1
    # The cut answer already ended with this space.
    return whole[place:].lstrip() if response[-1:].isspace() else whole[place:]
