"""Tries whether the model makes two calls in one answer."""

from __future__ import annotations

from toolsupport.core.verdicts import Outcome
from toolsupport.detection.laboratory import Laboratory, Question, calls_of, trouble
from toolsupport.detection.questions import TICKET, TOOLS, both, demand


async def run(lab: Laboratory) -> None:
    """One demand for two calls at once."""
    wanted = demand(lab.chance), demand(lab.chance)
    question = Question(both(*wanted), TOOLS)
    reply = await lab.ask(question)
    tickets = {call.arguments.get("ticket") for call in calls_of(reply, TICKET.name)}
    told = trouble(reply)
    if told is None:
        right = tickets == {asked.ticket for asked in wanted}
        made = f"Of two calls that were demanded at once it made {len(reply.calls)}."
        told = ("right", "Two calls in one answer.") if right else ("only_one", made)
    await lab.note(question, reply, Outcome("parallel", *told))
