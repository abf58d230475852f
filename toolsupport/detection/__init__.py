"""Lists the steps of a test of a model, cheapest first."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from toolsupport.core.detection_step_results import LATER
from toolsupport.core.sentences import sentence
from toolsupport.detection import (
    accepted,
    called,
    constrains,
    control,
    declared,
    parallel,
    per_tool,
    rendered,
    second_turn,
    text_formats,
    warm_up,
)
from toolsupport.detection.probe_reply import ProbeReply
from toolsupport.detection.probe_runner import ProbeRunner, ProbeTarget, ProbeTrial

__all__ = ["DETECTORS", "KINDS", "STEPS", "Detector", "ProbeReply", "ProbeRunner", "ProbeTarget", "ProbeTrial"]


@dataclass(frozen=True, slots=True)
class Detector:
    """One step: `title` is its name for people, `answers` the most answers of the model that it needs."""

    name: str
    run: Callable[[ProbeRunner], Awaitable[None]]
    answers: int

    @property
    def title(self) -> str:
        return sentence(f"step_{self.name}")


DETECTORS: Mapping[str, Detector] = MappingProxyType(
    {
        detector.name: detector
        for detector in (
            Detector("declared", declared.run, 0),
            Detector("loaded", warm_up.run, 1),
            Detector("accepted", accepted.run, 10),
            Detector("rendered", rendered.run, 0),
            Detector("called", called.run, 32),
            Detector("second_turn", second_turn.run, 12),
            Detector("control", control.run, 12),
            Detector("parallel", parallel.run, 12),
            Detector("formats", text_formats.run, 48),
            Detector("per_tool", per_tool.run, 60),
            Detector("constrains", constrains.run, 9),
        )
    }
)

# Kind of a test → its steps.
KINDS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "tools": tuple(name for name in DETECTORS if name != "loaded"),
        "formats": ("loaded", "formats"),
        "per_tool": ("loaded", "per_tool"),
    }
)
# The same for the steps that may follow a verdict, which are not a test of their own.
STEPS: Mapping[str, tuple[str, ...]] = MappingProxyType({**KINDS, "later": LATER})
