"""Finds the outside content in requests and results of tools."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from chat.tools import BUILTINS, memory_dump, tool_search
from toolsupport.core.outside_content import OutsideSource, named
from toolsupport.core.remote_tools import MARK
from toolsupport.core.types import JSON, ChatMessage, RequestSpec

# Built-in tool → the kind of its result, and the argument that names it.
RESULTS: Mapping[str, tuple[str, str]] = {
    "read_file": ("the file", "path"),
    "list_directory": ("names of files in", "path"),
    "execute_sql": ("rows of the database", "source"),
    "search_schemas": ("descriptions of database tables", ""),
    "bash": ("the output of a command", ""),
}
HERE = ("", ".")
IMAGE, MEMORY = "an image", "the memory of this chat"
DESCRIPTIONS = "descriptions of tools of MCP servers"


def of_call(name: str, arguments: JSON, at: str = "") -> OutsideSource | None:
    """Return the result of a tool as a source; None if it contains no outside content."""
    tool = BUILTINS.get(name)
    if name == tool_search.NAME:
        return OutsideSource(DESCRIPTIONS, at, definition=True)
    if tool is not None and not tool.taints:
        return None
    # An unknown tool was one of an MCP server.
    return _built_in(name, arguments, at) if tool is not None else _remote(name, arguments, at)


def of_failed_memory(name: str, at: str) -> OutsideSource | None:
    """Return the memory if this failed call returned it: a person had changed it meanwhile."""
    return OutsideSource(MEMORY, at) if name == memory_dump.TOOL.spec.name else None


def of_request(spec: RequestSpec, history: Sequence[ChatMessage]) -> Iterator[OutsideSource]:
    """Yield the sources that a request contains besides the log: files for every request, and images."""
    for name in spec.documents:
        yield named("the file", name)
    if any(message.images for message in history):
        yield OutsideSource(IMAGE)


def _built_in(name: str, arguments: JSON, at: str) -> OutsideSource:
    words, argument = RESULTS.get(name, (f"a result of {name}", ""))
    value = arguments.get(argument)
    place = value if isinstance(value, str) else ""
    if name == "list_directory" and place.strip("/") in HERE:
        place = "this folder"
    return named(words, place, at)


def _remote(name: str, arguments: JSON, at: str) -> OutsideSource:
    server, _, tool = name.partition(MARK)
    url = arguments.get("url")
    if isinstance(url, str) and url.startswith(("http://", "https://")):
        return named("the web page", url, at)
    return named("a result of the MCP tool", f"{tool} of {server}" if tool else name, at)
