"""Talks to a simulator in bytes, and offers the tools the tests offer."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterable
from typing import Any

JSON = dict[str, Any]

MOMENT = re.compile(rb'"(?:created_at|expires_at)":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z"')
DURATION = re.compile(rb'"(\w+_duration)":[1-9]\d*')
CREATED = re.compile(rb'"created":[1-9]\d*')
DATE = re.compile(rb"Date: [A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT")


def tool(name: str, description: str = "", required: Iterable[str] = (), **properties: Any) -> JSON:
    """A tool as a request offers it; a property given as text is its type."""
    schemas = {key: {"type": value} if isinstance(value, str) else value for key, value in properties.items()}
    parameters = {"type": "object", "properties": schemas, "required": list(required)}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}


LIST = tool("list_directory", "List the files in a directory.", ["path"], path="string")
READ = tool("read_file", "Read a text file.", ["path"], path="string")
WRITE = tool("write_file", "Write text to a file.", ["path", "content"], path="string", content="string")
EDIT = tool("edit_file", "Replace text in a file.", ["path", "old", "new"], path="string", old="string", new="string")
BASH = tool("bash", "Run a shell command.", ["command"], command="string")
TOOLS = [LIST, READ, WRITE, EDIT, BASH]


def ask(words: str, model: str = "sim-honest", **more: Any) -> JSON:
    """The body of a chat request with one message."""
    return {"model": model, "messages": [{"role": "user", "content": words}], **more}


def post(path: str, body: bytes | JSON, *headers: str) -> bytes:
    """The bytes of a POST request."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    lines = [f"POST {path} HTTP/1.1", "Host: test", f"Content-Length: {len(data)}", *headers, "", ""]
    return "\r\n".join(lines).encode() + data


async def exchange(port: int, *sent: bytes) -> bytes:
    """Everything that comes back until the server ends the connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.writelines(sent)
    try:
        return await asyncio.wait_for(reader.read(), 60)
    finally:
        writer.close()


def body_of(answer: bytes) -> bytes:
    """The body of one response; chunks are put together, up to where they were cut."""
    head, _, rest = answer.partition(b"\r\n\r\n")
    return b"".join(chunks(rest)) if b"Transfer-Encoding: chunked" in head else rest


def chunks(rest: bytes) -> list[bytes]:
    found = []
    while rest and rest != b"0\r\n\r\n":
        size, _, rest = rest.partition(b"\r\n")
        length = int(size, 16)
        assert rest[length : length + 2] == b"\r\n"
        found.append(rest[:length])
        rest = rest[length + 2 :]
    return found


def timeless(data: bytes) -> bytes:
    """The bytes with every moment and duration replaced, once each has been seen to be well formed."""
    data = MOMENT.sub(b'"created_at":T', DURATION.sub(rb'"\1":N', data))
    return DATE.sub(b"Date: D", CREATED.sub(b'"created":N', data))
