"""Serves the site, with a start and a stop of its own."""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
import subprocess
import sys
from argparse import SUPPRESS, ArgumentParser, ArgumentTypeError
from collections.abc import Callable
from typing import Any

# Twisted's loop must be chosen before anything else imports Twisted.
from toolsupport.web.server import BoundedServer  # isort: skip

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import connections
from twisted.internet import reactor

from toolsupport.config import metrics, restore_journal
from toolsupport.config.application_paths import IMPORT_ROOT
from toolsupport.core.errors import ConfigError
from toolsupport.registry.people import first_admin
from toolsupport.registry.servers import servers
from toolsupport.services import database_upgrade, local_process_bus, process_tuning, serve_lock, site_processes
from toolsupport.services.backups import kept_backups
from toolsupport.services.exit_deadline import deadline, kill_children
from toolsupport.services.task_supervisor import TaskSupervisor
from toolsupport.web import connection_limits, static_compression

MESSAGE_LIMIT = 256 * 1024
HTTP_TIMEOUT = 120
# Seconds in which a websocket is accepted; with Daphne's 5, pages of a busy site are reset and connect again at once.
HANDSHAKE_TIMEOUT = 30
# Connections that wait until they are accepted; one more would try again after a second or longer.
BACKLOG = 1024
log = logging.getLogger(__name__)
loop = reactor._asyncioEventloop  # the loop everything runs on, chosen when daphne was imported
NOT_LISTENING = "Nothing can listen at {}: {}. Try another --port or --host."
MOST_PROCESSES = 64
# Seconds: from the end of the drain time to that of the process, from the end of the server to it, for the Simulator.
ENDING, AFTER_STOP, SIMULATOR_SECONDS = 4.0, 2.0, 1.0


def port(text: str) -> int:
    """Parse a port. Raises ArgumentTypeError."""
    if text.isascii() and text.isdigit() and len(text) <= 5 and 1 <= int(text) <= 65535:
        return int(text)
    raise ArgumentTypeError(f"{text!r} is not a port: use a number from 1 to 65535")


def processes(text: str) -> int:
    """Parse a number of processes. Raises ArgumentTypeError."""
    if text.isascii() and text.isdigit() and len(text) <= 2 and 1 <= int(text) <= MOST_PROCESSES:
        return int(text)
    raise ArgumentTypeError(f"{text!r} is not a number of processes: use 1 to {MOST_PROCESSES}")


class Command(BaseCommand):
    help = "Serve the site at http://HOST:PORT. On SIGTERM, running answers finish first."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1", help="Address to listen on.")
        parser.add_argument("--port", type=port, default=8000, help="Port to listen on.")
        parser.add_argument("--processes", type=processes, default=1, help="Processes to share the work among.")
        # For the processes that another `serve` starts: their number, the shared socket, and their ends of two pairs.
        parser.add_argument("--part-of", type=int, nargs=4, help=SUPPRESS)
        parser.add_argument("--simulator", default="", help=SUPPRESS)

    def handle(self, *args: Any, **options: Any) -> None:
        process_tuning.share_the_heap()
        host, port, count = options["host"], options["port"], options["processes"]
        self.address = f"http://{serve_lock.in_address(host)}:{port}"
        serve_lock.use_address(host, port)
        if options["part_of"]:
            number, *sockets = options["part_of"]
            metrics.PROCESSES.share(number)
            return self.serve_part(options["simulator"], *sockets)
        self.simulator = start_simulator()  # it loads at the same time
        try:
            lines = self.prepare()
            shared = self.listen(host, port)
            serve_lock.note(self.address)
            if count == 1:
                self.serve(shared.detach(), lambda: self.greet(lines))
            else:
                self.serve_together(shared, count, ("--host", host, "--port", str(port)), lines)
        except ConfigError as error:
            raise CommandError(str(error)) from error
        finally:
            stop_simulator(self.simulator)

    def listen(self, host: str, port: int) -> socket.socket:
        """Return a socket that listens. Raises ConfigError."""
        try:
            return site_processes.listening(host, port, BACKLOG)
        except (OSError, UnicodeError) as error:
            reason = getattr(error, "strerror", "") or str(error)
            raise ConfigError(NOT_LISTENING.format(self.address, reason.partition(" (")[0])) from error

    def serve(self, shared: int, ready: Callable[[], None]) -> None:
        """Serve at a socket until a signal ends it."""
        from toolsupport.config import asgi  # it checks whether the static files are compressed

        server = make_server(asgi.application, shared)

        def begin() -> None:
            asgi.start()
            process_tuning.collect_garbage_seldom()
            process_tuning.switch_threads_often()
            ready()

        stop_on_signals(server)
        loop.call_soon(begin)
        server.run()

    def serve_together(self, shared: socket.socket, count: int, place: tuple[str, ...], lines: list[str]) -> None:
        """Run several processes of the site until a signal ends this one."""
        words = ("serve", *place, "--simulator", settings.SIMULATOR_URL)
        patience = settings.ENV["TOOLSUPPORT_DRAIN_SECONDS"] + ENDING + 1
        group = site_processes.ProcessGroup(words, shared, patience, lambda: self.greet(lines))
        connections.close_all()
        if not asyncio.run(group.run(count)):
            raise CommandError("A process of the site did not start; the reason is above.")

    def serve_part(self, simulator: str, shared: int, bus: int, link: int) -> None:
        """Serve as one of several processes, which the one that started them prepared."""
        settings.SIMULATOR_URL = simulator
        settings.CHANNEL_LAYERS = local_process_bus.use(settings.CHANNEL_LAYERS, bus)
        self.serve(shared, lambda: site_processes.report_ready(link))

    def prepare(self) -> list[str]:
        """Create tables, static files, the Simulator's row, the first administrator; one process at a time."""
        self.stdout.write(f"Data is kept in {settings.DATA_DIR}")
        serve_lock.take(self.address)
        # A restore on this data directory is refused first, as its keys were read before; one elsewhere is waited for.
        with restore_journal.none_running(settings.DATA_DIR) as left, database_upgrade.exclusive():
            if left:
                log.warning("removed what an interrupted restore had unpacked; the state from before it stays")
            serve_lock.make_private()
            if done := database_upgrade.bring_up_to_date():
                self.stdout.write(done)
            if kept_backups.remove_unfinished():
                log.warning("removed what an interrupted backup had written")
            static_compression.collect()
            meet_simulator(self.simulator)
            return self.greeting()

    def greet(self, lines: list[str]) -> None:
        for line in lines:
            self.stdout.write(line)
        self.stdout.flush()

    def greeting(self) -> list[str]:
        """Return the address of the site; on a fresh machine also the one at which to become its administrator."""
        site = settings.ORIGINS[0].rstrip("/")
        lines = [f"toolsupport is ready at {self.address if settings.ENV['TOOLSUPPORT_ORIGINS'] else site}"]
        given = settings.ENV["TOOLSUPPORT_ADMIN"]
        if given:
            first_admin.admin_from_environment(given)
        if first_admin.needs_setup():
            if given:
                lines.append(
                    "TOOLSUPPORT_ADMIN names an account that exists and cannot administer; it was not changed."
                )
            token = first_admin.new_setup_token()
            lines.append(f"Make the first administrator at {site}/setup/?token={token} (works once)")
        return lines


def make_server(application: Any, shared: int) -> BoundedServer:
    """Return the server with the limits of this site."""
    return BoundedServer(
        application=application,
        endpoints=[str(shared)],
        signal_handlers=False,
        http_timeout=HTTP_TIMEOUT,
        websocket_handshake_timeout=HANDSHAKE_TIMEOUT,
        websocket_max_message_size=MESSAGE_LIMIT,
        websocket_max_frame_size=MESSAGE_LIMIT,
        websocket_timeout=-1,
        server_name="toolsupport",
        verbosity=0,
        limits=connection_limits.limits(),
    )


def stop_on_signals(server: BoundedServer) -> None:
    """On a signal of `process_group.stops` stop listening, let running answers finish, then stop.

    The process ends within the drain time plus ENDING, even if work still runs in it.
    """
    from toolsupport.config import asgi

    supervisor, numbers = TaskSupervisor("the stop"), site_processes.stops()

    async def end() -> None:
        try:
            for port in server.ports:
                await port.stopListening().asFuture(loop)
            await asgi.stop()
        finally:
            server.stop()
            deadline.set(AFTER_STOP)
            kill_children()  # a request outside a chat, whose query may still run, is not cancelled

    def asked_to_stop(*_: object) -> None:
        # Once is enough: a second signal waits for the same end.
        for number in numbers:
            signal.signal(number, signal.SIG_IGN)
        deadline.set(settings.ENV["TOOLSUPPORT_DRAIN_SECONDS"] + ENDING)
        loop.call_soon_threadsafe(lambda: supervisor.spawn(end()))

    for number in numbers:
        # Not the event loop's own way, which does nothing while the loop is blocked.
        signal.signal(number, asked_to_stop)


def start_simulator() -> subprocess.Popen[str] | None:
    """Start the Simulator as a child process on its own loopback port, so that it can fail in mid-stream.

    In a session of its own, a terminal does not end it while running answers finish.
    """
    if settings.ENV["TOOLSUPPORT_SIMULATOR"] == "off":
        return None
    command = [sys.executable, "-m", "toolsupport.simulator", "--port", "0", "--with-parent"]
    # `-m` imports from the working directory first, and the site may be started in any.
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=IMPORT_ROOT, stdin=pipe, stdout=pipe, text=True, start_new_session=True)


def meet_simulator(child: subprocess.Popen[str] | None) -> None:
    """Read the port of the Simulator and store it as an ordinary server row."""
    if child is None:
        return
    line = child.stdout.readline() if child.stdout else ""
    if "http://" not in line:
        raise CommandError("The Simulator did not start. To start without it, set TOOLSUPPORT_SIMULATOR=off.")
    settings.SIMULATOR_URL = line.split()[-1]
    servers.ensure_simulator(settings.SIMULATOR_URL)


def stop_simulator(child: subprocess.Popen[str] | None) -> None:
    if child is not None:
        child.terminate()
        try:
            child.wait(SIMULATOR_SECONDS)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
