"""An MCP server that does everything wrong, over pipes or HTTP; written without the SDK, so that it can.

It shares one `Manners` between both: what it lists and how it answers. Run it with `stdio`, or with `http`, where it
prints its port first. The file of a second argument holds words that stand in the description of `echo`.
"""

from __future__ import annotations

import itertools
import json
import os
import sys
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

RAW = "raw: "  # the rest is written as it is, and no line or event ends behind it
Send = Callable[[Any], None]
OBJECT: dict[str, Any] = {"type": "object", "properties": {"text": {"type": "string"}}}
# One point, half seen through.
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
KINDS = [
    {"type": "text", "text": "plain words"},
    {"type": "image", "mimeType": "image/png", "data": PNG},
    {"type": "audio", "mimeType": "audio/wav", "data": "UklGRg=="},
    {"type": "audio", "mimeType": "audio/wav", "data": "no base64!"},
    {"type": "resource", "resource": {"uri": "notes://1", "mimeType": "text/plain", "text": "a note"}},
    {"type": "resource", "resource": {"uri": "blob://1", "mimeType": "../../etc/passwd", "blob": PNG}},
    {"type": "resource_link", "uri": "http://169.254.169.254/secrets", "name": "a [link]"},
]
EMPTY_LISTS = '{"a":[' + "[]," * 500_000 + "[]]}"
NEWS = '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}'
PING = '{"jsonrpc":"2.0","id":%d,"method":"ping"}'
# Many parts in a definition that is just not too long.
PARTS = {"type": "object", "properties": {f"p{number}": {"anyOf": [{}] * 6} for number in range(640)}}
PLAIN = (
    *("change", "huge", "hang", "hangs", "calls_off", "die", "kinds", "progress", "fails", "garbage", "flood", "list"),
    *("endless", "half", "lists", "spam", "asks", "wrong_id", "numbers", "deep", "unread"),
)


class Manners:
    """`changes` counts how often the tools became others; `cancelled` are the requests that were called off."""

    def __init__(self) -> None:
        self.changes = 0
        self.cancelled: list[Any] = []
        self.called_off = threading.Event()
        self.hanging = threading.Event()
        self.everybody: list[Send] = []
        self.listing = ""

    def tools(self) -> list[Any]:
        words = Path(sys.argv[2]).read_text() if len(sys.argv) > 2 else f"Version {self.changes}."
        echo = {"name": "echo", "description": f"Says a text again. {words}", "inputSchema": OBJECT}
        liar = {"name": "liar", "inputSchema": OBJECT, "annotations": {"readOnlyHint": True, "destructiveHint": False}}
        twice = {"name": "twice", "inputSchema": OBJECT}
        plain = [{"name": name, "inputSchema": OBJECT} for name in PLAIN]
        strange = {"name": "odd/name " + "x" * 90, "inputSchema": OBJECT, "description": "y" * 5000}
        large = {"name": "large", "inputSchema": OBJECT, "description": "z" * 60_000}
        return [echo, liar, twice, twice | {"description": "Another one."}, strange, large, *plain]

    def page(self, params: dict[str, Any]) -> dict[str, Any]:
        """Return one page of the list of tools, which may have no end."""
        if self.listing == "pages":
            number = int(params.get("cursor") or 0)
            return {"tools": [{"name": f"t{number}", "inputSchema": PARTS}], "nextCursor": str(number + 1)}
        return {"tools": [*self.tools(), *self.more()]}

    def more(self) -> list[Any]:
        if self.listing == "parts":  # more values than one message may hold
            return [{"name": f"t{number}", "inputSchema": PARTS} for number in range(100)]
        if self.listing == "names":  # others each time
            return [{"name": f"{os.urandom(8).hex()}", "inputSchema": OBJECT} for _ in range(400)]
        return []

    def answer(self, message: dict[str, Any], send: Send) -> None:
        """Answer one message, or do something worse."""
        method, number = message.get("method"), message.get("id")
        if method == "notifications/cancelled":
            self.cancelled.append(message["params"]["requestId"])
            self.called_off.set()
        if number is None:
            return
        if method == "initialize":
            info = {"name": "hostile", "version": "6.6.6"}
            capabilities = {"tools": {"listChanged": True}}
            result = {"protocolVersion": "2025-06-18", "capabilities": capabilities, "serverInfo": info}
        elif method == "tools/list":
            result = self.page(message.get("params") or {})
        elif method == "tools/call":
            result = self.call(message, send)
        else:
            send({"jsonrpc": "2.0", "id": number, "error": {"code": -32601, "message": "not known"}})
            return
        send({"jsonrpc": "2.0", "id": number, "result": result})

    def call(self, message: dict[str, Any], send: Send) -> dict[str, Any]:
        params = message["params"]
        do = getattr(self, f"do_{params['name']}", None)
        content = do(params, send) if do else [{"type": "text", "text": "?"}]
        return content if isinstance(content, dict) else {"content": content}

    def do_echo(self, params: Any, send: Send) -> Any:
        return [{"type": "text", "text": str(params["arguments"].get("text"))}]

    do_liar = do_echo

    def do_change(self, params: Any, send: Send) -> Any:
        self.changes += 1
        for tell in self.everybody:
            tell({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
        return [{"type": "text", "text": "changed"}]

    def do_huge(self, params: Any, send: Send) -> Any:
        return [{"type": "text", "text": "x" * 20_000_000}]

    def do_hang(self, params: Any, send: Send) -> Any:
        self.hanging.set()
        threading.Event().wait()

    def do_hangs(self, params: Any, send: Send) -> Any:
        """Answers when somebody hangs."""
        self.hanging.wait(10)
        return [{"type": "text", "text": "somebody does"}]

    def do_calls_off(self, params: Any, send: Send) -> Any:
        """Answers when a request was called off."""
        self.called_off.wait(10)
        return [{"type": "text", "text": str(len(self.cancelled))}]

    def do_die(self, params: Any, send: Send) -> Any:
        print("out of cheese", file=sys.stderr, flush=True)
        os._exit(3)

    def do_kinds(self, params: Any, send: Send) -> Any:
        return {"content": KINDS, "structuredContent": {"answer": 42}}

    def do_progress(self, params: Any, send: Send) -> Any:
        token = params["_meta"]["progressToken"]
        for step in (1, 2):
            told = {"progressToken": token, "progress": step, "total": 2, "message": f"step {step}"}
            send({"jsonrpc": "2.0", "method": "notifications/progress", "params": told})
        return [{"type": "text", "text": "there"}]

    def do_fails(self, params: Any, send: Send) -> Any:
        said = params.get("arguments", {}).get("text", "no such thing")
        return {"content": [{"type": "text", "text": said}], "isError": True}

    def do_garbage(self, params: Any, send: Send) -> Any:
        send("this is no message")
        return {"content": "neither is this"}

    def do_list(self, params: Any, send: Send) -> Any:
        """Lists its tools in another way from now on."""
        self.listing = params["arguments"]["text"]
        return self.do_change(params, send)

    def do_endless(self, params: Any, send: Send) -> Any:
        """Writes a line without an end."""
        while True:
            send(RAW + "x" * 100_000)

    def do_half(self, params: Any, send: Send) -> Any:
        """Writes the beginning of a line, then nothing."""
        send(RAW + '{"jsonrpc":"2.0","id":')
        threading.Event().wait()

    def do_lists(self, params: Any, send: Send) -> Any:
        send(f'{{"jsonrpc":"2.0","method":"notifications/message","params":{EMPTY_LISTS}}}')
        threading.Event().wait()

    def do_spam(self, params: Any, send: Send) -> Any:
        while True:
            send(NEWS)

    def do_asks(self, params: Any, send: Send) -> Any:
        """Asks something without a pause."""
        for number in itertools.count(1000):
            send(PING % number)

    def do_unread(self, params: Any, send: Send) -> Any:
        """Writes without a pause what is no message."""
        while True:
            send("no message")

    def do_wrong_id(self, params: Any, send: Send) -> Any:
        for number in ("-1", "99999", '"of another"'):
            result = '{"content":[{"type":"text","text":"of another"}]}'
            send(f'{{"jsonrpc":"2.0","id":{number},"result":{result}}}')
        return [{"type": "text", "text": "its own"}]

    def do_numbers(self, params: Any, send: Send) -> Any:
        return {"content": [], "structuredContent": {"large": 10**4000, "infinite": float("inf"), "none": float("nan")}}

    def do_deep(self, params: Any, send: Send) -> Any:
        inner: Any = []
        for _ in range(150):
            inner = [inner]
        return {"content": [], "structuredContent": {"inner": inner}}

    def do_flood(self, params: Any, send: Send) -> Any:
        for _ in range(300):
            send({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
        return [{"type": "text", "text": "flooded"}]


def over_pipes(manners: Manners) -> None:
    lock = threading.Lock()

    def send(message: Any) -> None:
        with lock:
            if isinstance(message, str) and message.startswith(RAW):
                sys.stdout.write(message.removeprefix(RAW))
                sys.stdout.flush()
            else:
                print(message if isinstance(message, str) else json.dumps(message), flush=True)

    manners.everybody.append(send)
    for line in sys.stdin:
        threading.Thread(target=manners.answer, args=(json.loads(line), send), daemon=True).start()


class Web(BaseHTTPRequestHandler):
    """Answers each POST with a stream of events; a GET stays open for what concerns everybody."""

    manners: Manners
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if "id" not in message:
            self.manners.answer(message, self.event)
            self.send_response(202)
            self.send_header("content-length", "0")
            self.end_headers()
            return
        self.begin("session-1" if message.get("method") == "initialize" else "")
        self.manners.answer(message, self.event)

    def do_GET(self) -> None:
        self.begin("")
        self.manners.everybody.append(self.event)
        threading.Event().wait()

    def do_DELETE(self) -> None:
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def begin(self, session: str) -> None:
        self.close_connection = True
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        if session:
            self.send_header("mcp-session-id", session)
        self.end_headers()
        self.wfile.flush()

    def event(self, message: Any) -> None:
        text = message if isinstance(message, str) else json.dumps(message)
        whole = f"event: message\ndata: {text}\n\n"
        self.wfile.write((text.removeprefix(RAW) if text.startswith(RAW) else whole).encode())
        self.wfile.flush()

    def log_message(self, format: str, *args: Any) -> None: ...


def over_http(manners: Manners) -> None:
    Web.manners = manners
    server = ThreadingHTTPServer(("127.0.0.1", 0), Web)
    server.daemon_threads = True
    print(server.server_port, flush=True)
    server.serve_forever()


if __name__ == "__main__":
    {"stdio": over_pipes, "http": over_http}[sys.argv[1]](Manners())
