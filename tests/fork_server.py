"""Starts sites by forking a process that has imported the libraries already: half of what a start costs.

A request is a line of JSON (`env`, `words`) with the file descriptors of stdout and stderr; the answer is the process's
number. `{"ended": number}` asks for its exit code, null while it runs. The site reads its own environment, as it does
when it is started from a shell: modules are imported before the fork with settings that have no values of a site, so
that one that reads such a value on import cannot be named here.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from functools import cache
from tempfile import TemporaryDirectory, TemporaryFile
from threading import Timer
from typing import Any, TextIO

from tests import databases

# The rest of what a site imports reads the settings, or makes an event loop, which must not be shared by a fork.
IMPORTED = (
    "aiohttp",
    "channels.layers",
    "django.core.handlers.asgi",
    "django.core.management",
    "django.core.management.commands.migrate",
    "toolsupport.config.sqlite.base",
    "httpx",
    "servestatic.base",
    "servestatic.storage",
    "twisted.internet.asyncioreactor",
    "twisted.internet.base",
    "twisted.internet.tcp",
    "twisted.protocols.tls",
    "twisted.web.http",
    "toolsupport.config.urls",
    "chat.mcp.mcp_hosts",
    "chat.turns.runner",
    "chat.websocket.routing",
    "toolsupport.services.background_jobs",
    "toolsupport.services.database_upgrade",
    "toolsupport.web.static_compression",
)
SETTINGS = "toolsupport.config.settings"
COMMON = ("INSTALLED_APPS", "DEFAULT_AUTO_FIELD", "ROOT_URLCONF", "SESSION_ENGINE", "USE_TZ")
LARGEST = 2**20  # bytes of a request
LONGEST = 300.0  # seconds that a command may take
PATIENCE = 60.0  # seconds between the end of what a command prints and its exit


class ForkServer:
    """This process's connection to a fork server of its own, which ends with it."""

    def __init__(self) -> None:
        self.requests, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        for end in (self.requests, its):
            end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, LARGEST)
        command = [sys.executable, "-m", "tests.fork_server", str(its.fileno())]
        self.process = subprocess.Popen(command, cwd=databases.ROOT, pass_fds=[its.fileno()])
        its.close()
        atexit.register(self.end)

    def ask(self, request: dict[str, object], *handles: int) -> Any:
        socket.send_fds(self.requests, [json.dumps(request).encode()], handles)
        return json.loads(self.requests.recv(LARGEST))

    def end(self) -> None:
        self.requests.close()
        self.process.wait()


@cache
def server() -> ForkServer:
    return ForkServer()


class ForkedProcess:
    """A process that is a child of the fork server; what is used of `subprocess.Popen`."""

    def __init__(self, words: tuple[str, ...], environment: dict[str, str], log: TextIO) -> None:
        reading, writing = os.pipe()
        self.pid = int(server().ask({"env": environment, "words": words}, writing, log.fileno()))
        os.close(writing)
        self.stdout = os.fdopen(reading)
        self.handle = os.pidfd_open(self.pid)
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """The exit code; None while it runs."""
        if self.returncode is None:
            self.returncode = server().ask({"ended": self.pid})
            if self.returncode is not None:
                os.close(self.handle)
        return self.returncode

    def wait(self, timeout: float) -> int:
        """The exit code. Raises TimeoutExpired."""
        until = time.monotonic() + timeout
        while (code := self.poll()) is None:
            if not select.select([self.handle], [], [], max(0.0, until - time.monotonic()))[0]:
                raise subprocess.TimeoutExpired(str(self.pid), timeout)
        return code

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)


def run_command(words: tuple[str, ...], environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run a management command as from a shell."""
    command = [sys.executable, "manage.py", *words]
    return subprocess.run(command, cwd=databases.ROOT, env=environment, capture_output=True, text=True)


def run_forked(words: tuple[str, ...], environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run a management command; it is ended where it takes too long."""
    with TemporaryFile("w+") as errors:
        process = ForkedProcess(words, environment, errors)
        limit = Timer(LONGEST, process.send_signal, [signal.SIGKILL])
        limit.start()
        with process.stdout:
            printed = process.stdout.read()
        limit.cancel()
        code = process.wait(PATIENCE)
        errors.seek(0)
        return subprocess.CompletedProcess(words, code, printed, errors.read())


def serve(requests: socket.socket) -> list[str]:
    """Fork for each request. Returns in the child, with the words to run; the server itself ends here.

    When the tests end, or are killed, what still runs is killed too.
    """
    running: set[int] = set()
    while True:
        data, handles, _, _ = socket.recv_fds(requests, LARGEST, 2)
        if not data:
            for child in running:
                os.kill(child, signal.SIGKILL)
            os._exit(0)
        request = json.loads(data)
        if "ended" in request:
            number, status = os.waitpid(request["ended"], os.WNOHANG)
            answer = os.waitstatus_to_exitcode(status) if number else None
            running -= {number}
            requests.send(json.dumps(answer).encode())
        elif child := os.fork():
            running.add(child)
            for handle in handles:
                os.close(handle)
            requests.send(json.dumps(child).encode())
        else:
            requests.close()
            for number, handle in enumerate(handles, start=1):
                os.dup2(handle, number)
                os.close(handle)
            os.environ.clear()
            os.environ.update(request["env"])
            return list(request["words"])


def import_applications() -> None:
    """Import what a site consists of, with the settings that are the same for every site and Django's defaults."""
    import django
    from django.conf import settings

    with TemporaryDirectory(prefix="toolsupport-fork-") as directory:
        os.environ["TOOLSUPPORT_DATA_DIR"] = directory
        own = importlib.import_module(SETTINGS)
    settings.configure(**{name: getattr(own, name) for name in COMMON})
    django.setup()
    for name in IMPORTED:
        importlib.import_module(name)
    importlib.import_module("django.db.migrations.loader").MigrationLoader(None)  # it imports every migration


def forget_settings() -> None:
    """Let the next access read the settings of this process's environment; applications prepare for those."""
    from django.apps import apps
    from django.conf import settings
    from django.db import connections
    from django.utils.functional import empty

    from toolsupport.core.errors import ConfigError

    # pytest sets it, but a campaign that is started by itself does not.
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", SETTINGS)
    settings._wrapped = empty
    del sys.modules[SETTINGS]
    del connections["default"], connections.settings
    connections._settings = None  # type: ignore[attr-defined]
    with suppress(ConfigError):  # a value that cannot be used: the command itself gives the reason
        for application in apps.get_app_configs():
            application.ready()


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the tests end it
    import_applications()
    # A quarter of a second for each start and each sign-in; sites that are started from a shell hash as they should.
    importlib.import_module("django.contrib.auth.hashers").PBKDF2PasswordHasher.iterations = 1000
    # 20 ms for each site that asks a model server.
    importlib.import_module("toolsupport.providers.http_client").trusted_certificates()
    gc.freeze()
    sys.argv = ["manage.py", *serve(socket.socket(fileno=int(sys.argv[1])))]
    signal.signal(signal.SIGINT, signal.default_int_handler)
    forget_settings()
    runpy.run_path(str(databases.ROOT / "manage.py"), run_name="__main__")


if __name__ == "__main__":
    main()
