"""Measures how many calls get lost between a model and a program (`make loss`), and writes docs/loss.md."""

from __future__ import annotations

import argparse
import asyncio
import random
import tempfile
from collections.abc import Mapping
from pathlib import Path

from tests.loss import bfcl, gold
from tests.loss.measuring import Case, Tally, gateway, measured
from tests.loss.programs import APIS
from tests.loss.upstream import EACH, length
from tests.serving import ROOT

PAGE = ROOT / "docs/loss.md"
BEGIN, END = "<!-- figures: written by `make loss` -->", "<!-- end of figures -->"
# Replies that are cut at each of their positions, and those that come letter by letter.
CUT, LETTERS = range(1), range(1000, 1060)


def of_tasks() -> list[Case]:
    """Each task of others in each format, in pieces of five characters."""
    formats = (gold.NATIVE, *gold.TEXT)
    return [
        Case(format, number, -5, list(APIS)[(number + place) % len(APIS)])
        for place, format in enumerate(formats)
        for number in range(len(gold.TASKS))
    ]


def cases() -> list[Case]:
    """All cases in random order, so that those that fit into the time are a fair sample."""
    found = of_tasks()
    random.Random(1).shuffle(found)
    if found:
        return found
    for format in (gold.NATIVE, *gold.TEXT):
        places = [(seed, cut) for seed in CUT for cut in range(1, length(format, seed))]
        places += [(seed, EACH) for seed in LETTERS]
        for number, (seed, cut) in enumerate(places):
            found.append(Case(format, seed, cut, list(APIS)[number % len(APIS)]))
    random.Random(1).shuffle(found)
    return found


def report(tallies: Mapping[str, Tally], possible: int) -> str:
    """The figures in Markdown."""
    answers, calls = sum(one.answers for one in tallies.values()), sum(one.calls for one in tallies.values())
    lost, added = sum(one.lost for one in tallies.values()), sum(one.added for one in tallies.values())
    # None of n was lost: the share is below 3/n in 95 of 100 such runs.
    bound = "" if lost else f", with a confidence of 95 % fewer than {300_000 / max(calls, 1):.0f}"
    lines = [
        f"{answers} answers of {possible}, {calls} calls: {lost} did not arrive as they were written "
        f"({100_000 * lost / max(calls, 1):.0f} per 100,000{bound}), {added} arrived that were not written, "
        f"{sum(one.moved for one in tallies.values())} answers had their calls in another order, "
        f"{sum(one.again for one in tallies.values())} answers needed a second request.",
        "",
        "| format | written by | answers | calls | not as written | not written | asked again |",
        "|---|---|---|---|---|---|---|",
    ]
    for format, one in sorted(tallies.items()):
        writer = "the server" if format == gold.NATIVE else "Simulator" if format in gold.INDEPENDENT else "own writer"
        lines.append(f"| {format} | {writer} | {one.answers} | {one.calls} | {one.lost} | {one.added} | {one.again} |")
    return "\n".join(lines)


async def run(seconds: float) -> dict[str, Tally]:
    with tempfile.TemporaryDirectory() as folder:
        async with gateway(Path(folder)) as asked:
            return await measured(asked, cases(), seconds)


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--seconds", type=float, default=480, help="how long to ask; the cases are a sample then")
    words.add_argument("--bfcl", type=Path, help="the folder bfcl_eval/data of bfcl-eval; nothing is written")
    chosen = words.parse_args()
    if chosen.bfcl:
        gold.TASKS[:] = bfcl.load(chosen.bfcl)
    tallies = asyncio.run(run(chosen.seconds))
    figures = report(tallies, len(cases()))
    print(figures, *(example for one in tallies.values() for example in one.examples[:3]), sep="\n")
    if chosen.bfcl:
        return
    before, _, rest = PAGE.read_text().partition(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}\n\n{figures}\n\n{END}{rest.partition(END)[2]}")


if __name__ == "__main__":
    main()
