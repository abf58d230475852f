"""Collects the outcome of each cell; a run of all of them writes the table of docs/agents.md."""

from __future__ import annotations

import pytest

from tests.agents import cells, table

passed: dict[tuple[str, str], bool] = {}


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    cell = dict(report.user_properties).get(cells.PROPERTY)
    if isinstance(cell, tuple):
        passed[cell] = report.passed and passed.get(cell, True)


def pytest_sessionfinish() -> None:
    if passed.keys() == cells.ALL:
        table.write(passed)
