"""Loads the model by a greeting, where a test begins with a step that counts the time of its answers."""

from __future__ import annotations

from toolsupport.core.outcomes import TrialOutcome
from toolsupport.detection.accepted import BARE
from toolsupport.detection.probe_reply import trouble
from toolsupport.detection.probe_runner import ProbeRunner


async def run(lab: ProbeRunner) -> None:
    """A greeting without tools."""
    reply = await lab.warm_up(BARE)
    code, why = trouble(reply) or ("right", "It answers.")
    await lab.note(BARE, reply, TrialOutcome("loaded", code, why))
