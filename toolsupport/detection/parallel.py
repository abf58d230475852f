"""Tries whether the model makes two calls in one answer."""

from __future__ import annotations

from toolsupport.core.outcomes import Outcome
from toolsupport.core.side_findings import settled
from toolsupport.detection.probe_prompts import TICKET, TOOLS, Demand, both, demand
from toolsupport.detection.probe_reply import Reply, calls_of, trouble
from toolsupport.detection.probe_runner import Laboratory


async def run(lab: Laboratory) -> None:
    """Demands for two calls at once."""
    while not settled(lab.outcomes, "parallel", lab.agreeing):
        wanted = demand(lab.chance), demand(lab.chance)
        question = lab.offering(both(*wanted), TOOLS)
        reply = await lab.ask(question)
        await lab.note(question, reply, Outcome("parallel", *(trouble(reply) or _told(reply, wanted))))


def _told(reply: Reply, wanted: tuple[Demand, Demand]) -> tuple[str, str]:
    """Whoever calls nothing at all has shown nothing of two calls; and a call that was cut may have had a second."""
    made = calls_of(reply, TICKET.name)
    tickets = {call.arguments.get("ticket") for call in made}
    if tickets == {asked.ticket for asked in wanted}:
        return "right", "Two calls in one answer."
    if not made:
        return "none_made", "Two calls were demanded at once, and it made none: that says nothing of two."
    if reply.cut:
        return "cut", f"Its reply was cut after {len(made)} of two calls."
    if len(made) > 1 and len(tickets) > 1:
        return "not_copied", "It made two calls at once, but did not copy what was demanded."
    return "only_one", f"Of two calls that were demanded at once it made {len(tickets)}."
