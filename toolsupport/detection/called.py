"""Tests whether the model calls the right tool on a plain request."""

from __future__ import annotations

from dataclasses import replace

from toolsupport.call_in_error import generated
from toolsupport.core import server_flags, verdicts
from toolsupport.core.outcomes import TrialOutcome
from toolsupport.core.sentences import sentence
from toolsupport.detection.grading import judge
from toolsupport.detection.probe_prompts import TICKET, TOOLS, ProbePrompt, demand
from toolsupport.detection.probe_reply import ProbeReply
from toolsupport.detection.probe_runner import ProbeRequest, ProbeRunner
from toolsupport.detection.text_formats import form_of, look_at
from toolsupport.detection.trial_order import streamed_or_not

THINKS = {"on_only": True, "off_only": False}


async def run(runner: ProbeRunner) -> None:
    """Run trials with each setting of thinking; all later steps use the setting that works."""
    for think in runner.settings:
        if not verdicts.switch_ignored(runner.outcomes):
            await _try(runner, think)
    if runner.settings != (None,) and not any(outcome.think is False for outcome in runner.outcomes):
        # Its thoughts were first seen in these trials: how it calls without them is still unknown.
        await _try(runner, False)
    values = verdicts.judge(runner.outcomes).values
    runner.streams = values.get("streaming") is not False
    if runner.subject.request_spec.think is None:
        runner.think = THINKS.get(values.get("tools_thinking", ""))


async def _try(runner: ProbeRunner, think: bool | None) -> None:
    """Run trials with and without streaming until the verdict can no longer change."""
    ways = streamed_or_not(runner.chance)
    while not verdicts.sure(runner.outcomes, think):
        asked = demand(runner.chance)
        question = ProbeRequest(asked.messages, TOOLS, streamed=next(ways), think=think)
        reply = await runner.ask(question)
        await look_at(reply.text)
        outcome = _outcome(runner, question, reply, asked)
        if outcome.code in ("no_call", "in_text"):
            runner.written.append(reply.text)
        elif outcome.code == "malformed" and reply.failed:
            runner.written.append(generated(reply.failed.body, question.messages))
        await runner.note(question, reply, outcome)


def _outcome(runner: ProbeRunner, question: ProbeRequest, reply: ProbeReply, asked: ProbePrompt) -> TrialOutcome:
    """Return the outcome; a call left in the text is the server's fault if one of its parsers reads that format."""
    outcome = judge("called", question, reply, asked)
    in_text = outcome.code == "no_call" and TICKET.name in reply.text and asked.ticket in reply.text
    if not in_text:
        return outcome
    flag = server_flags.left_in_text(runner.subject.endpoint.kind, form_of(reply.text), runner.subject.parsers)
    why = sentence("call_left_in_text", setting=server_flags.sentence(flag)) if flag else outcome.why
    return replace(outcome, code="in_text", why=why, flag=flag)
