"""No text of others costs more than its budget: every entry point with its worst units, and the table of the docs."""

from __future__ import annotations

from tests.hostile_texts.entry_points import ENTRY_POINTS, EntryPoint, cost
from tests.hostile_texts.units import COMMON, UNITS
from tests.tables import every

# A tenth of the size at a third of the budget: this finds what grows by the square, and costs little every day.
SMALLER, SHARE = 10, 3


# S1
@every("name, entry", ENTRY_POINTS.items())
def test_worst_texts_stay_in_their_budget(name: str, entry: EntryPoint) -> None:
    units = dict.fromkeys((*entry.worst, *(() if name.startswith("a reply, ") else COMMON)))
    costs = {unit: cost(entry, unit, entry.size // SMALLER) for unit in units}
    assert {unit: found for unit, found in costs.items() if found > entry.budget / SHARE} == {}


def test_there_are_many_units_and_each_is_one() -> None:
    assert len(UNITS) >= 200 and all(UNITS)
