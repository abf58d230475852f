"""Reads texts of all units at the size limit of every entry point, and measures the time of the processor.

python -m tests.nightly.hostile_texts
"""

from __future__ import annotations

import os
from dataclasses import dataclass

from tests.hostile_texts.units import UNITS


@dataclass(frozen=True, slots=True)
class WorstText:
    """The most expensive text of one entry point: its seconds, and the seconds that are permitted."""

    name: str
    size: int
    unit: str
    seconds: float
    budget: float


def run(names: str = "") -> list[WorstText]:
    """Measure the entry points whose names begin so."""
    from tests.hostile_texts.entry_points import ENTRY_POINTS, cost

    found = []
    for name, entry in ENTRY_POINTS.items():
        if name.startswith(names):
            seconds, unit = max((cost(entry, unit, entry.size), unit) for unit in UNITS)
            found.append(WorstText(name, entry.size, unit, seconds, entry.budget))
            print(
                f"| {name} | {entry.size:,} | {unit!r} | {seconds * 1000:.0f} of {entry.budget * 1000:.0f} ms |",
                flush=True,
            )
    return found


if __name__ == "__main__":
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "toolsupport.config.settings")
    django.setup()
    run()
