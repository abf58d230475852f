"""Tests simulated models from several commands beside a site on one SQLite file, and counts how the tests ended.

python -m tests.nightly.busy_tests --commands 6 --tests 114
"""

from __future__ import annotations

import argparse
import itertools
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.serving import ROOT, Site, serving

PATIENCE = 900.0  # seconds for one command


def names(site: Site) -> list[str]:
    """The simulated models, as the site lists them."""
    site.manage("refresh_models")
    found = site.rows("SELECT name FROM toolsupport_modelprofile WHERE name LIKE 'sim-%' ORDER BY name")
    return [str(name) for (name,) in found]


def detect(site: Site, model: str) -> tuple[str, str]:
    """One command: the model, and the last line that it printed."""
    command = [sys.executable, "manage.py", "detect", model]
    ran = subprocess.run(command, cwd=ROOT, env=site.environ(), capture_output=True, text=True, timeout=PATIENCE)
    lines = (ran.stdout.strip() or ran.stderr.strip() or "(nothing)").splitlines()
    return model, lines[-1]


def ended(site: Site) -> Counter[tuple[str, str]]:
    """How many tests ended with which status and verdict."""
    return Counter(dict(_ended(site)))


def _ended(site: Site) -> Iterator[tuple[tuple[str, str], int]]:
    query = "SELECT status, verdict, COUNT(*) FROM toolsupport_detection GROUP BY status, verdict"
    for status, verdict, number in site.rows(query):
        yield (str(status), str(verdict)), int(number)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--commands", type=int, default=6)
    parser.add_argument("--tests", type=int, default=114)
    asked = parser.parse_args()
    with TemporaryDirectory() as directory:
        file = f"sqlite:///{Path(directory) / 'toolsupport.sqlite3'}"
        with serving(Path(directory), DATABASE_URL=file) as site:
            wanted = list(itertools.islice(itertools.cycle(names(site)), asked.tests))
            began = time.monotonic()
            with ThreadPoolExecutor(asked.commands) as commands:
                printed = list(commands.map(lambda model: detect(site, model), wanted))
            took, found = time.monotonic() - began, ended(site)
    for (status, verdict), number in sorted(found.items()):
        print(f"{status:12} {verdict or '(no verdict)':16} {number:4}")
    without = sum(number for (_, verdict), number in found.items() if not verdict)
    print(f"{found.total()} tests by {asked.commands} commands in {took:.0f} s, {without} without a verdict")
    for model, line in printed:
        if "interrupted" in line or "Error" in line or "inconclusive" in line.lower():
            print(f"  {model}: {line}")


if __name__ == "__main__":
    main()
