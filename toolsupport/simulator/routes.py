"""The routing table of the simulator."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from toolsupport.simulator.client_connection import Client
from toolsupport.simulator.http11 import PLAIN, ReceivedRequest, Response, StreamedResponse
from toolsupport.simulator.state import SimulatorState
from toolsupport.simulator.wire import control, embeddings, listing, ollama_chat, openai_chat

Handler = Callable[[SimulatorState, Client, ReceivedRequest], Awaitable[Response | StreamedResponse]]

ROUTES: dict[str, dict[str, Handler]] = {
    "/": {"GET": listing.alive, "HEAD": listing.alive},
    "/api/version": {"GET": listing.version, "HEAD": listing.version},
    "/api/tags": {"GET": listing.tags, "HEAD": listing.tags},
    "/api/ps": {"GET": listing.loaded},
    "/api/show": {"POST": listing.show},
    "/api/chat": {"POST": ollama_chat.chat},
    "/api/generate": {"POST": ollama_chat.generate},
    "/api/embed": {"POST": embeddings.native},
    "/api/pull": {"POST": control.pull},
    "/api/delete": {"DELETE": control.delete},
    "/v1/models": {"GET": listing.openai_models},
    "/v1/chat/completions": {"POST": openai_chat.chat},
    "/v1/embeddings": {"POST": embeddings.openai},
    "/simulator/drift": {"POST": control.drift},
}
# The one path with a name in it.
ONE_MODEL = "/v1/models/"


async def respond(state: SimulatorState, client: Client, request: ReceivedRequest) -> Response | StreamedResponse:
    """Return the response to a request, for any path."""
    methods = ROUTES.get(request.path) or _with_a_name(request.path)
    if methods is None:
        return Response(b"404 page not found", 404, PLAIN)
    handler = methods.get(request.method)
    if handler is None:
        return Response(b"405 method not allowed", 405, PLAIN, allow=", ".join(methods))
    return await handler(state, client, request)


def _with_a_name(path: str) -> dict[str, Handler] | None:
    return {"GET": listing.openai_model} if path.startswith(ONE_MODEL) else None
