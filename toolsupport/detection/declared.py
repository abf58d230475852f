"""Reads the server's own claims about the model."""

from __future__ import annotations

import asyncio

from toolsupport import providers
from toolsupport.core.errors import ProviderError
from toolsupport.core.events import Failed, TextDelta
from toolsupport.core.outcomes import TrialOutcome
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
        why = str(error) or f"It sent no answer within {SECONDS:g} s."
        reply.failed = Failed("unreachable", why)
        await runner.note(ASKED, reply, TrialOutcome("declared", "failed", why))
        return
    reply.take(TextDelta(", ".join(details.capabilities or ())))
    if "thinking" in (details.capabilities or ()):
        runner.thinks = runner.declared_thinking = True
    await runner.note(ASKED, reply, TrialOutcome("declared", *_judged(details.capabilities, details.unsaid)))


def _judged(capabilities: tuple[str, ...] | None, unsaid: tuple[str, ...]) -> tuple[str, str]:
    if capabilities is None or "tools" in unsaid:
        return "unsaid", "The server says nothing about tools, which is not a no."
    if "tools" in capabilities:
        return "right", "The server says that it takes tools."
    return "denied", f"The server leaves tools out of what it can do: {', '.join(capabilities) or 'nothing'}."
