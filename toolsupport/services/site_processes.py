"""Runs several processes of one site on one machine: they share its address, and exchange messages through this one.

A process that ends unexpectedly is started again. If this process ends for any reason, all others end too: each watches
its end of a pair of sockets, on which it also reports that it is ready.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress

from toolsupport.config.application_paths import IMPORT_ROOT
from toolsupport.services.local_process_bus import Hub
from toolsupport.services.task_supervisor import TaskSupervisor

log = logging.getLogger(__name__)

READY = b"ready"
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 30.0  # seconds before a process that ended is started again
STEADY = 60.0  # seconds after which a process counts as working
# `-P` and the path: the site's own code is imported, not files of the working directory.
COMMAND = (sys.executable, "-P", "-m", "toolsupport")


def stops() -> tuple[int, ...]:
    """Return the signals that end the site: a closed terminal ends it too, unless `nohup` started it."""
    hangs_up = signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN
    return (signal.SIGTERM, signal.SIGINT, *([signal.SIGHUP] if hangs_up else []))


def listening(host: str, port: int, backlog: int) -> socket.socket:
    """Return a socket that listens, for all processes; at `::` also for IPv4. Raises OSError."""
    if ":" not in host:
        return socket.create_server((host, port), backlog=backlog)
    both = socket.has_dualstack_ipv6()
    return socket.create_server((host, port), family=socket.AF_INET6, backlog=backlog, dualstack_ipv6=both)


def report_ready(end: int) -> None:
    """Report to the parent process that this one serves, and end when the parent has ended."""
    link = socket.socket(fileno=end)
    link.setblocking(False)
    loop = asyncio.get_running_loop()

    def ended() -> None:
        loop.remove_reader(link)
        link.close()
        os.kill(os.getpid(), signal.SIGTERM)

    loop.add_reader(link, ended)
    with suppress(OSError):  # the parent ended while this process started
        link.send(READY)


class ProcessGroup:
    """Processes that run `words`, with their number, the shared socket and their ends of two pairs as options.

    `ready` is called once, when all serve. A stop takes at most `patience` seconds; then they are killed.
    """

    def __init__(self, words: Sequence[str], shared: socket.socket, patience: float, ready: Callable[[], None]) -> None:
        self._words, self._shared, self._patience, self._on_ready = words, shared, patience, ready
        self._hub = Hub()
        self._running: dict[int, asyncio.subprocess.Process] = {}
        self._serving: set[int] = set()
        self._complete = False
        self._failed = False

    async def run(self, count: int) -> bool:
        """Run until a signal arrives. Returns False if a process could not start at all."""
        self._stopping = asyncio.Event()
        self._supervisor = TaskSupervisor("the processes of the site")
        loop = asyncio.get_running_loop()
        for number in stops():
            loop.add_signal_handler(number, self._stopping.set)
        kept = [self._supervisor.spawn(self._keep(index, count)) for index in range(count)]
        await self._stopping.wait()
        self._shared.close()
        await self._end(kept)
        await self._supervisor.stop()
        return not self._failed

    async def _end(self, kept: Sequence[asyncio.Task[None]]) -> None:
        for number in (signal.SIGTERM, signal.SIGKILL):
            for process in self._running.values():
                with suppress(ProcessLookupError):
                    process.send_signal(number)
            _, late = await asyncio.wait(kept, timeout=self._patience)
            if not late:
                return
            log.warning("killed %d processes of the site, which did not stop in time", len(late))

    async def _keep(self, index: int, count: int) -> None:
        """Keep one process running until the stop."""
        loop, pause = asyncio.get_running_loop(), FIRST_PAUSE
        while not self._stopping.is_set():
            began = loop.time()
            try:
                code: object = await self._run(index, count)
            except OSError as error:  # the system has no memory or processes left, or Python was replaced
                code = error
                log.error("process %d of the site could not be started: %s", index + 1, error)
            if self._stopping.is_set():
                return
            if not self._complete and index not in self._serving:
                self._failed = True
                self._stopping.set()
                return
            pause = FIRST_PAUSE if loop.time() - began > STEADY else min(2 * pause, LONGEST_PAUSE)
            log.error("process %d of the site ended with code %s; starting it again in %g s", index + 1, code, pause)
            with suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._stopping.wait()

    async def _run(self, index: int, count: int) -> int:
        """Run one process to its end; returns its exit code."""
        (own_bus, bus), (own_link, link) = socket.socketpair(), socket.socketpair()
        ends = (self._shared.fileno(), bus.fileno(), link.fileno())
        options = [str(number) for number in (index + 1, *ends)]
        environment = {**os.environ, "PYTHONPATH": str(IMPORT_ROOT)}
        with own_bus, own_link:
            with bus, link:
                process = await asyncio.create_subprocess_exec(
                    *COMMAND, *self._words, "--part-of", *options, pass_fds=ends, env=environment
                )
            self._running[index] = process
            if self._stopping.is_set():
                process.terminate()
            own_link.setblocking(False)
            work = self._hub.serve(own_bus), self._watch(own_link, index, count)
            tasks = [self._supervisor.spawn(one) for one in work]
            code = await process.wait()
            del self._running[index]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        return code

    async def _watch(self, link: socket.socket, index: int, count: int) -> None:
        """Note that a process serves; its end of the pair stays open as long as it runs."""
        if await asyncio.get_running_loop().sock_recv(link, len(READY)):
            self._serving.add(index)
        if len(self._serving) == count and not self._complete:
            self._complete = True
            self._on_ready()
