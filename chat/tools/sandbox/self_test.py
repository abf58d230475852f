"""Tests once per process whether the sandbox isolates commands on this machine."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

from chat.tools.sandbox import bwrap, file_ownership, seccomp
from chat.tools.sandbox.shell_process import LIMITS

INSTALL = "Bubblewrap is missing here. Install it: sudo apt-get install bubblewrap"
PATIENCE = 20  # seconds
MESSAGE_LIMIT = 200  # characters of bubblewrap's message

# (the fault, a shell test that succeeds if there is none)
CHECKS = (
    ("the workspace cannot be written", "touch made && rm made"),
    ("commands do not run as `nobody`", '[ "$(id -u):$(id -g)" = 65534:65534 ]'),
    ("commands have rights of root", "! grep -q '^Cap[A-Z][a-z]*:.*[1-9a-f]' /proc/self/status"),
    ("commands can gain rights", "grep -q '^NoNewPrivs:.1' /proc/self/status"),
    ("other processes can be seen", '[ "$(ls -d /proc/[0-9]* | wc -l)" -lt 9 ]'),
    ("there is a network", '[ "$(grep -c : /proc/net/dev)" = 1 ]'),
    ("passwords can be seen", "[ ! -e /etc/shadow ]"),
    ("files of the server can be seen", '[ ! -e "$OUTSIDE" ]'),
    ("something outside of the workspace can be written", "! touch /made && ! touch /dev/made && ! touch /usr/made"),
    ("system calls are not filtered", "grep -q '^Seccomp:.2' /proc/self/status"),
    ("processes are not counted", f'[ "$(ulimit -u)" = {LIMITS.processes} ]'),
    ("memory is not limited", f'[ "$(ulimit -v)" = {LIMITS.memory // 1024} ]'),
)


def why_not() -> str:
    """Return why no command may run here, for people, or "". Takes a tenth of a second."""
    if not bwrap.program():
        return INSTALL
    if not seccomp.is_supported():
        return "Commands cannot be sandboxed on this kind of processor."
    with tempfile.TemporaryDirectory(prefix="toolsupport-sandbox-", ignore_cleanup_errors=True) as outside:
        root = Path(outside, "workspace")
        root.mkdir(mode=0o700)
        file_ownership.hand_over(root)
        return _tried(root, outside)


def _tried(root: Path, outside: str) -> str:
    tests = "\n".join(f"{{ {test}; }} 2>/dev/null || echo '{words}'" for words, test in CHECKS)
    script = f"OUTSIDE={outside}\n{tests}\necho tried"
    try:
        made = _run(root, script)
    except (OSError, subprocess.TimeoutExpired):
        return "Bubblewrap could not be started here, or did not finish."
    *wrong, last = made.stdout.splitlines() or [""]
    if last != "tried":
        message = (made.stderr.strip().splitlines() or ["no reason given"])[-1]
        return f"Bubblewrap cannot make a sandbox here ({message[:MESSAGE_LIMIT]})."
    return f"The sandbox does not hold here: {', '.join(wrong)}." if wrong else ""


def _run(root: Path, script: str) -> subprocess.CompletedProcess[str]:
    with seccomp.filter_to_read() as filter_:
        return subprocess.run(
            bwrap.argv(root, script, LIMITS, filter_),
            pass_fds=[filter_],
            env=bwrap.ENVIRONMENT,
            cwd="/",
            start_new_session=True,
            timeout=PATIENCE,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
        )
