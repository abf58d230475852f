"""The sandbox is tried before anything runs in it; where it does not hold, there is no bash (SAFETY 3.2)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from chat.tools.sandbox import self_test
from chat.tools.sandbox.self_test_cache import AGAIN, cached_test
from tests.installed import needs

# For root another program comes before bubblewrap, which must work for a false one to be reached.
needs_a_sandbox = needs("bwrap")
MISSING = "Bubblewrap is missing here. Install it: sudo apt-get install bubblewrap"


def fake(place: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bubblewrap that is none, the first on the path; `$0` of what it is to run stays reachable in `$@`."""
    place.mkdir()
    program = place / "bwrap"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{place}:{os.environ['PATH']}")
    for above in (place, *place.parents):
        if above.stat().st_uid == os.geteuid() and above != Path("/tmp"):
            above.chmod(above.stat().st_mode | 0o011)


@needs_a_sandbox
def test_where_bubblewrap_is_installed_it_holds() -> None:
    assert self_test.why_not() == ""


def test_it_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert self_test.why_not() == MISSING
    assert cached_test(self_test.why_not)() == MISSING


@needs_a_sandbox
@pytest.mark.parametrize(
    ("script", "words"),
    [
        (
            "echo 'bwrap: No permissions to create new namespace' >&2; exit 1",
            "Bubblewrap cannot make a sandbox here (bwrap: No permissions to create new namespace).",
        ),
        ("exit 1", "Bubblewrap cannot make a sandbox here (no reason given)."),
        ("echo 'there is a network'; echo tried", "The sandbox does not hold here: there is a network."),
    ],
)
def test_it_does_not_hold(script: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake(tmp_path / "bin", script, monkeypatch)
    assert self_test.why_not() == words


@needs_a_sandbox
def test_one_that_encloses_nothing_is_seen_through(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake(tmp_path / "bin", 'while [ "$1" != -- ]; do shift; done; shift; cd /tmp && exec "$@"', monkeypatch)
    why = self_test.why_not()
    assert why.startswith("The sandbox does not hold here: ")
    for words in ("other processes can be seen", "passwords can be seen", "files of the server can be seen"):
        assert words in why


@needs_a_sandbox
def test_what_was_missing_may_be_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a new start of the site."""
    now = [0.0]
    missing = cached_test(self_test.why_not, 30, lambda: now[0])
    with monkeypatch.context() as without:
        without.setenv("PATH", str(tmp_path))
        assert missing() == MISSING
    now[0] += AGAIN
    while missing() == MISSING:
        pass
    assert missing() == ""
    monkeypatch.setenv("PATH", str(tmp_path))
    now[0] += AGAIN
    assert missing() == "", "one that holds is tried once"
