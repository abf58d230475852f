"""Reads the server's own claims about the model."""

from __future__ import annotations

import asyncio

from toolsupport import providers
from toolsupport.core.errors import ProviderError
from toolsupport.core.events import Failed, TextDelta
from toolsupport.core.outcomes import TrialOutcome
from toolsupport.core.sentences import sentence
from toolsupport.detection.probe_reply import ProbeReply
from toolsupport.detection.probe_runner import ProbeRequest, ProbeRunner

ASKED = ProbeRequest(())
SECONDS = 5.0


async def run(runner: ProbeRunner) -> None:
    """Record the server's claims, which prove nothing: they are shown beside the measured values."""
    reply = ProbeReply()
    try:
        async with asyncio.timeout(SECONDS):
            details = await providers.describe(runner.subject.endpoint, runner.subject.request_spec.model)
    except (ProviderError, TimeoutError) as error:
        why = str(error) or sentence("no_claim_in_time", seconds=SECONDS)
        reply.failed = Failed("unreachable", why)
        await runner.note(ASKED, reply, TrialOutcome("declared", "failed", why))
        return
    reply.take(TextDelta(", ".join(details.capabilities or ())))
    if "thinking" in (details.capabilities or ()):
        runner.thinks = runner.declared_thinking = True
    await runner.note(ASKED, reply, TrialOutcome("declared", *_judged(details.capabilities, details.unsaid)))


def _judged(capabilities: tuple[str, ...] | None, unsaid: tuple[str, ...]) -> tuple[str, str]:
    if capabilities is None or "tools" in unsaid:
        return "unsaid", sentence("no_claim")
    if "tools" in capabilities:
        return "right", sentence("claims_tools")
    claimed = sentence("claims_no_tools", capabilities=capabilities) if capabilities else sentence("claims_nothing")
    return "denied", claimed
