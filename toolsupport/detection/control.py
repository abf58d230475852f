"""Tries whether the model leaves tools alone when nothing needs them."""

from __future__ import annotations

from toolsupport.core.verdicts import Outcome
from toolsupport.detection.laboratory import Laboratory, Question, trouble
from toolsupport.detection.questions import GREETING, TOOLS


async def run(lab: Laboratory) -> None:
    """A greeting, with tools on offer."""
    question = Question(GREETING, TOOLS)
    reply = await lab.ask(question)
    asked_for = [call.name for call in reply.calls] + [rejected.name for rejected in reply.rejected]
    told = trouble(reply)
    if told is None and asked_for:
        told = "called_for_nothing", f"It was greeted and called {asked_for[0]}."
    await lab.note(question, reply, Outcome("control", *(told or ("right", "It greeted and called nothing."))))
