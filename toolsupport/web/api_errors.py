"""Builds errors in OpenAI's format."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from django.http import HttpRequest, JsonResponse

from toolsupport.core.error_table import row_of
from toolsupport.core.types import JSON

PLACES = ("/v1/", "/api/")

# Status → the word for what kind of error it is; what is not here is our own fault.
TYPES: Mapping[int, str] = MappingProxyType(
    {
        400: "invalid_request_error",
        401: "authentication_error",
        403: "permission_error",
        404: "invalid_request_error",
        405: "invalid_request_error",
        409: "conflict_error",
        413: "invalid_request_error",
        429: "rate_limit_error",
        502: "upstream_error",
        503: "upstream_error",
        504: "upstream_error",
    }
)


def wanted_by(request: HttpRequest) -> bool:
    """Return True for the URLs of the API."""
    return request.path.startswith(PLACES)


def body(status: int, message: str, param: str | None = None, code: str | None = None) -> JSON:
    """Return the body; `param` names the wrong field."""
    return {"error": {"message": message, "type": TYPES.get(status, "server_error"), "param": param, "code": code}}


def answer(status: int, message: str, param: str | None = None, code: str | None = None) -> JsonResponse:
    """Return the whole response."""
    return JsonResponse(body(status, message, param, code), status=status)


def refusal(error: Exception, param: str | None = None, code: str | None = None) -> JsonResponse:
    """Return the response for an error of the error table; `code` overrides its code."""
    row = row_of(error)
    return answer(row.status, str(error), param, code or row.code)
