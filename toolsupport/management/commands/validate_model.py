"""Runs an exam with a model from a terminal."""

from __future__ import annotations

import asyncio
import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from asgiref.sync import async_to_sync
from channels.db import database_sync_to_async as in_database
from django.core.management.base import BaseCommand, CommandError

from toolsupport import providers
from toolsupport.core.errors import Busy, ConfigError, NotFound
from toolsupport.core.exams import estimates, exam_files, junit
from toolsupport.core.exams.builtin import FULL, QUICK, SUITES
from toolsupport.core.exams.cases import ExamSuite
from toolsupport.core.history_sentences import counted
from toolsupport.registry import leases
from toolsupport.registry.exams import exam_reports, exam_runs, team_exams
from toolsupport.registry.exams.exam_reports import ShownExam
from toolsupport.registry.exams.exam_runs import ExamRequest
from toolsupport.registry.models import picker
from toolsupport.services.background_jobs import JobRunner

LOOK = 0.3  # seconds between two reads of the progress
PASSED, FAILED, INCONCLUSIVE = 0, 1, 2
CODES = {"passed": PASSED, "failed": FAILED}
BAR = 30


class Command(BaseCommand):
    help = "Run an exam with a model. No tool is executed. Exit 0: passed, 1: failed, 2: inconclusive."
    swap_from = ""
    quiet = False

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--model", required=True, metavar="ID", help="The model's name, or server/name.")
        parser.add_argument("--full-suite", action="store_true", help="All 120 built-in cases; without it 42 of them.")
        parser.add_argument("--suite", metavar="NAME", help="quick, full, an exam of the team, or a JSON file.")
        parser.add_argument(
            "--format",
            action="append",
            default=[],
            help="A call format to test, or native; may be repeated. Without it: the format that chats use.",
        )
        parser.add_argument("--against", metavar="MODEL", help="Run the same exam with this model; exit 1 if worse.")
        parser.add_argument(
            "--swap-from", metavar="MODEL", help="This model makes the first calls; the other one gets their results."
        )
        parser.add_argument("--json", metavar="FILE", help="Write the result as JSON; - is the standard output.")
        parser.add_argument("--junit", metavar="FILE", help="Write the result as JUnit XML; - is the standard output.")

    def handle(self, *args: Any, **options: Any) -> None:
        self.swap_from = options["swap_from"] or ""
        self.quiet = "-" in (options["json"], options["junit"])
        try:
            suite = _suite(options)
            done, other = async_to_sync(self.run)(suite, options)
            code = self.report(done, other, options)
        except (Busy, ConfigError, NotFound) as error:
            raise CommandError(str(error), returncode=INCONCLUSIVE) from error
        if code:
            raise SystemExit(code)

    async def run(self, suite: ExamSuite, options: dict[str, Any]) -> tuple[ShownExam, ShownExam | None]:
        """Run the exam with the model, then with the one to compare it with."""
        done = await self.examine(options["model"], suite, options["format"])
        against = options["against"]
        return done, await self.examine(against, suite, options["format"]) if against else None

    async def examine(self, name: str, suite: ExamSuite, formats: list[str]) -> ShownExam:
        """Queue a run and do it here, unless a running site takes it first; then watch."""
        profile = await in_database(picker.find)(name)
        before = await in_database(picker.find)(self.swap_from) if self.swap_from else None
        chosen = tuple(formats) or (exam_runs.IN_FORCE,)
        run = await in_database(exam_runs.open_run)(ExamRequest(profile, suite, chosen, "command", swap_from=before))
        planned = (await in_database(exam_reports.shown)(run)).planned
        cost = await in_database(exam_reports.cost)(profile, planned)
        about = "by earlier exams of this model" if cost.measured else "a rough guess"
        cases = counted(planned // len(chosen), "case")
        self.show(f"{name}: {cases}, about {cost.seconds} s and {cost.tokens:,} tokens ({about}).")
        jobs = JobRunner(leases.OF_COMMANDS)
        jobs.examiner.own = run
        jobs.spawn(jobs.examiner.serve())
        try:
            while (seen := await in_database(exam_reports.shown)(run)).open:
                self.progress(seen)
                await asyncio.sleep(LOOK)
            self.progress(seen, last=True)
            return seen
        finally:
            await jobs.stop()
            await providers.close()

    def progress(self, seen: ShownExam, last: bool = False) -> None:
        """Draw the progress bar on a terminal."""
        if self.quiet or not self.stdout.isatty():
            return
        full = BAR * seen.graded // max(1, seen.planned)
        bar = f"[{'#' * full}{'.' * (BAR - full)}] {seen.graded} of {seen.planned}"
        self.stdout.write(bar, ending="\n" if last else "\r")
        self.stdout.flush()

    def show(self, line: str) -> None:
        if not self.quiet:
            self.stdout.write(line)

    def report(self, done: ShownExam, other: ShownExam | None, options: dict[str, Any]) -> int:
        """Print and write the result; return the exit code."""
        found = exam_reports.to_json(done.id)
        if other is not None:
            found["against"] = exam_reports.to_json(other.id)
        for asked, part in done.detail.get("formats", {}).items():
            self.show(f"Format {part['used'] or asked or 'none'}: {part['right']} of {part['trials']} cases right")
            for group, share in part["groups"].items():
                self.show(f"  {group:<12} {share['right']:>3} of {share['trials']}")
        for case in found["cases"]:
            if case["trials"] and case["right"] * 2 <= case["trials"]:
                self.show(f"  {case['id']} ({case['format'] or 'format in use'}): {case['why']}")
        why = done.detail.get("failing", "")
        after = f" after a change from {done.swap_from}" if done.swap_from else ""
        self.show(f"{done.server}/{done.model}{after}: {done.verdict_words or done.status}. {why}".rstrip())
        for name, text in (("json", json.dumps(found, ensure_ascii=False, indent=2)), ("junit", junit.written(found))):
            self.write(options[name], text)
        worse = other is not None and self.worse(done, other)
        return FAILED if worse else CODES.get(done.verdict, INCONCLUSIVE)

    def worse(self, done: ShownExam, other: ShownExam) -> bool:
        worse = estimates.worse(exam_runs.grades(done.id), exam_runs.grades(other.id))
        words = {True: "worse than", False: "better than", None: "not clearly different from"}[worse]
        self.show(f"{done.model} is {words} {other.model}.")
        return worse is True

    def write(self, place: str | None, text: str) -> None:
        if place == "-":
            self.stdout.write(text)
        elif place:
            try:
                Path(place).write_text(text + "\n", encoding="utf-8")
            except OSError as error:
                raise ConfigError(f"{place} cannot be written: {error.strerror}.") from error


def _suite(options: dict[str, Any]) -> ExamSuite:
    """Return the cases to run: built-in ones, an exam of the team, or those of a file. Raises ConfigError, NotFound."""
    name = options["suite"] or (FULL if options["full_suite"] else QUICK)
    if name in SUITES:
        return SUITES[name]
    try:
        return team_exams.suite(name)
    except NotFound as error:
        if not Path(name).exists() and not name.endswith(".json"):
            raise NotFound(f"{error} There is no file with that name either. {_known()}") from error
    try:
        return exam_files.read(Path(name).read_bytes(), name)
    except OSError as error:
        raise ConfigError(f"{name} cannot be read: {error.strerror}.") from error


def _known() -> str:
    return f"The exams are: {', '.join((*SUITES, *team_exams.names()))}."
