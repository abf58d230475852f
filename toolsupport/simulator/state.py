"""The state shared by all requests to one simulator."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from toolsupport.simulator.loaded_models import ModelMemory
from toolsupport.simulator.models import MODELS, SimulatedModel


@dataclass(slots=True)
class SimulatorState:
    """`pace` is the seconds per token of a normal model; `drifts` counts the new builds so far.

    `deleted` are models that are gone until they are pulled again, `pulled` the bytes of downloads that were cut off.
    """

    memory: ModelMemory
    pace: float
    drifts: dict[str, int] = field(default_factory=dict)
    deleted: set[str] = field(default_factory=set)
    pulled: dict[str, int] = field(default_factory=dict)

    def stored(self) -> list[SimulatedModel]:
        """Return the models that are not deleted."""
        return [model for model in MODELS.values() if model.name not in self.deleted]

    def build(self, model: SimulatedModel) -> SimulatedModel:
        """Return the model in its present build, after all drifts."""
        return replace(model, build=model.build + self.drifts.get(model.name, 0))

    def drift(self, model: SimulatedModel) -> SimulatedModel:
        """Create a new build of a model that drifts; others stay the same."""
        if model.drifts:
            self.drifts[model.name] = self.drifts.get(model.name, 0) + 1
        return self.build(model)
