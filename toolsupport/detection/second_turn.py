"""Tries whether the model uses what a tool gave back."""

from __future__ import annotations

from toolsupport.core.verdicts import Outcome
from toolsupport.core.words import ToolCall
from toolsupport.detection.judging import quoted
from toolsupport.detection.laboratory import Laboratory, Question, trouble
from toolsupport.detection.questions import TICKET, TOOLS, answered, demand, secret


async def run(lab: Laboratory) -> None:
    """One answer after a result that holds a fresh secret."""
    asked, seat = demand(lab.chance), secret(lab.chance)
    call = ToolCall("call_1", TICKET.name, {"ticket": asked.ticket, "copies": asked.copies})
    question = Question(answered(asked, [call], seat), TOOLS)
    reply = await lab.ask(question)
    told = trouble(reply)
    if told is None and seat in reply.text:
        told = "right", "It read the seat from the result."
    elif told is None and reply.calls:
        told = "called_for_nothing", f"It called {reply.calls[0].name} again instead of reading the result."
    elif told is None:
        told = "not_copied", f"The result said {seat}, it answered: {quoted(reply.text)}"
    await lab.note(question, reply, Outcome("second_turn", *told))
