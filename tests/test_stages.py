"""`make test` runs its parts side by side, prints how long each took, and repeats failures alone, up to twice."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from pathlib import Path

import pytest

from tests import stages
from tests.fast_tests import FEATURES, SLOW, is_fast
from tests.house import ROOT
from tests.stages import AGAIN, BROWSER, ON_SERVERS, STORED, Part, Target
from tests.tables import every


class Scripted(Part):
    """A part that is a program of ours instead of pytest."""

    def command(self, *more: str) -> tuple[str, ...]:
        return (sys.executable, "-c", self.words[0], *more)


# Fails until its trace has `runs` lines, one for each run.
FAILS_UNTIL = """
import sys
with open({trace!r}, "a+") as trace:
    print(*sys.argv[1:], file=trace)
    trace.seek(0)
    sys.exit(len(trace.readlines()) < {runs})
"""


def ran(monkeypatch: pytest.MonkeyPatch, *parts: Part) -> int:
    monkeypatch.setattr(stages, "parts", lambda _: list(parts))
    return asyncio.run(stages.main("all"))


@pytest.mark.parametrize(("program", "code"), [("print('fine')", 0), ("raise SystemExit(1)", 1)])
def test_each_part_tells_its_time_and_the_worst_decides(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], program: str, code: int
) -> None:
    assert ran(monkeypatch, Scripted("good", 1, ("print('well')",)), Scripted("other", 1, (program,))) == code
    shown = capfd.readouterr().out
    assert "    good | well\n" in shown and re.search(r"^== good: passed after \d+ s$", shown, re.M)
    assert len(re.findall(r"^== other: FAILED", shown, re.M)) == 3 * code


@pytest.mark.parametrize(("runs", "code", "tries"), [(1, 0, 0), (2, 0, 1), (3, 0, 2), (4, 1, 2)])
def test_what_failed_is_tried_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, runs: int, code: int, tries: int
) -> None:
    trace = tmp_path / "trace"
    assert ran(monkeypatch, Scripted("part", 2, (FAILS_UNTIL.format(trace=str(trace), runs=runs),))) == code
    first, *others = trace.read_text().splitlines()
    assert first.startswith("-n 2 ") and [tuple(other.split()) for other in others] == [AGAIN] * tries


def test_a_worker_without_a_browser_starts_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHROMIUM", "/usr/bin/chromium")
    rest, browser = sorted(stages.parts("all"), key=lambda part: BROWSER in part.words)
    assert browser.words == (BROWSER,) and f"--ignore={BROWSER}" in rest.words
    monkeypatch.delenv("CHROMIUM")
    assert stages.parts("all") == [rest]


def test_a_part_that_does_not_end_is_ended_with_all_that_it_started(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    endless = "import subprocess; subprocess.run(['sleep', '600'])"
    assert ran(monkeypatch, Scripted("slow", 1, (endless,), limit=0.5)) == 1
    assert len(re.findall(r"^== slow: not finished after 0 s, so it was ended$", capfd.readouterr().out, re.M)) == 3


# (what the test does, the seconds that it has, what is printed): it waits for a process; or where no signal arrives.
HANGS = {
    "process": ("with subprocess.Popen(['sleep', '60']): pass", 10.0, "1 failed, 1 passed"),
    "deaf": ("signal.pthread_sigmask(0, [14]), time.sleep(60)", 2.0, "crashed while running"),
}


@pytest.mark.parametrize("kind", HANGS)
def test_a_test_that_hangs_fails_with_its_stack_and_the_others_run(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path, kind: str
) -> None:
    does, seconds, words = HANGS[kind]
    monkeypatch.setattr(stages, "STUCK", seconds)
    file = tmp_path / "test_one.py"
    file.write_text(f"import signal, subprocess, time\ndef test_hangs():\n  {does}\ndef test_after(): pass\n")
    part = Part("one", 1, (str(file), "-c", os.devnull, "-p", "no:django", f"--rootdir={tmp_path}"), limit=60)
    assert not asyncio.run(part.run(*part.first()))
    printed = capfd.readouterr().out
    assert words in printed and f'File "{file}", line 3 in test_hangs' in printed
    assert "not finished" not in printed


def test_the_build_server_leaves_nothing_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOOLSUPPORT_TEST_REDIS_URL", "redis://127.0.0.1:1")
    found = {part.name: part for part in stages.parts("everything")}
    rest, servers = found["rest"], found["servers"]
    left = {word.removeprefix("--ignore=") for word in rest.words if word.startswith("--ignore=")}
    assert rest.words[0] == "tests" and left == {BROWSER, *ON_SERVERS} and found["browser"].words == (BROWSER,)
    assert all(any(path.startswith(folder) for folder in servers.words) for path in ON_SERVERS)
    assert rest.environment["TOOLSUPPORT_TEST_REDIS_URL"] == "" and not servers.environment
    assert all((ROOT / path).exists() for path in STORED)
    assert all(stages.IN_ORDER[0] in part.command() for part in (rest, servers, found["browser"]))


def test_a_target_is_made_as_a_whole_each_time() -> None:
    target = Target("real", 1, ("real",))
    assert target.command(*target.first()) == target.command(*AGAIN) == ("make", "real")


def test_what_is_left_out_of_the_fast_tests_exists() -> None:
    for name in (*SLOW, *FEATURES):
        file, _, function = name.partition("::")
        assert f"def {function}" in (ROOT / "tests" / file).read_text(), name


@every(
    ("file", "function", "starts_sites", "fast"),
    [
        ("chat/test_wire.py", "test_it", True, False),
        ("toolsupport/core/test_call_validation.py", "test_it", False, True),
        ("test_permissions.py", "test_it", False, False),
        ("chat/test_approvals.py", "test_it", True, True),
        ("chat/test_approvals.py", "test_an_approval_survives_kill_9", True, False),
        ("toolsupport/core/test_reasoning.py", "test_the_time_is_linear", False, False),
    ],
)
def test_the_fast_tests_start_no_site_and_take_no_long(
    file: str, function: str, starts_sites: bool, fast: bool
) -> None:
    assert is_fast(file, function, starts_sites) == fast
