"""Groups the rows of the model picker: recent models first, then those of each server."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from toolsupport.registry.models import picker
from toolsupport.registry.models.picker_rows import ShownModel


@dataclass(frozen=True, slots=True)
class ModelGroup:
    """Models under one heading; `status` is the state of their server, "" while it answers."""

    title: str
    status: str
    models: tuple[ShownModel, ...]


@dataclass(frozen=True, slots=True)
class ModelChoices:
    """The picker. `hidden` are simulated models that are left out, for the reason `why`; `may_show`: a click shows
    them.
    """

    recent: tuple[ShownModel, ...]
    groups: tuple[ModelGroup, ...]
    hidden: int = 0
    why: str = ""
    may_show: bool = False

    @property
    def models(self) -> list[ShownModel]:
        return [*self.recent, *(model for group in self.groups for model in group.models)]

    @property
    def filters(self) -> list[tuple[str, str, int]]:
        """The filters: name, title, how many models pass."""
        rows = self.models
        return [
            ("tools", "Works with tools", sum(model.evidence.works and not model.why_not for model in rows)),
            ("vision", "Sees images", sum(model.vision for model in rows)),
            ("loaded", "Loaded", sum(model.loaded for model in rows)),
            ("all", "All", len(rows)),
        ]

    @property
    def first(self) -> str:
        """The filter to begin with: until something is proven, all models."""
        return "tools" if self.filters[0][2] else "all"


def grouped(recent: Sequence[int], simulated: bool = False) -> ModelChoices:
    """Return all models to choose from; `recent` are the ids of those that the person used last, newest first."""
    rows = picker.choices(simulated)
    by_id = {row.id: row for row in rows if not row.why_not}
    first = tuple(by_id[pk] for pk in recent if pk in by_id)
    others = [row for row in rows if row not in first]
    # Servers in the order of their best model: those that answer come first.
    servers = dict.fromkeys((row.server_id, row.server, row.server_status) for row in others)
    groups = (
        ModelGroup(name, status, tuple(row for row in others if row.server_id == pk)) for pk, name, status in servers
    )
    there = simulated or any(row.simulated for row in rows)
    hidden, why, may_show = (0, "", False) if there else picker.hidden_simulated()
    return ModelChoices(first, tuple(groups), hidden, why, may_show)
