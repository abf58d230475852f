"""Tries whether the model uses what a tool gave back."""

from __future__ import annotations

from toolsupport.core.outcomes import Outcome
from toolsupport.core.side_findings import settled
from toolsupport.core.types import ToolCall
from toolsupport.detection.grading import quoted
from toolsupport.detection.probe_prompts import TICKET, TOOLS, answered, demand, secret
from toolsupport.detection.probe_reply import Reply, trouble
from toolsupport.detection.probe_runner import Laboratory


async def run(lab: Laboratory) -> None:
    """Answers after a result, each of which holds a fresh secret."""
    while not settled(lab.outcomes, "second_turn", lab.agreeing):
        asked, seat = demand(lab.chance), secret(lab.chance)
        call = ToolCall("call_1", TICKET.name, {"ticket": asked.ticket, "copies": asked.copies})
        question = lab.offering(answered(asked, [call], seat), TOOLS)
        reply = await lab.ask(question)
        await lab.note(question, reply, Outcome("second_turn", *_told(reply, seat)))


def _told(reply: Reply, seat: str) -> tuple[str, str]:
    if seat in reply.text:
        return "right", "It read the seat from the result."
    troubled = trouble(reply)
    if troubled is not None:
        return troubled
    if reply.calls:
        return "called_for_nothing", f"It called {reply.calls[0].name} again instead of reading the result."
    return "not_copied", f"The result said {seat}, it answered: {quoted(reply.text)}"
