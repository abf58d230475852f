"""Tests whether the server accepts a request with tools, if it accepts the same one without."""

from __future__ import annotations

from dataclasses import replace

from toolsupport.core import server_flags
from toolsupport.core.outcomes import TrialOutcome
from toolsupport.core.sentences import sentence
from toolsupport.core.server_refusals import MISCONFIGURED, classify
from toolsupport.core.verdicts import acceptance_settled
from toolsupport.detection.probe_prompts import GREETING, TOOLS
from toolsupport.detection.probe_reply import ProbeReply, trouble
from toolsupport.detection.probe_runner import ProbeRequest, ProbeRunner, ProbeTarget
from toolsupport.detection.trial_order import streamed_or_not

BARE = ProbeRequest(GREETING)
# Outcomes that count as an answer to a greeting: this step only asks whether the server accepts the request.
ANSWERED = ("right", "no_word", "cut", "malformed")


async def run(runner: ProbeRunner) -> None:
    """Send a greeting without tools, which warms the model up, then the same greeting with tools, until the result is
    settled.

    A refusal is confirmed with and without streaming: several servers may be behind one address, and some refuse tools
    only while they stream.
    """
    if not await warm_up(runner):
        return
    await _greet(runner, streamed=True)
    ways = streamed_or_not(runner.chance)
    while not acceptance_settled(runner.outcomes):
        await _greet(runner, streamed=next(ways))


async def _greet(runner: ProbeRunner, streamed: bool) -> None:
    question = replace(runner.offering(GREETING, TOOLS), streamed=streamed)
    reply = await runner.ask(question)
    runner.greeted = reply if streamed or runner.greeted is None else runner.greeted
    await runner.note(question, reply, replace(_outcome(reply, runner.subject), streamed=streamed))


async def warm_up(runner: ProbeRunner) -> bool:
    """Send a greeting, which loads the model; return whether it was answered."""
    bare = await runner.warm_up(BARE)
    code, why = trouble(bare) or ("right", sentence("answers"))
    code = "right" if code == "cut" else code
    await runner.note(BARE, bare, TrialOutcome("accepted", code, why, subject="bare"))
    return code in ANSWERED


def _outcome(reply: ProbeReply, subject: ProbeTarget) -> TrialOutcome:
    if reply.refused is not None:
        return TrialOutcome(
            "accepted", "refused", sentence("server_wrote", text=reply.refused.message), subject="tools"
        )
    if reply.failed is not None:
        found = classify(reply.failed.status, reply.failed.body)
        if found.label == MISCONFIGURED:
            flag = server_flags.needed(found.message, found.rule, subject.endpoint.kind, subject.parsers)
            return TrialOutcome("accepted", "misconfigured", server_flags.sentence(flag), subject="tools", flag=flag)
    problem = trouble(reply)
    if problem is not None and problem[0] not in ANSWERED:
        return TrialOutcome("accepted", *problem, subject="tools")
    return TrialOutcome("accepted", "right", sentence("accepts_tools"), subject="tools")
