"""Builds errors in OpenAI's format."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import orjson
from asgiref.sync import iscoroutinefunction
from django.http import HttpRequest, JsonResponse
from django.http.response import HttpResponseBase
from django.utils.decorators import sync_and_async_middleware

from toolsupport.core import context_overflow
from toolsupport.core.error_statuses import row_of
from toolsupport.core.json_shapes import TEXT, TEXT_OR_NULL, Shape
from toolsupport.core.types import JSON

ERROR_FIELDS = Shape("ErrorFields", {"message": TEXT, "type": TEXT, "param": TEXT_OR_NULL, "code": TEXT_OR_NULL})
ERROR = Shape("Error", {"error": ERROR_FIELDS.ref})
# Anthropic's errors have no code; a program may use ours.
MESSAGES_ERROR_FIELDS = Shape("MessagesErrorFields", {"type": TEXT, "message": TEXT}, optional={"code": TEXT})
MESSAGES_ERROR = Shape("MessagesError", {"error": MESSAGES_ERROR_FIELDS.ref}, {"type": "error"})
SHAPES = (ERROR_FIELDS, ERROR, MESSAGES_ERROR_FIELDS, MESSAGES_ERROR)

PLACES = ("/v1/", "/api/")
RETRY_AFTER = 2  # seconds: nothing is queued here, and an answer may end at any moment

# Status → the type of the error; any other status is our own fault.
TYPES: Mapping[int, str] = MappingProxyType(
    {
        400: "invalid_request_error",
        401: "authentication_error",
        403: "permission_error",
        404: "invalid_request_error",
        405: "invalid_request_error",
        409: "conflict_error",
        413: "invalid_request_error",
        422: "invalid_request_error",
        429: "rate_limit_error",
        502: "upstream_error",
        503: "upstream_error",
        504: "upstream_error",
    }
)


# The same for the Messages API of Anthropic, whose errors have another shape.
MESSAGES = "/v1/messages/"
ANTHROPIC_TYPES: Mapping[int, str] = MappingProxyType(
    {
        401: "authentication_error",
        403: "permission_error",
        404: "not_found_error",
        413: "request_too_large",
        429: "rate_limit_error",
        503: "overloaded_error",
        504: "timeout_error",
    }
)


def wanted_by(request: HttpRequest) -> bool:
    """Return True for the URLs of the API."""
    return f"{request.path}/".startswith(PLACES)


def body(status: int, message: str, param: str | None = None, code: str | None = None) -> JSON:
    """Return the body; `param` names the wrong field."""
    kind = TYPES.get(status, "server_error")
    return ERROR(error=ERROR_FIELDS(message=message, type=kind, param=param, code=code))


def anthropic(status: int, openai: JSON) -> JSON:
    """Return the error of the Messages API for one of OpenAI's."""
    kind = ANTHROPIC_TYPES.get(status, "invalid_request_error" if status < 500 else "api_error")
    message, code = openai["error"]["message"], openai["error"]["code"]
    if code == context_overflow.CODE:
        message = f"{_too_long(message)} {message}"
    return MESSAGES_ERROR(error=MESSAGES_ERROR_FIELDS(type=kind, message=message, **({"code": code} if code else {})))


def _too_long(message: str) -> str:
    """Return Anthropic's sentence for a full context: Claude Code looks at no code, and compacts for it only."""
    found = context_overflow.exceeded(400, message)
    return f"prompt is too long: {found.prompt} tokens > {found.context} maximum." if found else "prompt is too long."


def body_for(path: str, status: int, message: str) -> JSON:
    """Return the body in the shape of the API that this path belongs to."""
    openai = body(status, message)
    return anthropic(status, openai) if f"{path}/".startswith(MESSAGES) else openai


def answer(status: int, message: str, param: str | None = None, code: str | None = None) -> JsonResponse:
    """Return the whole response."""
    return JsonResponse(body(status, message, param, code), status=status)


def refusal(error: Exception, param: str | None = None, code: str | None = None) -> JsonResponse:
    """Return the response for an error of the error table; `code` overrides its code."""
    row = row_of(error)
    return answer(row.status, str(error), param, code or row.code)


@sync_and_async_middleware
def JsonErrors(get_response: Any) -> Callable[[HttpRequest], Any]:
    """Middleware that gives every error under PLACES this shape: the 405 of Django has no body."""
    if iscoroutinefunction(get_response):

        async def answer_async(request: HttpRequest) -> HttpResponseBase:
            return _shaped(request, await get_response(request))

        return answer_async

    def answer_sync(request: HttpRequest) -> HttpResponseBase:
        return _shaped(request, get_response(request))

    return answer_sync


def _shaped(request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
    if response.status_code == 429 and wanted_by(request):
        response.headers.setdefault("Retry-After", str(RETRY_AFTER))
    if response.status_code < 400 or not wanted_by(request):
        return response
    if response.headers.get("Content-Type", "").startswith("application/json"):
        return _of_api(request, response)
    allowed = response.headers.get("Allow", "")
    message = f"This address takes {allowed} only, not {request.method}." if allowed else response.reason_phrase
    shaped = answer(response.status_code, message, code="method_not_allowed" if allowed else None)
    for name in ("Allow", "Retry-After", "WWW-Authenticate"):
        if name in response.headers:
            shaped.headers[name] = response.headers[name]
    return _of_api(request, shaped)


def _of_api(request: HttpRequest, response: Any) -> HttpResponseBase:
    """Return an error in the shape of its API."""
    if f"{request.path}/".startswith(MESSAGES):
        # The compression of pages is further inside; packages accept compressed answers.
        compressed = response.headers.get("Content-Encoding") == "gzip"
        written = gzip.decompress(response.content) if compressed else response.content
        response.content = orjson.dumps(anthropic(response.status_code, orjson.loads(written)))
        if compressed:
            del response.headers["Content-Encoding"]
        if "Content-Length" in response.headers:
            response.headers["Content-Length"] = str(len(response.content))
    return response  # type: ignore[no-any-return]
