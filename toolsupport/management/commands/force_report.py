"""Measures a model with free and with constrained replies from a terminal."""

from __future__ import annotations

import json
import re
from argparse import ArgumentParser, ArgumentTypeError
from dataclasses import asdict
from pathlib import Path
from typing import Any

from asgiref.sync import async_to_sync
from channels.db import database_sync_to_async as in_database
from django.core.management.base import BaseCommand, CommandError

from toolsupport import providers
from toolsupport.core.errors import ConfigError, NotFound
from toolsupport.core.force_tasks import TASKS, TOOLS
from toolsupport.core.types import JSON, ChatSettings
from toolsupport.registry.models import picker, request_context
from toolsupport.services import force_report
from toolsupport.services.force_report import ForceOutcome

MOST_ROUNDS = 50
NO_FIELD = "Requests to {kind} have no field for a schema, so no reply of its models can be constrained."
UNSAFE = re.compile(r"[^\w.-]+")


def rounds(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= MOST_ROUNDS:
        raise ArgumentTypeError(f"a whole number from 1 to {MOST_ROUNDS}")
    return int(text)


class Command(BaseCommand):
    help = (
        "Measure what constrained replies gain on a model: the same tasks with and without. Writes a file that holds "
        "the figures, each outcome and the beginning of replies that do not fit, without addresses or keys."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("model", help="The model's name, or server/name.")
        parser.add_argument("--rounds", type=rounds, default=2, help="How many times each task runs in each way.")
        parser.add_argument("--json", action="store_true", help="Print the report as JSON, and write no file.")
        parser.add_argument("--file", type=Path, help="The file to write. Default: force-report-MODEL.json here.")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            report = async_to_sync(self.measure)(options["model"], options["rounds"], quiet=options["json"])
        except (ConfigError, NotFound) as error:
            raise CommandError(str(error)) from error
        text = json.dumps(report, ensure_ascii=False, indent=2)
        if options["json"]:
            self.stdout.write(text)
            return
        for line in force_report.table(report["figures"], report["formats"]):
            self.stdout.write(line)
        self.keep(options["file"] or Path(f"force-report-{UNSAFE.sub('-', report['model'])}.json"), text)

    def keep(self, file: Path, text: str) -> None:
        try:
            file.write_text(f"{text}\n", encoding="utf-8")
        except OSError as error:
            raise CommandError(f"{file} cannot be written: {error.strerror}.") from error
        self.stdout.write(f"Wrote {file}")

    async def measure(self, name: str, count: int, *, quiet: bool) -> JSON:
        profile = await in_database(picker.find)(name)
        prepared = await in_database(request_context.request_spec)(profile, TOOLS, ChatSettings())
        kind = providers.provider(prepared.endpoint.kind)
        if not kind.constrains:
            raise CommandError(NO_FIELD.format(kind=kind.title))
        outcomes: list[ForceOutcome] = []
        specs = force_report.ways(prepared)
        try:
            async for outcome in force_report.measured(prepared, count):
                outcomes.append(outcome)
                if not quiet:
                    self.report(len(outcomes), 2 * count * len(TASKS))
            figures = force_report.figures(outcomes)
            constrained = figures[force_report.FORCED]
            constrained["odd_schema"] = await force_report.odd_schema(prepared, constrained) or None
        finally:
            await providers.close()
        return {
            "model": prepared.request_spec.model,
            "server_kind": prepared.endpoint.kind,
            "formats": {way: spec.format for way, spec in specs.items()},
            "rounds": count,
            "figures": figures,
            "outcomes": [asdict(one) | {"seconds": round(one.seconds, 3)} for one in outcomes],
        }

    def report(self, done: int, total: int) -> None:
        """Print the progress: on a terminal in one line, elsewhere a line for each tenth."""
        if self.stdout.isatty():
            self.stdout.write(f"{done} of {total} requests", ending="\n" if done == total else "\r")
            self.stdout.flush()
        elif done == total or done * 10 // total > (done - 1) * 10 // total:
            self.stdout.write(f"{done} of {total} requests")
