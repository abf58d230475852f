"""An MCP server over pipes that answers what a file of JSON states: `list` to tools/list, `call` to tools/call.

`strict`: it ends at a request before `initialize`, as servers of older Rust SDKs do. `noise`: it logs each call on its
standard output.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

NOT_KNOWN = {"error": {"code": -32601, "message": "Method not found"}}


def answer(method: str, script: dict[str, Any]) -> dict[str, Any]:
    """Return the result or the error of a request."""
    if method == "initialize":
        info = {"name": "scripted", "version": "1"}
        version = script.get("version", "2025-06-18")
        return {"result": {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}}
    given = {"tools/list": script["list"], "tools/call": script["call"]}.get(method)
    if given is None:
        return NOT_KNOWN
    return given if "error" in given else {"result": given}


def main() -> None:
    script = json.loads(Path(sys.argv[1]).read_text())
    begun = not script.get("strict")
    for line in sys.stdin:
        message = json.loads(line)
        begun = begun or message["method"] == "initialize"
        if not begun:
            sys.exit("Error: expect initialized request")
        if message["method"] == "tools/call" and script.get("noise"):
            print("INFO: a call")
        if "id" in message:
            print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer(message["method"], script)}), flush=True)


if __name__ == "__main__":
    main()
