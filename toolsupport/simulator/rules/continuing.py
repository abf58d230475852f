"""Continues an answer that was cut off, where it ended."""

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
COMPLETE = "There is nothing left to say: my answer was complete."
NOT_MINE = "I cannot go on with this answer: by my rules it would have been another one."


def reply(speak: Callable[[ModelInput], SimulatedReply], prompt: ModelInput) -> SimulatedReply:
    """Reply with what is left of the cut answer, where one is asked for; otherwise as the model does."""
    broken = _broken(prompt)
    if not broken:
        return speak(prompt)
    before = replace(prompt, messages=prompt.messages[: -1 - len(broken)])
    whole = speak(before)
    left = rest(whole.content, "".join(message.content for message in broken))
    if left is None:
        # Nothing of it was seen yet where it was cut while it thought or called.
        return whole if whole.calls and not whole.content else SimulatedReply(NOT_MINE)
    if not left and not whole.calls:
        return SimulatedReply(COMPLETE)
    return replace(whole, content=left, thinking="")


def _broken(prompt: ModelInput) -> tuple[HistoryMessage, ...]:
    """The messages of the answer that was cut, where the latest message asks for the rest of it; else none."""
    *earlier, last = prompt.messages or (HistoryMessage(""),)
    if last.role != "user" or not ASKED.fullmatch(last.content[:400]):
        return ()
    begun = len(earlier)
    while begun and earlier[begun - 1].role == "assistant" and not earlier[begun - 1].calls:
        begun -= 1
    return tuple(earlier[begun:])


def rest(whole: str, response: str) -> str | None:
    """What follows in a text after its beginning, white space aside; None where it does not begin so."""
    place = 0
    for sign in response:
        if sign.isspace():
            continue
        while place < len(whole) and whole[place].isspace():
            place += 1
        if place == len(whole) or whole[place] != sign:
            return None
        place += 1
    # The space that the cut answer ended with was seen already.
    return whole[place:].lstrip() if response[-1:].isspace() else whole[place:]
