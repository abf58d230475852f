"""`python -m tests.bench [--quick] [--parts …] [--kinds …]`: runs the measurements, then prints one table and draws
one picture.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence

from tests.bench import core, idle, pages, pair, processes, site, streams, timeline
from tests.bench.verdicts import PICTURE, Line, Promise, judge, picture, table

PARTS = ("core", "streams", "idle", "pages", "pair", "timeline")
MEMORY = Promise("memory MiB", 180)


def with_site(parts: Sequence[str], kinds: Sequence[str], quick: bool) -> list[Line]:
    """What is measured on one site."""
    scenarios = streams.QUICK if quick else streams.SCENARIOS
    chosen = streams.needed(scenarios, kinds)
    with site.serving([*chosen, idle.BESIDE]) as bench:
        lines = [Line("start", Promise("seconds until ready", 3), bench.ready)]
        print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores", flush=True)
        if "streams" in parts:
            lines += streams.measured(bench, scenarios, kinds)
            answers = sum(each.chats * each.rounds for each in chosen)
            lines += judge(
                f"after {answers:,} answers", [MEMORY], {MEMORY.figure: processes.cost(bench.served[0][1])[1]}
            )
        if "idle" in parts:
            lines += idle.main(bench)
    return lines


def main(parts: Sequence[str], kinds: Sequence[str], quick: bool) -> None:
    lines = core.main() if "core" in parts else []
    if "streams" in parts or "idle" in parts:
        lines += with_site(parts, kinds, quick)
    for name, part in (("pages", pages), ("pair", pair), ("timeline", timeline)):
        lines += part.main() if name in parts else []
    if parts == PARTS and not quick:
        PICTURE.parent.mkdir(exist_ok=True)
        PICTURE.write_text(picture(lines))
    print(f"\n{table(lines)}", flush=True)


def words(given: str) -> tuple[str, ...]:
    return tuple(given.split(","))


if __name__ == "__main__":
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("--quick", action="store_true", help="only short scenarios, without the parts that take long")
    given.add_argument("--parts", type=words, help=f"which of {','.join(PARTS)}")
    given.add_argument("--kinds", type=words, default=streams.KINDS, help="chat, gateway or both")
    chosen = given.parse_args()
    main(chosen.parts or (PARTS[:2] if chosen.quick else PARTS), chosen.kinds, chosen.quick)
