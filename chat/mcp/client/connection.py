"""One connection to one MCP server: opened, queried for tools, used for calls, closed."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from importlib import import_module
from typing import Any

from chat.mcp.client import http, stdio
from chat.mcp.client.message_guard import MessageGuard, ServerBroke
from chat.mcp.client.stdio import ProcessEnded
from toolsupport import __version__, cancellable_threads
from toolsupport.core import remote_tools
from toolsupport.core.errors import ToolsupportError
from toolsupport.core.invisible_chars import UNSEEN
from toolsupport.core.remote_tools import MOST_TOOLS, CheckedTools, RemoteServer
from toolsupport.core.schema_limits import parts_of
from toolsupport.core.sentences import sentence
from toolsupport.core.types import JSON

TRANSPORTS = {"stdio": stdio.opened, "http": http.opened}
LISTING = 20.0  # seconds
CALL = 120.0
# A program that ended within these is started again: two such starts fit into every limit for a connection.
SOON = 5.0
# Values of all pages of a list of tools: to check them takes 300 ms.
MOST_LISTED = 100_000
# The SDK's errors about a message that it cannot read, with pydantic's text, which explains nothing to people. A
# server's own errors about arguments have such texts too, and the model needs those.
UNPARSED = re.compile(r"Failed to parse .*validation error", re.DOTALL)
LONGEST_ERROR = 2_000  # characters that are looked at
Progress = Callable[[float, float | None, str | None], None]


class McpConnection:
    """An open connection. Its methods raise the SDK's errors; `in_words` explains them."""

    def __init__(self, client: Any, guard: MessageGuard) -> None:
        self._client = client
        self._guard = guard

    @property
    def broken(self) -> str:
        """Return which limit the server broke, "" if none: then this connection ends."""
        return self._guard.reason

    @property
    def version(self) -> str:
        """Return the server's version, or ""."""
        info = self._client.server_info
        return f"{info.name} {info.version}".strip() if info else ""

    async def tools(self) -> list[JSON]:
        """Return the complete definitions, including fields that the SDK's objects leave out.

        Raises ServerBroke for a list that is too large.
        """
        import mcp_types as types

        found: list[JSON] = []
        cursor: str | None = None
        listed = 0
        async with asyncio.timeout(LISTING):
            while len(found) <= MOST_TOOLS:
                asked = types.ListToolsRequest(params=types.PaginatedRequestParams(cursor=cursor))
                page = await self._ask(asked, LISTING)
                tools = page.get("tools")
                if not isinstance(tools, list):
                    raise ServerBroke(sentence("mcp_protocol"))
                found += tools
                listed += parts_of(tools)
                if listed >= MOST_LISTED:
                    self._guard.broke(sentence("mcp_list_too_large", most=MOST_LISTED))
                cursor = page.get("nextCursor")
                if not cursor or not tools:
                    break
        return found

    async def checked_tools(self) -> CheckedTools:
        """Return the tools, checked in a thread: neither the event loop nor the database's thread waits for it."""
        return await cancellable_threads.run(remote_tools.checked, await self.tools())

    async def call(self, name: str, arguments: JSON, progress: Progress) -> JSON:
        """Return the raw result. Cancelling it notifies the server."""
        import mcp_types as types

        async def report(done: float, total: float | None, message: str | None) -> None:
            progress(done, total, message)

        asked = types.CallToolRequest(params=types.CallToolRequestParams(name=name, arguments=arguments))
        return await self._ask(asked, CALL, report)

    async def _ask(self, asked: Any, seconds: float, progress: Any = None) -> JSON:
        """Return the result as it was sent.

        The SDK's own methods check it as a whole: one tool whose definition is unusual hides all others then, and one
        part of an unknown kind the whole result. `call_tool` also runs the patterns of a server's schema over its
        result, in our loop. What is read of a result is checked where it is read.
        """
        session = self._client.session
        data = asked.model_dump(by_alias=True, mode="json", exclude_none=True)
        options = {"timeout": seconds} | ({"on_progress": progress} if progress else {})
        session._stamp(data, options)
        answer: JSON = await session._dispatcher.send_raw_request(data["method"], data.get("params"), options)
        return answer


@asynccontextmanager
async def connected(server: RemoteServer, changed: Callable[[], None]) -> AsyncIterator[McpConnection]:
    """Open a connection for the duration of the context; the task that entered it must leave it.

    `changed` is called when the server reports changed tools, and when its stream ends.
    """
    async with AsyncExitStack() as stack:
        # It takes a second and 55 MB: imported only if there is a server, in a thread, and before the time is taken.
        await asyncio.to_thread(import_module, "mcp.client.client")
        clock = asyncio.get_running_loop().time
        began = clock()
        try:
            connection = await stack.enter_async_context(_connected(server, changed, "auto"))
        except ProcessEnded:
            # One that ended later has another reason, and a second start would hide it behind a time limit.
            if clock() - began > SOON:
                raise
            # Programs made with older versions of the Rust SDK end at any request before `initialize`, also at the one
            # that asks for newer versions of the protocol.
            connection = await stack.enter_async_context(_connected(server, changed, "legacy"))
        yield connection


@asynccontextmanager
async def _connected(server: RemoteServer, changed: Callable[[], None], mode: str) -> AsyncIterator[McpConnection]:
    sdk = import_module("mcp.client.client")
    anyio = import_module("anyio")
    types = import_module("mcp_types")

    async def receive(message: Any) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            changed()

    info = types.Implementation(name="toolsupport", version=__version__)
    guard = MessageGuard()
    transport = TRANSPORTS[server.kind](server, changed, guard)
    client_of = partial(sdk.Client, transport, cache=None, message_handler=receive, client_info=info)
    try:
        async with client_of(read_timeout_seconds=LISTING, mode=mode) as client, anyio.create_task_group() as tasks:
            tasks.start_soon(_follow, client, changed)
            tasks.start_soon(guard.watch)
            try:
                yield McpConnection(client, guard)
            finally:
                tasks.cancel_scope.cancel()
    except Exception as error:  # a broken limit is the cause of all later errors
        if guard.reason:
            raise ServerBroke(guard.reason) from error
        raise


async def _follow(client: Any, changed: Callable[[], None]) -> None:
    """Subscribe to changes, as newer servers require."""
    subscriptions = import_module("mcp.client.subscriptions")
    errors = import_module("mcp.shared.exceptions")
    tools = client.server_capabilities.tools
    if tools is None or not tools.list_changed:
        return
    try:
        async with client.listen(tools_list_changed=True) as changes:
            async for _ in changes:
                changed()
    except (subscriptions.ListenNotSupportedError, subscriptions.SubscriptionLost, errors.MCPError, TimeoutError):
        return  # an older one notifies without a subscription; and all are queried every minute


def in_words(error: BaseException) -> str:
    """Explain an error in a sentence: the first of several causes, with the beginning of a server's text."""
    error = _cause(error)
    if isinstance(error, TimeoutError):
        return sentence("mcp_no_answer")
    if isinstance(error, ToolsupportError):
        return error.words
    kind = type(error).__name__
    if kind == "MCPError" and str(error) in http.REFUSALS:
        return str(error)
    if _is_of_server(error):
        return sentence("mcp_error", text=_one_line(error, 300))
    if kind in ("ValidationError", "MCPError"):
        return sentence("mcp_protocol")
    return sentence("mcp_unreachable", text=_one_line(error, 200) or sentence("connection_failed"))


def for_model(error: BaseException) -> str:
    """Explain an error like `in_words`, with all of a server's text, up to a limit: it may list several arguments."""
    error = _cause(error)
    text = _one_line(error, LONGEST_ERROR) if _is_of_server(error) else ""
    return f"It answered with an error: {text}" if text else in_words(error)


def _cause(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _is_of_server(error: BaseException) -> bool:
    """Return whether the text of an error is a server's own."""
    is_own = type(error).__name__ == "MCPError" and str(error) not in http.REFUSALS
    return is_own and not UNPARSED.match(str(error)[:LONGEST_ERROR])


def _one_line(error: BaseException, longest: int) -> str:
    """Return the beginning of an error's text on one line, without characters that cannot be seen."""
    return UNSEEN.sub("", " ".join(str(error)[:LONGEST_ERROR].split()))[:longest]
