"""Tests whether the model answers without a call if no tool is needed."""

from __future__ import annotations

from toolsupport.core.outcomes import TrialOutcome, of_step
from toolsupport.core.sentences import sentence
from toolsupport.detection.probe_prompts import GREETING, TOOLS, greeting
from toolsupport.detection.probe_reply import ProbeReply, trouble
from toolsupport.detection.probe_runner import ProbeRunner


async def run(runner: ProbeRunner) -> None:
    """Send greetings with tools on offer. An earlier answered one counts too, if it was sent with the same settings."""
    question = runner.offering(GREETING, TOOLS)
    as_now = runner.streams and runner.think == runner.subject.request_spec.think
    if runner.greeted is not None and as_now and not of_step(runner.outcomes, "control"):
        await runner.note(question, runner.greeted, _outcome(runner.greeted))
    while not runner.sampled("control"):
        question = runner.offering(greeting(runner.chance), TOOLS)
        reply = await runner.ask(question)
        await runner.note(question, reply, _outcome(reply))


def _outcome(reply: ProbeReply) -> TrialOutcome:
    asked_for = [call.name for call in reply.calls] + [rejected.name for rejected in reply.rejected]
    problem = trouble(reply)
    if problem is None and asked_for:
        problem = "called_for_nothing", sentence("greeted_and_called", tool=asked_for[0])
    return TrialOutcome("control", *(problem or ("right", sentence("greeted"))))
