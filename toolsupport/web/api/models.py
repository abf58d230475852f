"""JSON views of the models."""

from __future__ import annotations

from django.http import JsonResponse
from django.views.decorators.http import require_POST, require_safe

from toolsupport.core import strict_json
from toolsupport.core.error_statuses import row_of
from toolsupport.core.errors import Busy, ConfigError, NotFound
from toolsupport.core.types import is_json_object
from toolsupport.detection import KINDS
from toolsupport.registry.models import api_catalogue
from toolsupport.registry.people.permissions import Action
from toolsupport.registry.testing.detections import DetectionRequest
from toolsupport.web import api_errors
from toolsupport.web.pages import detections
from toolsupport.web.view_permissions import AuthedRequest, requires

SOON = 60  # seconds: the limit of tests covers the last hour, so it moves all the time

FORM = "application/x-www-form-urlencoded"

# Codes that are older than the error table; clients of these addresses rely on them.
CODES: dict[type[Exception], str] = {
    NotFound: "model_not_found",
    Busy: "rate_limit_exceeded",
    ConfigError: "detection_disabled",
}


@require_safe
@requires(Action.SEE_MODELS)
def listed(request: AuthedRequest) -> JsonResponse:
    """Return every model with its capabilities."""
    return JsonResponse({"models": api_catalogue.listed()})


@require_safe
@requires(Action.SEE_MODELS)
def shown(request: AuthedRequest, model_id: str) -> JsonResponse:
    """Return one model (`server/name`, a unique name, or a number) with all claims about it."""
    try:
        return JsonResponse(api_catalogue.shown(model_id))
    except NotFound as error:
        return _wrong(error, "model")


@require_POST
@requires(Action.DETECT)
def detect(request: AuthedRequest, model_id: str) -> JsonResponse:
    """Start a test of a model, or join the open one; return its number."""
    kind = _wanted_kind(request)
    if kind not in KINDS:
        return _error(
            400,
            "invalid_value",
            f"There is no test {kind!r}. The tests are {', '.join(f'`{name}`' for name in KINDS)}.",
            "kind",
        )
    try:
        asked = DetectionRequest(api_catalogue.number(model_id), "api", kind, request.user.pk)
        return JsonResponse({"detection": detections.open_tests(request, [asked])[0].id})
    except tuple(CODES) as error:
        return _wrong(error, "model")


@require_safe
@requires(Action.SEE_MODELS, of_key=Action.DETECT)
def detection(request: AuthedRequest, detection_id: int) -> JsonResponse:
    """Return one test with its steps, its verdict and its evidence."""
    try:
        return JsonResponse(api_catalogue.detection(detection_id))
    except NotFound as error:
        return _error(404, "detection_not_found", str(error), "detection")


def _wanted_kind(request: AuthedRequest) -> str:
    """Return the kind of test from a JSON object or a form; "" if the body is neither.

    JSON is read under each type, as at the other addresses: curl sends it as a form unless another type is given.
    """
    if request.content_type == "multipart/form-data" or "kind" in request.POST or not request.body:
        return request.POST.get("kind", "tools")
    try:
        given = strict_json.read(request.body)
    except ValueError:
        form = request.content_type == FORM and not request.body.lstrip().startswith(b"{")
        return "tools" if form else ""
    kind = given.get("kind", "tools") if is_json_object(given) else None
    return kind if isinstance(kind, str) else ""


def _wrong(error: Exception, param: str) -> JsonResponse:
    code = next(code for kind, code in CODES.items() if isinstance(error, kind))
    # Tests are switched off: the request conflicts with the state of the site.
    status = 409 if isinstance(error, ConfigError) else row_of(error).status
    return _error(status, code, str(error), param)


def _error(status: int, code: str, message: str, param: str) -> JsonResponse:
    answer = api_errors.answer(status, message, param, code)
    if status == 429:
        answer.headers["Retry-After"] = str(SOON)
    return answer
