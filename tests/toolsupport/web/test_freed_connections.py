"""What served a connection is freed with it, without the garbage collector, which runs seldom (`serve`)."""

from __future__ import annotations

import struct
from contextlib import closing
from pathlib import Path

from tests.toolsupport.web.test_connections import frame, limited, rest, some, until, upgrade
from toolsupport.web.connection_table import ConnectionLimits


# O5
def test_closed_connections_are_freed_without_the_garbage_collector(tmp_path: Path) -> None:
    address = "127.0.0.1"
    with limited(tmp_path, ConnectionLimits()) as server:
        before = server.ask("/garbage")["seen"]
        for _ in range(3):
            with closing(server.connect(address)) as client:
                upgrade(client, b"/ws/echo")
                assert b" 101 " in client.recv(1024)
                client.sendall(frame(0x81, b"hello"))
                assert some(client).endswith(b"5")
                client.sendall(frame(0x88, struct.pack("!H", 1000)))
                rest(client)
        # Those that are closed are dropped once a second.
        until(lambda: server.ask("/state", address)["served"] == 1)
        after = server.ask("/garbage")["seen"]
        assert {name for name in after if after[name] > before.get(name, 0) and "/" not in name} == {"messages"}
