"""Tests whether the model makes two calls in one answer."""

from __future__ import annotations

from toolsupport.core.arguments import compact
from toolsupport.core.outcomes import TrialOutcome
from toolsupport.detection.probe_prompts import TICKET, TOOLS, ProbePrompt, both, demand
from toolsupport.detection.probe_reply import ProbeReply, calls_of, trouble
from toolsupport.detection.probe_runner import ProbeRunner


async def run(runner: ProbeRunner) -> None:
    """Request two calls at once."""
    while not runner.sampled("parallel"):
        wanted = demand(runner.chance), demand(runner.chance)
        question = runner.offering(both(*wanted), TOOLS)
        reply = await runner.ask(question)
        await runner.note(question, reply, TrialOutcome("parallel", *(trouble(reply) or judged(reply, wanted))))


def judged(reply: ProbeReply, wanted: tuple[ProbePrompt, ProbePrompt]) -> tuple[str, str]:
    """Return (code, why).

    A reply without any call proves nothing about two, and a truncated one may lack the second.
    """
    made = calls_of(reply, TICKET.name)
    tickets = {call.arguments.get("ticket") for call in made}
    if tickets == {asked.ticket for asked in wanted}:
        return "right", "Two calls in one answer."
    if _different(reply) > 1:
        return "proves_nothing", f"It made two calls at once, but not as demanded{_complaint(reply)}."
    if not made:
        return "none_made", "Two calls were demanded at once, and it made none: that says nothing of two."
    if reply.cut:
        return "cut", f"Its reply was cut after {len(made)} of two calls."
    return "only_one", f"Of two calls that were demanded at once it made {len(tickets)}."


def _different(reply: ProbeReply) -> int:
    """Count the distinct calls, including those that could not run."""
    ready = {(call.name, compact(call.arguments)) for call in reply.calls}
    return len(ready | {(call.name, call.raw) for call in reply.rejected})


def _complaint(reply: ProbeReply) -> str:
    return f": {reply.rejected[0].reason.rstrip('.')}" if reply.rejected else ""
