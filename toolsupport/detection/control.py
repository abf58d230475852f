"""Tries whether the model leaves tools alone when nothing needs them."""

from __future__ import annotations

from toolsupport.core.outcomes import TrialOutcome, of_step
from toolsupport.detection.probe_prompts import GREETING, TOOLS, greeting
from toolsupport.detection.probe_reply import ProbeReply, trouble
from toolsupport.detection.probe_runner import ProbeRunner


async def run(lab: ProbeRunner) -> None:
    """Greetings, with tools on offer. The one that was answered before counts too, where it was put the same way."""
    question = lab.offering(GREETING, TOOLS)
    as_now = lab.streams and lab.think == lab.subject.brief.think
    if lab.greeted is not None and as_now and not of_step(lab.outcomes, "control"):
        await lab.note(question, lab.greeted, _outcome(lab.greeted))
    while not lab.sampled("control"):
        question = lab.offering(greeting(lab.chance), TOOLS)
        reply = await lab.ask(question)
        await lab.note(question, reply, _outcome(reply))


def _outcome(reply: ProbeReply) -> TrialOutcome:
    asked_for = [call.name for call in reply.calls] + [rejected.name for rejected in reply.rejected]
    told = trouble(reply)
    if told is None and asked_for:
        told = "called_for_nothing", f"It was greeted and called {asked_for[0]}."
    return TrialOutcome("control", *(told or ("right", "It greeted and called nothing.")))
