"""Leaves a test out where a program is not installed, and fails instead where nothing may be left out."""

from __future__ import annotations

import os
import shutil
from collections.abc import Generator
from importlib.util import find_spec
from typing import Any

import pytest

# What these need, the build server installs for them elsewhere or not at all.
OF_OTHERS = ("real_server", "clients")


# What `.ci/run` found impossible on this machine, without asking the product.
WITHOUT = os.environ.get("TOOLSUPPORT_TEST_WITHOUT", "").split()
IMPOSSIBLE = "cannot work on this machine"


def needs(program: str) -> pytest.MarkDecorator:
    """Only whether it is there counts: a program that does not work is for the test to find."""
    if program in WITHOUT:
        return pytest.mark.skip(reason=f"{program} {IMPOSSIBLE}")
    return pytest.mark.skipif(shutil.which(program) is None, reason=f"{program} is not installed")


def needs_package(name: str) -> pytest.MarkDecorator:
    """The same for a package of Python that only an extra brings."""
    try:
        found = find_spec(name) is not None
    except ModuleNotFoundError:
        found = False
    return pytest.mark.skipif(not found, reason=f"{name} is not installed")


def _fail_where_nothing_may_be_left_out(report: Any) -> None:
    if report.skipped and not hasattr(report, "wasxfail") and os.environ.get("CI") == "true":
        why = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        if str(why).endswith(IMPOSSIBLE):
            return
        report.outcome = "failed"
        report.longrepr = f"{why}. Here (CI=true) nothing may be left out."


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if not any(item.get_closest_marker(name) for name in OF_OTHERS):
        _fail_where_nothing_may_be_left_out(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    _fail_where_nothing_may_be_left_out(report)
    return report
