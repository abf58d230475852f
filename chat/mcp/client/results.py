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
DATA_ADDRESS = re.compile(r"data:[^,]{0,200};base64,")
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
        if result.get("resultType") == "input_required":
            raise ToolError(f"{self.server} asked for something back instead of giving a result.")
        # Missing or null where a program had nothing to add to its structured result, or nothing at all.
        parts = result.get("content")
        parts = [] if parts is None else parts
        if not isinstance(parts, list):
            raise ToolError(f"{self.server} sent a result that cannot be read.")
        strippeds = [self._part(part) for part in parts[:MOST_PARTS] if isinstance(part, dict)]
        if len(parts) > MOST_PARTS:
            strippeds.append(f"[Cut here: these are the first {MOST_PARTS} of {len(parts)} parts.]")
        structured = result.get("structuredContent")
        if structured is not None and not _repeats(parts, structured):
            strippeds.append(f"[structured]\n{json.dumps(structured, ensure_ascii=False, indent=1)}")
        text = "\n\n".join(filter(None, strippeds)) or "[The tool returned nothing.]"
        return ToolResult(sanitize.text(text), is_error=result.get("isError") is True)

    def _part(self, part: JSON) -> str:
        kind = str(part.get("type"))
        return KINDS[kind](self, part) if kind in KINDS else f"[{kind[:40]}: an unknown kind of content]"

    def _text(self, part: JSON) -> str:
        text = part.get("text")
        return "" if text is None else str(text)

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
            # Some libraries write base64 in lines, some servers as the address of an image.
            content = base64.b64decode(_encoded("".join(data.split())), validate=True)
        except (AttributeError, binascii.Error, ValueError):
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


def _encoded(text: str) -> str:
    """Return the base64 of a text, which may be an address with the data in it."""
    address = DATA_ADDRESS.match(text)
    return text[address.end() :] if address else text


def _line(value: Any) -> str:
    """Return a server's short text on one line, without brackets that would close ours."""
    return re.sub(r"[\[\]\s]+", " ", value).strip()[:300] if isinstance(value, str) else ""


def _repeats(parts: list[Any], structured: Any) -> bool:
    """Return whether the text parts repeat the structured result, as servers send both for older clients."""
    texts = [str(part.get("text")) for part in parts if isinstance(part, dict) and part.get("type") == "text"]
    # A value that is no object is put under this name, as what it is; the entries of a list are parts of their own.
    alone = structured["result"] if isinstance(structured, dict) and structured.keys() == {"result"} else structured
    if isinstance(alone, list) and texts and len(texts) == len(alone) and all(map(_is, texts, alone)):
        return True
    return any(_is(text, structured) or _is(text, alone) for text in texts)


def _is(text: str, value: Any) -> bool:
    """Return whether a text is a value, or its JSON."""
    try:
        return bool(text == value or json.loads(text) == value)
    except (ValueError, RecursionError):
        return False
