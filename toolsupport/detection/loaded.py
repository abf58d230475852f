"""Loads the model by a greeting, where a test begins with a step that counts the time of its answers."""

from __future__ import annotations

from toolsupport.core.outcomes import Outcome
from toolsupport.detection.accepted import BARE
from toolsupport.detection.laboratory import Laboratory
from toolsupport.detection.replies import trouble


async def run(lab: Laboratory) -> None:
    """A greeting without tools."""
    reply = await lab.warm_up(BARE)
    code, why = trouble(reply) or ("right", "It answers.")
    await lab.note(BARE, reply, Outcome("loaded", code, why))
