"""Builds the bubblewrap command line that isolates a shell command."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

MIB = 1024 * 1024

# The user that a program sees, and, if the server runs as root, the user that it really has.
NOBODY = 65534
INSIDE = "/workspace"
# The place where a server that runs as root shows the workspace to bubblewrap, and to nothing else.
DOOR = "/mnt"
APP = Path(__file__).resolve().parents[3]

# Bubblewrap gets nothing else of the environment: all processes inside can read that of the first one.
ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "HOME": "/tmp",
    "TMPDIR": "/tmp",
    "LANG": "C.UTF-8",
    "TERM": "dumb",
    "USER": "nobody",
}
# Files of the library loader and the usual programs; never users, passwords, names of hosts or certificates.
ETC = ("alternatives", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime")
# Files that show the machine's devices, its drivers, its command line and the locks of other programs: no program
# needs them. (The number of processors, memory and load stay, for `nproc`, `free` and `top`.)
MACHINE = (
    *("cmdline", "config.gz", "crypto", "devices", "diskstats", "interrupts", "iomem", "ioports", "kallsyms", "keys"),
    *("key-users", "locks", "misc", "modules", "partitions", "softirqs", "swaps", "timer_list"),
)
MACHINE_PARTS = ("acpi", "asound", "bus", "driver", "fs", "irq", "scsi", "tty")
# If the machine runs out of memory, the kernel ends commands before the server.
FIRST_TO_END = "echo 1000 > /proc/self/oom_score_adj"
TOP = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")


@dataclass(frozen=True, slots=True)
class SandboxLimits:
    """The limits of a command. Seconds and bytes; `temporary` is the size of /tmp and of /dev/shm, each.

    `temporary_files` is the number of files in both. `kernel` is how much more memory the kernel may use for itself
    than before the command. `reserve` is the minimum of free memory of the server, and of free disk space of the
    workspace.
    """

    seconds: float = 30
    cpu_seconds: int = 10
    memory: int = 512 * MIB
    processes: int = 64
    files_open: int = 256
    file: int = 50 * MIB
    temporary: int = 64 * MIB
    temporary_files: int = 10_000
    kernel: int = 256 * MIB
    output: int = 256 * 1024
    reserve: int = 256 * MIB

    @property
    def with_temporary(self) -> int:
        """Return the bytes of memory that a command and its temporary files may have."""
        return self.memory + 2 * self.temporary

    @property
    def as_ulimit(self) -> str:
        """Return limits set inside, as user `nobody`: the kernel does not limit root's processes.

        CPU time has one second more: the monitor outside stops the command first, and reports the reason.
        """
        kibs = {"-v": self.memory, "-f": self.file, "-c": 0}
        # Signals that wait, and bytes in message queues, are memory of the kernel; no priority over other programs.
        fixed = {"-i": 256, "-q": 0, "-r": 0, "-e": 0}
        counts = {"-t": self.cpu_seconds + 1, "-u": self.processes, "-n": self.files_open, **fixed}
        options = [f"{name} {size // 1024}" for name, size in kibs.items()]
        return "ulimit " + " ".join([*options, *(f"{name} {count}" for name, count in counts.items())])


def program() -> str:
    """Return the path of bubblewrap, or ""."""
    return shutil.which("bwrap") or ""


def argv(workspace: Path, command: str, limits: SandboxLimits, filter_: int) -> list[str]:
    """Return the argv that runs `command` in isolation; use it with ENVIRONMENT and in a new session.

    `filter_` is an inherited descriptor from which bubblewrap reads the seccomp filter.
    """
    shell = ["/bin/bash", "-c", f'{limits.as_ulimit} && exec /bin/bash -c "$0"', command]
    if os.geteuid() != 0:
        inner = [*_inner(workspace, workspace, limits, filter_), "--", *shell]
        return ["sh", "-c", f'{FIRST_TO_END}; exec "$@"', "sh", *inner]
    return [*_as_nobody(workspace), *_inner(workspace, Path(DOOR), limits, filter_), "--", *shell]


def _as_nobody(workspace: Path) -> list[str]:
    """For a server that runs as root: mount the workspace where `nobody` can reach it, then become `nobody`.

    Each step replaces the one before: a process in between would need the right to kill the next one.
    """
    mounted = f'{FIRST_TO_END}; mount -n --bind "$0" {DOOR} && exec "$@"'
    shown = ["unshare", "--mount", "--", "sh", "-c", mounted, str(workspace)]
    user = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    return [*shown, *user, "--bounding-set=-all", "--inh-caps=-all", "--no-new-privs"]


def _inner(workspace: Path, shown: Path, limits: SandboxLimits, filter_: int) -> list[str]:
    """Return the bubblewrap command for a workspace at the path `shown`."""
    namespaces = ["--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent", "--hostname", "sandbox"]
    who = ["--uid", str(NOBODY), "--gid", str(NOBODY), "--cap-drop", "ALL", "--seccomp", str(filter_)]
    small = ["--size", str(limits.temporary), "--tmpfs"]
    own = ["--proc", "/proc", *_covered(), "--dev", "/dev", *small, "/dev/shm", *small, "/tmp"]
    work = ["--bind", str(shown), INSIDE, "--chdir", INSIDE]
    # Bubblewrap makes these itself and leaves them writable and without a limit.
    closed = ["--remount-ro", "/dev", "--remount-ro", "/"]
    return [program(), *namespaces, *who, *_system(), *_hidden(workspace), *own, *work, *closed]


def _system() -> list[str]:
    """Mount the programs of this machine read-only; of /etc only what they need."""
    found = ["--ro-bind", "/usr", "/usr"]
    for path in (Path("/", name) for name in TOP):
        if path.is_symlink():
            found += ["--symlink", os.readlink(path), str(path)]
        elif path.is_dir():
            found += ["--ro-bind", str(path), str(path)]
    for path in (Path("/etc", name) for name in ETC):
        found += ["--ro-bind-try", str(path), str(path)]
    return found


def _covered() -> list[str]:
    """Mount something empty over files of /proc about the machine: such a mount needs an entry of that name."""
    files = [path for path in (f"/proc/{name}" for name in MACHINE) if os.path.exists(path)]
    parts = [path for path in (f"/proc/{name}" for name in MACHINE_PARTS) if os.path.isdir(path)]
    covered = [part for path in files for part in ("--ro-bind", "/dev/null", path)]
    return [*covered, *(part for path in parts for part in ("--tmpfs", path, "--remount-ro", path))]


def _hidden(workspace: Path) -> list[str]:
    """Mount empty directories over this application and its data, if they lie among the programs."""
    own = [path for path in (APP, *workspace.parents[1:2]) if path.is_relative_to("/usr") and path != Path("/usr")]
    return [part for path in own for part in ("--tmpfs", str(path), "--remount-ro", str(path))]
