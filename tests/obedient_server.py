"""A model server whose one model obeys every text: it makes every call in the last text that it got."""

from __future__ import annotations

import base64
import json
import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, cast

from tests.bench.upstream import DETAILS, FIXED

NAME, OTHER = "obedient:latest", "servile:latest"
# As large as a model has to be to be given all the tools of the MCP server.
SIZE = {"general.architecture": "fake", "fake.context_length": 65536, "general.parameter_count": 70_000_000_000}
SHOWN: dict[str, Any] = {**FIXED, "/api/show": {**cast(dict[str, Any], FIXED["/api/show"]), "model_info": SIZE}}
ORDER = re.compile(r"OBEY-([A-Za-z0-9_-]+)-YEBO")
TAGS = {
    "models": [
        {"name": name, "model": name, "size": 1, "digest": str(number), "details": DETAILS}
        for number, name in enumerate((NAME, OTHER))
    ]
}


def order(name: str, in_prose: bool = False, **arguments: Any) -> str:
    """Words that make it call this tool, in letters that may stand in names of files, in SQL and in programs."""
    written = json.dumps([name, arguments, in_prose], separators=(",", ":"))
    return f"OBEY-{base64.urlsafe_b64encode(written.encode()).decode().rstrip('=')}-YEBO"


def orders_in(messages: Sequence[dict[str, Any]], tools: object = None) -> list[tuple[str, dict[str, Any], bool]]:
    """Those of the newest message; if a person orders nothing, those of all results, the system text and the tools."""
    last = messages[-1]
    found = ORDER.findall(last["content"])
    if not found and last["role"] == "user":
        texts = [message["content"] for message in messages if message["role"] in ("tool", "system")]
        found = ORDER.findall("\n".join([*texts, json.dumps(tools)]))
    return [json.loads(base64.urlsafe_b64decode(written + "===")) for written in dict.fromkeys(found)]


def reply(messages: Sequence[dict[str, Any]], tools: object = None) -> dict[str, Any]:
    """The message it answers with."""
    asked = orders_in(messages, tools)
    calls = [
        {"function": {"name": name, "arguments": arguments}} for name, arguments, in_prose in asked if not in_prose
    ]
    written = [json.dumps({"name": name, "arguments": said}) for name, said, in_prose in asked if in_prose]
    text = "\n".join(f"```json\n{one}\n```" for one in written) if asked else "As you wish."
    return {"role": "assistant", "content": text, **({"tool_calls": calls} if calls else {})}


class Web(BaseHTTPRequestHandler):
    """Speaks as Ollama does."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._send(json.dumps(TAGS if self.path == "/api/tags" else SHOWN.get(self.path, {})))

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if self.path != "/api/chat":
            return self._send(json.dumps(SHOWN.get(self.path, {})))
        said = {"model": NAME, "message": reply(body["messages"], body.get("tools")), "done": False}
        end = {"model": NAME, "message": {"role": "assistant", "content": ""}, "done": True, "done_reason": "stop"}
        return self._send(f"{json.dumps(said)}\n{json.dumps(end)}\n")

    def _send(self, text: str) -> None:
        self.send_response(200)
        self.send_header("content-length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, format: str, *args: Any) -> None:
        """Says nothing."""


@contextmanager
def obedient_server() -> Iterator[str]:
    """Runs in a thread of its own; gives its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Web)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join(10)
        server.server_close()
