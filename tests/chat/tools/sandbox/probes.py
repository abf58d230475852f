"""Probes that run inside the sandbox: each tries one way around its limits and prints what the kernel answers."""

from __future__ import annotations

import platform

# Numbers of system calls on x86_64 and on aarch64.
NUMBERS = {
    "semget": (64, 190),
    "shmget": (29, 194),
    "msgget": (68, 186),
    "mq_open": (240, 180),
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "vmsplice": (278, 75),
    "inotify_init1": (294, 26),
    "fanotify_init": (300, 262),
    "io_setup": (206, 0),
    "sync": (162, 81),
    "syncfs": (306, 267),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "landlock_create_ruleset": (444, 444),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "kcmp": (312, 272),
    "pidfd_getfd": (438, 438),
    "open_by_handle_at": (304, 265),
    "fallocate": (285, 47),
    "unshare": (272, 97),
    "mount": (165, 40),
    "chroot": (161, 51),
    "sethostname": (170, 161),
    "pivot_root": (155, 41),
}
COLUMN = ("x86_64", "aarch64").index(platform.machine()) if platform.machine() in ("x86_64", "aarch64") else 0


def call(name: str, *arguments: object) -> str:
    return f"call({', '.join(map(str, (NUMBERS[name][COLUMN], *arguments)))})"


FAMILIES = {
    "appletalk": 5,
    "x25": 9,
    "key": 15,
    "netlink": 16,
    "packet": 17,
    "rds": 21,
    "pppox": 24,
    "llc": 26,
    "can": 29,
    "tipc": 30,
    "bluetooth": 31,
    "ieee802154": 36,
    "alg": 38,
    "nfc": 39,
    "vsock": 40,
    "kcm": 41,
    "qipcrtr": 42,
    "smc": 43,
    "xdp": 44,
    "mctp": 45,
    "none yet": 60,
}
PROTOCOLS = {"icmp": 1, "dccp": 33, "sctp": 132, "udplite": 136, "raw": 255, "mptcp": 262}
# What is tried → (an expression in Python, what it gives).
PROBES = {
    **{f"socket {name}": (f"call(SOCKET, {number}, 2, 0)", "EAFNOSUPPORT") for name, number in FAMILIES.items()},
    **{
        f"socketpair {name}": (f"call(SOCKETPAIR, {FAMILIES[name]}, 1, 0, pair)", "EAFNOSUPPORT")
        for name in ("vsock", "tipc")
    },
    **{
        f"protocol {name}": (f"call(SOCKET, {family}, 1, {number})", "EPROTONOSUPPORT")
        for name, number in PROTOCOLS.items()
        for family in (2, 10)
    },
    **{
        f"{name} by its type, over family {family}": (f"call(SOCKET, {family}, {number}, 0)", "EPROTONOSUPPORT")
        for name, number in {"a raw socket": 3, "rdm": 4, "sctp": 5, "dccp": 6, "a packet socket": 10}.items()
        for family in (2, 10)
    },
    "a unix socket": ("call(SOCKET, 1, 1, 0)", "done"),
    "a pair of unix sockets": ("call(SOCKETPAIR, 1, 1, 0, pair)", "done"),
    "tcp": ("call(SOCKET, 2, 1, 6)", "done"),
    "records over a unix socket": ("call(SOCKETPAIR, 1, 5, 0, pair)", "done"),
    "udp over ipv6": ("call(SOCKET, 10, 2 | 0o2000000, 17)", "done"),
    "the upper half of a family": ("call(SOCKET, 40 | 1 << 32, 1, 0)", "EAFNOSUPPORT"),
    "semaphores": (call("semget", 0, 32000, 0o1600), "ENOSYS"),
    "shared memory": (call("shmget", 0, 4096, 0o1600), "ENOSYS"),
    "message queues": (call("msgget", 0, 0o1600), "ENOSYS"),
    "posix message queues": (call("mq_open", "b'/q'", 0o102, 0o600, 0), "ENOSYS"),
    "memory files": (call("memfd_create", "b'x'", 0), "ENOSYS"),
    "secret memory": (call("memfd_secret", 0), "ENOSYS"),
    "pages kept in a pipe": (call("vmsplice", -1, 0, 0, 0), "ENOSYS"),
    "watches on files": (call("inotify_init1", 0), "ENOSYS"),
    "watches on mounts": (call("fanotify_init", 0, 0), "ENOSYS"),
    "asynchronous input": (call("io_setup", 8, "pair"), "ENOSYS"),
    "writing all that programs changed": (call("sync"), "ENOSYS"),
    "writing a whole file system": (call("syncfs", 0), "ENOSYS"),
    "io_uring": (call("io_uring_setup", 4, 0), "ENOSYS"),
    "io_uring_enter": (call("io_uring_enter", -1, 0, 0, 0), "ENOSYS"),
    "io_uring_register": (call("io_uring_register", -1, 0, 0, 0), "ENOSYS"),
    "landlock": (call("landlock_create_ruleset", 0, 0, 1), "ENOSYS"),
    "a key": (call("add_key", "b'user'", "b'a'", "b'b'", 1, -3), "ENOSYS"),
    "asking for a key": (call("request_key", "b'user'", "b'a'", 0, -3), "ENOSYS"),
    "a keyring": (call("keyctl", 0, -3, 1), "ENOSYS"),
    "bpf": (call("bpf", 0, 0, 0), "ENOSYS"),
    "performance events": (call("perf_event_open", 0, 0, -1, -1, 0), "ENOSYS"),
    "page faults of its own": (call("userfaultfd", 1), "ENOSYS"),
    "a process under control": (call("ptrace", 0, 0, 0, 0), "ENOSYS"),
    "the memory of a process": (call("process_vm_readv", 1, 0, 0, 0, 0, 0), "ENOSYS"),
    "processes compared": (call("kcmp", 1, 1, 0, 0, 0), "ENOSYS"),
    "a file of another process": (call("pidfd_getfd", 0, 0, 0), "ENOSYS"),
    "a file by its number": (call("open_by_handle_at", -100, 0, 0), "ENOSYS"),
    "space without a size": (call("fallocate", 1, 0, 0, 4096), "ENOSYS"),
    "a number of x32": ("call(0x40000000 + 41, 1, 1, 0)", "ENOSYS"),
    "a user namespace": (call("unshare", 0x10000000), "ENOSPC"),
    "a network namespace": (call("unshare", 0x40000000), "EPERM"),
    "a mount": (call("mount", "b'x'", "b'/tmp'", "b'tmpfs'", 0, 0), "EPERM"),
    "another root": (call("chroot", "b'/tmp'"), "EPERM"),
    "another name": (call("sethostname", "b'x'", 1), "EPERM"),
    "the place of the root": (call("pivot_root", "b'/tmp'", "b'/tmp'"), "EPERM"),
    "a large pipe": ("control(pipe[1], 1031, 1 << 20)", "EPERM"),
    "a lock of an open file": ("control(file, 37, pair)", "EPERM"),
    "waiting for a lock of an open file": ("control(file, 38, pair)", "EPERM"),
    "a lease on a file": ("control(file, 1024, 0)", "EPERM"),
    "news of a directory": ("control(file, 1026, 1)", "EPERM"),
    "the flags of a file": ("control(file, 1, 0)", "done"),
    "the flags of a pipe": ("control(pipe[1], 3, 0)", "done"),
    "many open files": ("many(lambda: os.open('/dev/null', 0), 300)", "EMFILE"),
    "many waiting signals": ("many(lambda: fail(kernel.sigqueue(os.getpid(), 40, None)), 400)", "EAGAIN"),
    "much memory": ("many(lambda: mmap.mmap(-1, 600 << 20), 1)", "ENOMEM"),
    "more rights on processes": ("rise(resource.RLIMIT_NPROC)", "ValueError"),
    "more open files": ("rise(resource.RLIMIT_NOFILE)", "ValueError"),
    "a core file": ("resource.getrlimit(resource.RLIMIT_CORE)[1]", "0"),
    "message queues by limit": ("resource.getrlimit(resource.RLIMIT_MSGQUEUE)[1]", "0"),
    "another user": ("many(lambda: os.setuid(0), 1)", "EINVAL"),
    "a device": ("many(lambda: os.mknod('/tmp/d', 0o20666, 0x103), 1)", "EPERM"),
    "attributes of a file": ("many(lambda: os.setxattr('/tmp/f', 'user.a', b'x'), 1)", "ENOSYS"),
    "attributes of an open file": ("many(lambda: os.setxattr(file, 'user.a', b'x'), 1)", "ENOSYS"),
    "real time": ("many(lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1)), 1)", "EPERM"),
    "more priority": ("many(lambda: os.setpriority(os.PRIO_PROCESS, 0, -5), 1)", "EACCES"),
    "the kernel's settings": ("many(lambda: open('/proc/sys/kernel/hostname', 'w'), 1)", "EACCES"),
    "the machine's memory": ("many(lambda: open('/dev/mem'), 1)", "ENOENT"),
    "the machine's disks": ("many(lambda: open('/dev/sda'), 1)", "ENOENT"),
    "system information": ("many(lambda: os.listdir('/sys'), 1)", "ENOENT"),
}

_HELPERS = """
import ctypes, errno, json, mmap, os, resource, signal
kernel = ctypes.CDLL(None, use_errno=True)
pair, pipe, file = (ctypes.c_int * 8)(), os.pipe(), os.open('/tmp/f', os.O_CREAT | os.O_RDWR)
signal.pthread_sigmask(signal.SIG_BLOCK, [40])
def call(number, *arguments):
    ctypes.set_errno(0)
    sent = [ctypes.c_long(one) if isinstance(one, int) else one for one in arguments]
    return 'done' if kernel.syscall(ctypes.c_long(number), *sent) >= 0 else errno.errorcode[ctypes.get_errno()]
def control(descriptor, command, value):
    return 'done' if kernel.fcntl(descriptor, command, value) >= 0 else errno.errorcode[ctypes.get_errno()]
def fail(result):
    if result < 0:
        raise OSError(ctypes.get_errno(), '')
def many(act, times):
    kept = []
    try:
        for _ in range(times):
            kept.append(act())
    except OSError as error:
        return errno.errorcode[error.errno]
    finally:
        for one in kept:
            if type(one) is int:
                os.close(one)
    return 'done'
def rise(limit):
    try:
        resource.setrlimit(limit, (10**6, 10**6))
    except (ValueError, OSError) as error:
        return type(error).__name__
    return 'done'
"""


def program() -> str:
    """Return a program that prints the result of every probe as JSON."""
    sockets = f"SOCKET, SOCKETPAIR = {(41, 198)[COLUMN]}, {(53, 199)[COLUMN]}\n"
    lines = [f"found[{name!r}] = str({expression})" for name, (expression, _) in PROBES.items()]
    return "\n".join([_HELPERS, sockets, "found = {}", *lines, "print(json.dumps(found))"])


# Machine code that makes a system call of the 32-bit table (`getpid`), which must end the process.
OTHER_TABLE = """
import ctypes, mmap
page = mmap.mmap(-1, 4096, prot=7)
page.write(bytes.fromhex('b814000000cd80c3'))
print(ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))())
"""
