"""Processes that tests start end with them, however the tests end."""

from __future__ import annotations

import os
import select
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="Processes are followed by pidfd, which Linux has.")

TESTS = """
import os, time
from tests.fork_server import ForkedProcess
words = ("shell", "-v", "0", "-c", "print(1, flush=True); import time; time.sleep(60)")
process = ForkedProcess(words, dict(os.environ), open(os.devnull, "w"))
process.stdout.readline()  # it runs
print(process.pid, flush=True)
time.sleep(60)
"""


def test_a_process_ends_with_the_tests_that_were_killed(tmp_path: Path) -> None:
    environment = {**os.environ, "TOOLSUPPORT_DATA_DIR": str(tmp_path)}
    tests = subprocess.Popen([sys.executable, "-c", TESTS], stdout=subprocess.PIPE, text=True, env=environment)
    assert tests.stdout
    with tests.stdout:
        process = os.pidfd_open(int(tests.stdout.readline()))
    assert select.select([process], [], [], 0)[0] == []
    tests.kill()
    tests.wait()
    assert select.select([process], [], [], 30)[0] == [process]
    os.close(process)
