"""Everything ends: Stop ends each kind of work, and SIGTERM ends a site on which all of them run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.installed import needs
from tests.nightly import ends

STOPPED, ENDED = 2.0, 5.0  # seconds


# S3, C5. One site for both: its start costs more than the rest.
@pytest.mark.nightly
@needs("bwrap")
@pytest.mark.asyncio
async def test_stop_and_sigterm_end_every_kind_of_work(tmp_path: Path) -> None:
    with ends.prepared(tmp_path) as (site, client):
        stops = await ends.stop_each(site, client)
        assert {kind: took for kind, took in stops.items() if took > STOPPED} == {}
        end = await ends.terminate(site, client, ends.KINDS, locked=True)
        assert end.code == 0 and end.left == [] and end.seconds <= ends.DRAIN + ENDED
        assert "still running" in (site.directory / "serve.log").read_text()


# S3. The same in short, by day: work of three kinds beside a locked database and a program that reads nothing.
@pytest.mark.asyncio
async def test_sigterm_ends_work_beside_a_locked_database(tmp_path: Path) -> None:
    kinds = ("a model that is silent", "a model without end", "a database query")
    with ends.prepared(tmp_path) as (site, client):
        end = await ends.terminate(site, client, kinds, locked=True)
        assert end.code == 0 and end.left == [] and end.seconds <= ends.DRAIN + ENDED
