"""Builds error responses for programs whose model could not answer."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from django.http import JsonResponse

from toolsupport.core import context_overflow
from toolsupport.core.errors import Busy, NotFound, QuotaSpent, ToolsupportError
from toolsupport.core.events import Failed
from toolsupport.core.types import JSON
from toolsupport.gateway.request_errors import InvalidField, TooLarge, ToolChoiceNotMet, UntestedModel
from toolsupport.web import api_errors

UPSTREAM = 502
NOT_MET = "tool_choice_not_met"

# Kind of failure → status; programs retry after 5xx, so failures that would only repeat have 4xx.
STATUSES: Mapping[str, int] = MappingProxyType(
    {"timeout": 504, "busy": 503, "model_missing": 404, "refused": 400, NOT_MET: 422}
)


MODEL_NOT_FOUND, CONTEXT_EXCEEDED = "model_not_found", context_overflow.CODE


def status(failed: Failed) -> int:
    return STATUSES.get(failed.kind, UPSTREAM)


def body(failed: Failed) -> JSON:
    """Return the error object."""
    return api_errors.body(status(failed), failed.message, code=code(failed))


def code(failed: Failed) -> str:
    """Return OpenAI's code if programs react to it, such as by shortening, else a key of events.FAILURES."""
    if failed.kind == "model_missing":
        return MODEL_NOT_FOUND
    named = CONTEXT_EXCEEDED in failed.body[: context_overflow.LONGEST]
    exceeded = named or context_overflow.exceeded(failed.status, failed.body) is not None
    return CONTEXT_EXCEEDED if failed.kind == "refused" and exceeded else failed.kind


def answer(failed: Failed) -> JsonResponse:
    answered = JsonResponse(body(failed), status=status(failed))
    if failed.pause:
        answered.headers["Retry-After"] = str(failed.pause)
    return _final(answered) if failed.kind == "unauthorized" else answered


def _final(answered: JsonResponse) -> JsonResponse:
    """Ask the packages of OpenAI and Anthropic not to repeat the request, as they do after 409 and 5xx."""
    answered.headers["X-Should-Retry"] = "false"
    return answered


def missing(error: NotFound) -> JsonResponse:
    return api_errors.refusal(error, "model", MODEL_NOT_FOUND)


def spent(error: QuotaSpent) -> JsonResponse:
    """Return the response for a used-up quota."""
    refused = api_errors.refusal(error)
    refused.headers["Retry-After"] = str(error.seconds)
    return _final(refused)


def before(error: ToolsupportError) -> JsonResponse:
    """Return the response for an error before the model was asked."""
    if isinstance(error, NotFound):
        return missing(error)
    if isinstance(error, ToolChoiceNotMet):
        return api_errors.answer(422, str(error), error.param, NOT_MET)
    if isinstance(error, InvalidField):
        return api_errors.answer(400, str(error), error.param or None)
    if isinstance(error, UntestedModel):
        return _final(api_errors.answer(409, str(error), "tools", "model_not_tested"))
    if isinstance(error, TooLarge):
        return api_errors.answer(413, str(error))
    if isinstance(error, QuotaSpent):
        return spent(error)
    if isinstance(error, Busy):
        return api_errors.refusal(error)
    return api_errors.answer(502, str(error))
