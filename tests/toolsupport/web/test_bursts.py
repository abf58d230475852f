"""Connections that come in faster than they are accepted make room for each other, and none is refused for that."""

from __future__ import annotations

import os
import signal
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path

from tests.toolsupport.web.test_connections import HEAD, LIMITS, POST, limited, rest

WAITING, WHOLE = 400, 20  # connections that wait while the server does nothing, and one of so many with a request


def test_a_request_in_a_burst_of_half_requests_is_answered(tmp_path: Path) -> None:  # S7
    with limited(tmp_path, replace(LIMITS, total=128, per_address=1000, head=20)) as server, ExitStack() as stack:
        os.kill(server.pid, signal.SIGSTOP)
        clients = [stack.enter_context(closing(server.connect("127.0.0.1"))) for _ in range(WAITING)]
        for number, one in enumerate(clients, start=1):
            one.sendall(POST if number % WHOLE else HEAD % b"/" + b"Connection: close\r\n\r\n")
        os.kill(server.pid, signal.SIGCONT)
        answers = [rest(one) for one in clients[WHOLE - 1 :: WHOLE]]
    assert [one[:15] for one in answers] == [b"HTTP/1.1 200 OK"] * len(answers)
