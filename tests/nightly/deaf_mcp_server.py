"""An MCP server over pipes that ignores SIGTERM and the end of its input; its one tool never answers."""

from __future__ import annotations

import json
import signal
import sys

TOOL = {"name": "hang", "description": "Never answers", "inputSchema": {"type": "object", "properties": {}}}


RESULTS: dict[object, dict[str, object]] = {
    "initialize": {
        "protocolVersion": "2025-06-18",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "deaf", "version": "1"},
    },
    "tools/list": {"tools": [TOOL]},
    "ping": {},
}
UNKNOWN = {"error": {"code": -32601, "message": "Method not found"}}


def main() -> None:
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    for line in sys.stdin:
        asked = json.loads(line)
        method = asked.get("method")
        if "id" in asked and method != "tools/call":
            answer = {"result": RESULTS[method]} if method in RESULTS else UNKNOWN
            print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **answer}), flush=True)
    while True:
        signal.pause()


if __name__ == "__main__":
    main()
