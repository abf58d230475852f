"""The simulator as a process of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest

from tests.house import ROOT
from toolsupport.simulator.__main__ import main
from toolsupport.simulator.server import Simulator

ALONE = [sys.executable, "-m", "toolsupport.simulator"]
COMMAND = [sys.executable, "manage.py", "simulator"]


@contextmanager
def process(command: list[str], *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """A simulator on a free port; it is killed if it does not end by itself."""
    child = subprocess.Popen(
        [*command, "--port", "0", *arguments],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONUNBUFFERED": ""},
    )
    with child:
        try:
            yield child
        finally:
            child.kill()


def address(child: subprocess.Popen[str]) -> str:
    assert child.stdout
    line = child.stdout.readline()
    assert line.startswith("Simulator listening on http://127.0.0.1:"), line
    return line.split()[-1]


@pytest.mark.parametrize("command", [ALONE, COMMAND], ids=["alone", "command"])
@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGINT])
def test_runs_until_a_signal_comes(command: list[str], sign: signal.Signals) -> None:
    with process(command) as child:
        assert httpx.get(f"{address(child)}/api/version").json() == {"version": "0.13.0"}
        child.send_signal(sign)
        out, err = child.communicate(timeout=10)
        assert (child.returncode, out, err) == (0, "", "")


@pytest.mark.parametrize("command", [ALONE, COMMAND], ids=["alone", "command"])
def test_ends_with_its_parent_when_asked_to(command: list[str]) -> None:
    with process(command, "--with-parent") as child:
        assert httpx.get(address(child)).status_code == 200
        assert child.stdin
        child.stdin.close()
        assert child.wait(timeout=10) == 0


def test_otherwise_outlives_its_input() -> None:
    with process(ALONE) as child:
        url = address(child)
        assert child.stdin
        child.stdin.close()
        assert httpx.get(url).status_code == 200


@pytest.mark.asyncio
async def test_a_port_that_is_taken_is_said_in_words(simulator: Simulator, capsys: pytest.CaptureFixture[str]) -> None:
    done = subprocess.run([*ALONE, "--port", str(simulator.port)], cwd=ROOT, capture_output=True, text=True, timeout=20)
    assert done.returncode == 1
    assert done.stderr.startswith("The simulator cannot listen: ")


def test_the_port_must_be_given(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([])
    assert "--port" in capsys.readouterr().err
