"""Reads blocks of the Messages API, which programs send to /v1/chat/completions too."""

from __future__ import annotations

from typing import Any

from toolsupport.core.types import JSON, ToolCall

# A model that reads only the text of a result must see that the tool failed.
FAILED = "Error: "
# Blocks that may hold text; a model has to see that there was one that it does not get.
DOCUMENTS = ("document", "search_result", "container_upload")
UNREAD = "[{} was left out: only documents that hold text can be read here.]"


def call(block: JSON) -> ToolCall:
    """Return the call of a `tool_use`."""
    return ToolCall(block["id"], block["name"], block["input"])


def result_text(text: str, block: JSON) -> str:
    """Return the text of a `tool_result`, marked if the tool failed."""
    return FAILED + text if block.get("is_error") and "error" not in text.lower() else text


def words(block: JSON) -> str:
    """Return the text of a block, that of a document or a search result included; "" for other blocks."""
    if block["type"] == "text":
        return str(block["text"])
    if block["type"] not in DOCUMENTS:
        return ""
    text = _inside(block)
    title = block.get("title")
    if not text:
        return UNREAD.format(title or block["type"])
    return f"{title}:\n{text}" if title else text


def _inside(block: JSON) -> str:
    """Return the text of a document or of a search result; "" if it has none that can be read here."""
    if block["type"] == "search_result":
        return _joined_texts(block["content"])
    source = block.get("source") or {"type": ""}
    if source["type"] == "text":
        return str(source.get("data") or "")
    return _joined_texts(source.get("content")) if source["type"] == "content" else ""


def _joined_texts(content: Any) -> str:
    if content is None or isinstance(content, str):
        return content or ""
    return "\n\n".join(part["text"] for part in content if part.get("text"))


def image_url(block: JSON) -> str:
    """Return the data URL of an image, or its address, which is never fetched."""
    source = block["source"]
    if source["type"] == "base64":
        return f"data:{source.get('media_type')};base64,{source.get('data')}"
    return str(source.get("url"))
