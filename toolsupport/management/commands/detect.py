"""Tests a model's tool support from a terminal."""

from __future__ import annotations

import asyncio
import json
from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any

from asgiref.sync import async_to_sync
from channels.db import database_sync_to_async as in_database
from django.core.management.base import BaseCommand, CommandError

from toolsupport import providers
from toolsupport.core.errors import ConfigError, NotFound
from toolsupport.registry import leases
from toolsupport.registry.models import picker
from toolsupport.registry.testing import detection_reports, detections
from toolsupport.registry.testing.detection_reports import ShownDetection
from toolsupport.services.background_jobs import JobRunner
from toolsupport.services.detection_worker import UNREACHABLE

LOOK = 0.2  # seconds between two reads of the progress
WORKS, WORKS_NOT, UNPROVED = 0, 1, 2


class Command(BaseCommand):
    answers = True  # whether the database answered at the last read
    help = "Test what a model can do with tools. Exit 0: tools work, 1: they do not, 2: inconclusive."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("model", help="The model's name, or server/name.")
        parser.add_argument(
            "--server", default="", help="The name of its server, if several servers have a model with that name."
        )
        parser.add_argument("--json", action="store_true", help="Print the verdict and the evidence as JSON.")

    def handle(self, *args: Any, **options: Any) -> None:
        name = f"{options['server']}/{options['model']}" if options["server"] else options["model"]
        try:
            done = async_to_sync(self.test)(name, quiet=options["json"])
        except (ConfigError, NotFound) as error:
            raise CommandError(str(error), returncode=UNPROVED) from error
        if options["json"]:
            evidence = [asdict(trial) for trial in detection_reports.trials(done.id)]
            self.stdout.write(json.dumps(asdict(done) | {"trials": evidence}, ensure_ascii=False, indent=2))
        else:
            self.stdout.write(f"{done.server}/{done.model}: {done.verdict_words or done.status}. {done.reason}")
        code = exit_code(done)
        if code:
            raise SystemExit(code)

    async def test(self, name: str, *, quiet: bool) -> ShownDetection:
        """Queue the test and run it here, unless a running site takes it first; then watch."""
        profile = await in_database(picker.find)(name)
        opened = await in_database(detections.open_test)(detections.DetectionRequest(profile, "command"))
        work = JobRunner(leases.OF_COMMANDS)
        # It also settles tests that others left, including this one if a site that took it is gone.
        work.tester.own = opened.id
        work.spawn(work.tester.serve())
        printed: dict[str, str] = {}
        try:
            while True:
                seen = await in_database(self.look)(opened.id)
                if seen is not None and not quiet:
                    self.report(seen, printed)
                if seen is not None and not seen.open:
                    return seen
                await asyncio.sleep(LOOK)
        finally:
            await work.stop()
            await providers.close()

    def look(self, detection: int) -> ShownDetection | None:
        """Return the progress of the test; None, with a line on stderr, while the database does not answer."""
        try:
            seen = detection_reports.shown(detection)
        except UNREACHABLE as error:
            if self.answers:
                self.stderr.write(f"The database does not answer, trying again: {error}")
            self.answers = False
            return None
        self.answers = True
        return seen

    def report(self, seen: ShownDetection, printed: dict[str, str]) -> None:
        """Print a line for each finished step and queue position; on a terminal also the running step."""
        if seen.place and printed.get("queued") != str(seen.place):
            printed["queued"] = str(seen.place)
            self.stdout.write(f"Waiting: number {seen.place} in the queue of {seen.server}.")
        for step in seen.steps:
            if step["state"] in ("done", "skipped") and printed.get(step["step"]) != step["state"]:
                printed[step["step"]] = step["state"]
                self.stdout.write(f"{step['title']} {step['detail']}")
            elif step["state"] == "running" and self.stdout.isatty():
                self.stdout.write(f"{step['title']} …", ending="\r")
                self.stdout.flush()


def exit_code(done: ShownDetection) -> int:
    """Return 0 if tools work, natively or as text; 1 if not; 2 if nothing was proved."""
    if done.verdict in ("native", "text"):
        return WORKS
    if done.verdict == "flaky":
        return WORKS if done.detail.get("works") else WORKS_NOT
    return WORKS_NOT if done.verdict in ("ignored", "refused") else UNPROVED
