"""What is known of the models, as JSON."""

from __future__ import annotations

from django.http import HttpRequest, JsonResponse
from django.views.decorators.http import require_GET

from toolsupport.access import Action, requires
from toolsupport.core.errors import NotFound
from toolsupport.registry import catalogue


@require_GET
@requires(Action.SEE_MODELS)
def listed(request: HttpRequest) -> JsonResponse:
    """Every model with its capabilities."""
    return JsonResponse({"models": catalogue.listed()})


@require_GET
@requires(Action.SEE_MODELS)
def shown(request: HttpRequest, model_id: str) -> JsonResponse:
    """One model (`server/name`, a unique name, or a number) with everything that was said about it."""
    try:
        return JsonResponse(catalogue.shown(model_id))
    except NotFound as error:
        wrong = {"message": str(error), "type": "invalid_request_error", "param": "model", "code": "model_not_found"}
        return JsonResponse({"error": wrong}, status=404)
