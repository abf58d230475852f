"""Programs of others finish the task of the agents with a native model, one that calls in text, and a refusing one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.agents.cells import FEW, KNOWN, PROGRAMS
from tests.clients.tasks import faults
from tests.serving import ADMIN, Site, serving

pytestmark = pytest.mark.clients


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with serving(tmp_path_factory.mktemp("site")) as running:
        running.manage("refresh_models")
        running.manage("shell", "--no-imports", "-c", KNOWN)
        yield running


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_finishes_its_task(site: Site, program: str, tmp_path: Path) -> None:  # G10
    key = site.manage("create_api_key", ADMIN[0]).strip()
    assert faults(site, key, program, FEW, tmp_path / "work") == dict.fromkeys(FEW, "")
