"""Converts the result of an MCP tool to text for a model, each part labelled with its kind."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
from collections.abc import Callable
from typing import Any

from chat.tools.files.text_decoding import size_in_words
from chat.tools.files.workspace import Workspace
from toolsupport.core import sanitize
from toolsupport.core.errors import ToolError
from toolsupport.core.types import JSON, ToolResult

MOST_PARTS = 100
# Media type → extension of a saved file; other types get none.
ENDINGS = {
    "image/png": "png",
    "image/jpeg": "jpg",
    "image/gif": "gif",
    "image/webp": "webp",
    "audio/wav": "wav",
    "audio/mpeg": "mp3",
    "audio/ogg": "ogg",
    "application/pdf": "pdf",
    "application/json": "json",
    "text/plain": "txt",
}


class ResultReader:
    """Reads one result of one server; binary parts are saved in the workspace, for models and people."""

    def __init__(self, server: str, workspace: Workspace) -> None:
        self.server = server
        self.workspace = workspace

    def read(self, result: JSON) -> ToolResult:
        """Return the whole result. Blocks on the disk; raises ToolError for an invalid one."""
        parts, structured = result.get("content"), result.get("structuredContent")
        if parts is None and structured is not None:
            parts = []  # a server may repeat it as text, and need not
        if not isinstance(parts, list):
            raise ToolError(f"{self.server} asked for something back instead of giving a result.")
        strippeds = [self._part(part) for part in parts[:MOST_PARTS] if isinstance(part, dict)]
        if len(parts) > MOST_PARTS:
            strippeds.append(f"[Cut here: these are the first {MOST_PARTS} of {len(parts)} parts.]")
        if structured is not None and not any(_same(part, structured) for part in parts):
            strippeds.append(f"[structured]\n{json.dumps(structured, ensure_ascii=False, indent=1)}")
        text = "\n\n".join(filter(None, strippeds)) or "[The tool returned nothing.]"
        return ToolResult(sanitize.text(text), is_error=result.get("isError") is True)

    def _part(self, part: JSON) -> str:
        kind = str(part.get("type"))
        return KINDS[kind](self, part) if kind in KINDS else f"[{kind[:40]}: an unknown kind of content]"

    def _text(self, part: JSON) -> str:
        return str(part.get("text", ""))

    def _bytes(self, part: JSON) -> str:
        return f"[{part['type']}: {self._kept(part.get('mimeType'), part.get('data'))}]"

    def _resource(self, part: JSON) -> str:
        inner = part.get("resource")
        resource: JSON = inner if isinstance(inner, dict) else {}
        address = _line(resource.get("uri"))
        if "blob" in resource:
            return f"[resource {address}: {self._kept(resource.get('mimeType'), resource['blob'])}]"
        return f"[resource {address}]\n{resource.get('text', '')}"

    def _link(self, part: JSON) -> str:
        words = [_line(part.get(name)) for name in ("uri", "title", "name", "description", "mimeType")]
        return f"[resource link, not opened: {', '.join(filter(None, words))}]"

    def _kept(self, kind: Any, data: Any) -> str:
        """Return a sentence with the path of the saved bytes."""
        kind = _line(kind)[:80] or "of no kind"
        try:
            # `base64` and encoders of mail break the lines.
            content = base64.b64decode("".join(data.split()), validate=True)
        except (AttributeError, binascii.Error, TypeError, ValueError):
            return f"{kind}, which cannot be read"
        name = hashlib.sha256(content).hexdigest()[:12]
        path = f"mcp/{self.server}/{name}.{ENDINGS.get(kind, 'bin')}"
        try:
            self.workspace.write(path, [content])
        except ToolError as error:
            return f"{kind}, {size_in_words(len(content))}, not kept: {error}"
        return f"{kind}, {size_in_words(len(content))}, kept in the chat's files as {path}"


KINDS: dict[str, Callable[[ResultReader, JSON], str]] = {
    "text": ResultReader._text,
    "image": ResultReader._bytes,
    "audio": ResultReader._bytes,
    "resource": ResultReader._resource,
    "resource_link": ResultReader._link,
}


def _line(value: Any) -> str:
    """Return a server's short text on one line, without brackets that would close ours."""
    return re.sub(r"[\[\]\s]+", " ", value).strip()[:300] if isinstance(value, str) else ""


def _same(part: Any, structured: Any) -> bool:
    """Return whether a text part repeats the structured result, as servers do for older clients."""
    if not isinstance(part, dict) or part.get("type") != "text":
        return False
    text = str(part.get("text"))
    # A value that is no object is put under this name, as what it is.
    alone = structured["result"] if isinstance(structured, dict) and structured.keys() == {"result"} else structured
    try:
        return text == alone or json.loads(text) in (structured, alone)
    except (ValueError, RecursionError):
        return False
