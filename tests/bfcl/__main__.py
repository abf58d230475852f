"""Runs cases of the Berkeley Function Calling Leaderboard with a model (`make exam-bfcl`), and prints a table.

Each category is a run of an exam of its own, which the site shows under *Exams*. No tool is executed.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import django
from asgiref.sync import async_to_sync

from tests.bfcl.cases import CATEGORIES, Category, found_in
from toolsupport.core.errors import ToolsupportError
from toolsupport.core.exams import estimates
from toolsupport.core.exams.cases import ExamSuite

SAMPLE = 20  # cases of a category, without another number
PASSED, INCONCLUSIVE = 0, 2


@dataclass(frozen=True, slots=True)
class CategoryResult:
    """What a model got right in a category. `asked` are the cases of the run, `trials` those that could be graded."""

    name: str
    right: int
    trials: int
    asked: int
    seconds: float

    def cells(self) -> tuple[str, ...]:
        low, high = estimates.interval(self.right, self.trials)
        share = f"{self.right / self.trials:.0%}" if self.trials else "–"
        rest = (str(self.asked - self.trials), f"{self.seconds:.0f}")
        return (self.name, f"{self.right} of {self.trials}", share, f"{low:.0%} to {high:.0%}", *rest)


TITLES = ("category", "right", "share", "interval (95 %)", "not graded", "seconds")


def table(results: Sequence[CategoryResult]) -> Iterator[str]:
    """Yield the lines of a Markdown table, with the sum in the last one."""
    sums = (sum(getattr(one, name) for one in results) for name in ("right", "trials", "asked", "seconds"))
    yield f"| {' | '.join(TITLES)} |"
    yield "|" + "---|" * len(TITLES)
    for one in (*results, CategoryResult("all", *sums)):
        yield f"| {' | '.join(one.cells())} |"


def examined(model: str, category: Category, sample: int, formats: Sequence[str]) -> CategoryResult | None:
    """Run the cases of a category; None if the server failed."""
    from toolsupport.management.commands.validate_model import Command
    from toolsupport.registry.exams import exam_reports

    suite = ExamSuite(f"BFCL {category.name}", category.sample(sample))
    done = async_to_sync(Command().examine)(model, suite, list(formats))
    found = exam_reports.to_json(done.id)
    shares = found["groups"].values()
    right, trials = (sum(share[key] for share in shares) for key in ("right", "trials"))
    failed = done.status != "done" or bool(done.detail.get("failing"))
    return None if failed else CategoryResult(category.name, right, trials, len(suite.cases), done.seconds)


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="make exam-bfcl", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="The environment with bfcl-eval, or its folder data.")
    parser.add_argument("--model", required=True, help="The model's name, or server/name.")
    parser.add_argument("--sample", type=int, default=SAMPLE, help="Cases of each category; 0: all of them.")
    parser.add_argument("--category", action="append", choices=CATEGORIES, help="May be repeated. Default: all.")
    parser.add_argument("--format", action="append", default=[], help="A call format to test, or native.")
    options = parser.parse_args(words)
    results, code = [], PASSED
    try:
        django.setup()
        folder = options.data if (options.data / "possible_answer").is_dir() else found_in(options.data)
        for name in options.category or CATEGORIES:
            result = examined(options.model, Category(folder, name), options.sample, options.format)
            if result is None:
                code = INCONCLUSIVE
                break
            results.append(result)
    except ToolsupportError as error:
        print(error, file=sys.stderr)
        return INCONCLUSIVE
    print("\n".join(table(results)))
    return code


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "toolsupport.config.settings")
    sys.exit(main(sys.argv[1:]))
