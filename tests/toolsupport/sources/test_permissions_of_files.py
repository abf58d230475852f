"""A file or directory that the account of the site may not read is a reason of its own."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from toolsupport.core.sentences import SENTENCES
from toolsupport.sources import worker

NOBODY = 65534
WORDS = "The account of toolsupport may not read this."


@contextmanager
def as_an_account_without_rights() -> Iterator[None]:
    """Root may read everything, whatever the permissions of a file are."""
    before = os.geteuid()
    if not before:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(before)


@pytest.fixture
def place() -> Iterator[Path]:
    """A directory that every account may enter, unlike those of pytest."""
    with tempfile.TemporaryDirectory() as found:
        Path(found).chmod(0o755)
        yield Path(found)


def reason(kind: str, path: Path) -> str:
    worker.engine(kind)  # an account without rights may not be able to import it
    asked = {"task": "run", "kind": kind, "location": str(path), "forbidden": "", "query": "SELECT 1"}
    with as_an_account_without_rights():
        answer = worker.answered(asked)
    return SENTENCES.read(answer["error"])


@pytest.mark.parametrize("kind", ["sqlite", "files"])
@pytest.mark.parametrize("closed", ["place", "above"])
def test_a_place_without_permission_has_a_reason_of_its_own(kind: str, closed: str, place: Path) -> None:
    above = place / "above"
    (above / "place").mkdir(parents=True)
    found = above / "place"
    if kind == "sqlite":
        found = above / "place" / "a.db"
        found.touch()
    shut = found if closed == "place" else above
    shut.chmod(0)
    assert reason(kind, found) == WORDS
    assert reason(kind, place / "none") != WORDS
