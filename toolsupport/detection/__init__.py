"""Lists the steps of a test of a model, cheapest first."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

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

__all__ = ["DETECTORS", "KINDS", "Detector", "ProbeReply", "ProbeRunner", "ProbeTarget", "ProbeTrial"]


@dataclass(frozen=True, slots=True)
class Detector:
    """One step: `title` is its name for people, `answers` the most answers of the model that it needs."""

    name: str
    title: str
    run: Callable[[ProbeRunner], Awaitable[None]]
    answers: int


DETECTORS: Mapping[str, Detector] = MappingProxyType(
    {
        detector.name: detector
        for detector in (
            Detector("declared", "What does the server claim?", declared.run, 0),
            Detector("loaded", "Does it answer?", warm_up.run, 1),
            Detector("accepted", "Does the server accept tools?", accepted.run, 10),
            Detector("rendered", "Do the tools reach its prompt?", rendered.run, 0),
            Detector("called", "Does it call the right tool?", called.run, 32),
            Detector("second_turn", "Does it use a tool's result?", second_turn.run, 12),
            Detector("control", "Does it answer without a call when none is needed?", control.run, 12),
            Detector("parallel", "Does it make two calls at once?", parallel.run, 12),
            Detector("constrains", "Does the server enforce a schema?", constrains.run, 7),
            Detector("formats", "Does it write calls as text?", text_formats.run, 48),
            Detector("per_tool", "Which file tools does it call?", per_tool.run, 60),
        )
    }
)

# What is tested together: the kind of a test → its steps.
KINDS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "tools": tuple(name for name in DETECTORS if name != "loaded"),
        "formats": ("loaded", "formats"),
        "per_tool": ("loaded", "per_tool"),
    }
)
