"""Views that replay an answer on other models, side by side; no tool is executed."""

from __future__ import annotations

from dataclasses import replace

from django.contrib import messages
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from chat.transcript.conversations import conversations
from chat.transcript.messages import formatted
from chat.transcript.turns import comparisons
from chat.transcript.turns.comparisons import MOST_MODELS, ShownComparison
from chat.turns import runner
from chat.turns.comparison_worker import ReplayWorker
from toolsupport.core.errors import Busy, ConfigError
from toolsupport.core.row_ids import row_number
from toolsupport.registry.models import profiles
from toolsupport.registry.people.permissions import Action
from toolsupport.services import background_jobs
from toolsupport.web.pages.htmx import wants_part
from toolsupport.web.view_permissions import AuthedRequest, requires

PAGE = "chat/compare.html"


@require_http_methods(["GET", "POST"])
@requires(Action.CHAT)
def compare(request: AuthedRequest, turn_id: int) -> HttpResponseBase:
    """Show the person's own answer next to those of other models, or replay it on the models in `model`."""
    if request.method == "POST":
        try:
            _begin(request, turn_id)
        except (Busy, ConfigError) as error:
            messages.error(request, str(error))
        return redirect("compare", turn_id)
    return _shown(request, turn_id)


@require_POST
@requires(Action.CHAT)
def cancel(request: AuthedRequest, turn_id: int) -> HttpResponseBase:
    """Cancel the answers that are not complete."""
    comparisons.cancel(request.user, turn_id)
    return _shown(request, turn_id) if wants_part(request) else redirect("compare", turn_id)


@require_POST
@requires(Action.CHAT)
def choose(request: AuthedRequest, turn_id: int) -> HttpResponseBase:
    """Choose the model of a compared answer for the chat."""
    profile = comparisons.profile_of(request.user, turn_id, row_number(request.POST.get("answer", "")))
    if profile is None:
        messages.error(request, "This answer is no longer part of the replay.")
        return redirect("compare", turn_id)
    here = comparisons.shown(request.user, turn_id).conversation
    runner.current().announce_soon(here, conversations.select_model(request.user, here, str(profile)))
    return redirect("conversation", here)


def _begin(request: AuthedRequest, turn_id: int) -> None:
    """Ask the chosen models. Raises NotFound, ConfigError, Busy."""
    chosen = [row_number(one) for one in request.POST.getlist("model")]
    # One more than the maximum is enough to see that there are too many.
    rows = profiles.usable(chosen[: MOST_MODELS + 1])
    comparisons.begin(request.user, turn_id, [row.id for row in rows])
    background_jobs.current().look(ReplayWorker)


def _formatted(request: AuthedRequest, turn_id: int) -> ShownComparison:
    """Return the comparison, its texts formatted once they are complete: until then the page polls every second."""
    found = comparisons.shown(request.user, turn_id)
    if found.open:
        return found
    sides = (found.original, *found.answers)
    made = formatted.in_time(request.user.pk, [side.text for side in sides])
    original, *answers = (replace(side, html=html) for side, html in zip(sides, made, strict=True))
    return replace(found, original=original, answers=tuple(answers))


def _shown(request: AuthedRequest, turn_id: int) -> HttpResponse:
    found = {"compared": _formatted(request, turn_id), "most": MOST_MODELS}
    if wants_part(request):
        return render(request, f"{PAGE}#live", found)
    return render(request, PAGE, found | {"models": profiles.usable()})
