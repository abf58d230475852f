"""Checks the installation and names the next step for each problem."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from chat.doctor_checks import overdue_rows, tool_findings
from chat.mcp import doctor_checks
from toolsupport.services import deployment_checks, serve_lock, sign_in_doctor_checks
from toolsupport.services.doctor import Finding, examine
from toolsupport.web import connection_limits

MARKS = {True: "ok  ", False: "FAIL", None: "note"}


class Command(BaseCommand):
    help = "Check database, data directory, sign-in, disk, backup, proxies, sandbox, servers. Exit 1 if one is broken."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="Print the findings as JSON.")

    def handle(self, *args: Any, **options: Any) -> None:
        serve_lock.adopt_address()
        findings = [
            *examine(),
            *sign_in_doctor_checks.findings(),
            *deployment_checks.findings(),
            connection_limits.finding(),
            *tool_findings(),
        ]
        if any(found.what == "database" and found.ok for found in findings):
            findings += [sign_in_doctor_checks.required_factor(), *overdue_rows(), *doctor_checks.findings()]
        if options["json"]:
            report = {"ok": healthy(findings), "findings": [found.to_json() for found in findings]}
            self.stdout.write(json.dumps(report))
        else:
            for found in findings:
                self.stdout.write(f"{MARKS[found.ok]}  {found.what}: {found.words}")
        if not healthy(findings):
            raise SystemExit(1)


def healthy(findings: list[Finding]) -> bool:
    return all(found.ok is not False for found in findings)
