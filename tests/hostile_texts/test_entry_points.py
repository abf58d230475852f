"""No untrusted text costs more than its budget: every entry point with its worst units, and the table of the docs."""

from __future__ import annotations

import re

from tests.hostile_texts.entry_points import ENTRY_POINTS, EntryPoint, cost
from tests.hostile_texts.units import COMMON, UNITS
from tests.house import ROOT
from tests.processor_time import within
from tests.tables import every

# A tenth of the size at two thirds of the budget: this finds what grows by the square, on slow machines too.
SMALLER, SHARE = 10, 1.5
ROW = re.compile(r"^\| ([^|]+) \| ([\d,]+) characters[^|]*\|", re.M)


# S1
@every("name, entry", ENTRY_POINTS.items())
def test_worst_texts_stay_in_their_budget(name: str, entry: EntryPoint) -> None:
    units = dict.fromkeys((*entry.worst, *(() if name.startswith("a reply, ") else COMMON)))
    costs = {unit: cost(entry, unit, entry.size // SMALLER) for unit in units}
    assert {unit: found for unit, found in costs.items() if not within(found, entry.budget / SHARE)} == {}


def test_there_are_many_units_and_each_is_one() -> None:
    assert len(UNITS) >= 200 and all(UNITS)


def test_the_table_of_the_docs_names_every_entry_point() -> None:
    table = (ROOT / "docs" / "safety.md").read_text().partition("## Untrusted texts")[2].partition("\n## ")[0]
    rows = {name: int(size.replace(",", "")) for name, size in ROW.findall(table)}
    wanted = {name: entry.size for name, entry in ENTRY_POINTS.items() if not name.startswith("a reply, ")}
    assert rows == wanted | {"a reply in any format": ENTRY_POINTS["a reply, native"].size}
