"""What is known of the models, as JSON."""

from __future__ import annotations

from django.http import HttpRequest, JsonResponse
from django.views.decorators.http import require_GET, require_POST

from toolsupport.core import strict_json
from toolsupport.core.errors import Busy, ConfigError, NotFound
from toolsupport.core.types import is_json_object
from toolsupport.detection import KINDS
from toolsupport.registry.models import api_catalogue
from toolsupport.registry.people.permissions import Action, requires
from toolsupport.registry.testing.detections import DetectionRequest
from toolsupport.web.pages import detections

# Which error is told with which status and code.
ERRORS: dict[type[Exception], tuple[int, str]] = {
    NotFound: (404, "model_not_found"),
    Busy: (429, "rate_limit_exceeded"),
    ConfigError: (409, "detection_disabled"),
}


@require_GET
@requires(Action.SEE_MODELS)
def listed(request: HttpRequest) -> JsonResponse:
    """Every model with its capabilities."""
    return JsonResponse({"models": api_catalogue.listed()})


@require_GET
@requires(Action.SEE_MODELS)
def shown(request: HttpRequest, model_id: str) -> JsonResponse:
    """One model (`server/name`, a unique name, or a number) with everything that was said about it."""
    try:
        return JsonResponse(api_catalogue.shown(model_id))
    except NotFound as error:
        return _wrong(error, "model")


@require_POST
@requires(Action.DETECT)
def detect(request: HttpRequest, model_id: str) -> JsonResponse:
    """Begin a test of a model, or join the one that is under way; its number."""
    kind = _wanted_kind(request)
    if kind not in KINDS:
        return _error(400, "invalid_value", f"There is no test {kind!r}, only {', '.join(KINDS)}.", "kind")
    try:
        profile = api_catalogue.number(model_id)
        return JsonResponse({"detection": detections.open_test(request, DetectionRequest(profile, "api", kind)).id})
    except tuple(ERRORS) as error:
        return _wrong(error, "model")


@require_GET
@requires(Action.SEE_MODELS)
def detection(request: HttpRequest, detection_id: int) -> JsonResponse:
    """One test with its steps, its verdict and its evidence."""
    try:
        return JsonResponse(api_catalogue.detection(detection_id))
    except NotFound as error:
        return _error(404, "detection_not_found", str(error), "detection")


def _wanted_kind(request: HttpRequest) -> str:
    """The kind of test, from a form or from a JSON object; "" where the body is neither."""
    if request.content_type != "application/json" or not request.body:
        return request.POST.get("kind", "tools")
    try:
        said = strict_json.read(request.body)
    except ValueError:
        return ""
    kind = said.get("kind", "tools") if is_json_object(said) else None
    return kind if isinstance(kind, str) else ""


def _wrong(error: Exception, param: str) -> JsonResponse:
    status, code = next(told for kind, told in ERRORS.items() if isinstance(error, kind))
    return _error(status, code, str(error), param)


def _error(status: int, code: str, message: str, param: str) -> JsonResponse:
    wrong = {"message": message, "type": "invalid_request_error", "param": param, "code": code}
    return JsonResponse({"error": wrong}, status=status)
