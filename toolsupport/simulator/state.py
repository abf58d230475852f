"""What all requests to one simulator share."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from toolsupport.simulator.memory import ModelMemory
from toolsupport.simulator.models import SimulatedModel


@dataclass(slots=True)
class SimulatorState:
    """`pace` is the seconds between two tokens of a model of ordinary speed; `drifts` counts the new builds so far."""

    memory: ModelMemory
    pace: float
    drifts: dict[str, int] = field(default_factory=dict)

    def build(self, model: SimulatedModel) -> SimulatedModel:
        """The model as it stands now, after all its drifts."""
        return replace(model, build=model.build + self.drifts.get(model.name, 0))

    def drift(self, model: SimulatedModel) -> SimulatedModel:
        """A new build of a model that drifts; any other stays as it is."""
        if model.drifts:
            self.drifts[model.name] = self.drifts.get(model.name, 0) + 1
        return self.build(model)
