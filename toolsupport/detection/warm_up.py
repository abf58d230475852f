"""Loads the model with a greeting, for tests whose first step measures the time of answers."""

from __future__ import annotations

from toolsupport.core.outcomes import TrialOutcome
from toolsupport.core.sentences import sentence
from toolsupport.detection.accepted import BARE
from toolsupport.detection.probe_reply import trouble
from toolsupport.detection.probe_runner import ProbeRunner


async def run(runner: ProbeRunner) -> None:
    """Send a greeting without tools."""
    reply = await runner.warm_up(BARE)
    code, why = trouble(reply) or ("right", sentence("answers"))
    await runner.note(BARE, reply, TrialOutcome("loaded", code, why))
