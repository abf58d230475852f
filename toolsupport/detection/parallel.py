"""Tests whether the model makes two calls in one answer."""

from __future__ import annotations

from toolsupport.core.call_building import compact
from toolsupport.core.outcomes import TrialOutcome
from toolsupport.core.sentences import sentence
from toolsupport.detection.probe_prompts import TICKET, TOOLS, ProbePrompt, both, demand
from toolsupport.detection.probe_reply import ProbeReply, calls_of, trouble
from toolsupport.detection.probe_runner import ProbeRunner


async def run(runner: ProbeRunner) -> None:
    """Request two calls at once."""
    while not runner.sampled("parallel"):
        wanted = demand(runner.chance), demand(runner.chance)
        question = runner.offering(both(*wanted), TOOLS)
        reply = await runner.ask(question)
        judgement = trouble(reply) or judged(reply, wanted)
        await runner.note(question, reply, TrialOutcome("parallel", *judgement, question.streamed))


def judged(reply: ProbeReply, wanted: tuple[ProbePrompt, ProbePrompt]) -> tuple[str, str]:
    """Return (code, why).

    A reply without any call proves nothing about two, and a truncated one may lack the second.
    """
    made = calls_of(reply, TICKET.name)
    tickets = {call.arguments.get("ticket") for call in made}
    if tickets == {asked.ticket for asked in wanted}:
        return "right", sentence("two_calls")
    if _different(reply) > 1:
        return "proves_nothing", _complaint(reply)
    if not made:
        return "none_made", sentence("no_calls_of_two")
    if reply.cut:
        return "cut", sentence("cut_after_calls", made=len(made))
    return "only_one", sentence("one_of_two", made=len(tickets))


def _different(reply: ProbeReply) -> int:
    """Count the distinct calls, including those that could not run."""
    ready = {(call.name, compact(call.arguments)) for call in reply.calls}
    return len(ready | {(call.name, call.raw) for call in reply.rejected})


def _complaint(reply: ProbeReply) -> str:
    if not reply.rejected:
        return sentence("two_other_calls")
    return sentence("two_rejected_calls", reason=reply.rejected[0].reason)
