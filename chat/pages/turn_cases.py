"""View that makes a case of an exam out of an answer in a chat."""

from __future__ import annotations

from dataclasses import replace

from django.contrib import messages
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from chat.transcript.turns import comparisons, turn_case
from chat.transcript.turns.turn_case import OwnTurn, TurnCase
from toolsupport.core import redaction
from toolsupport.core.errors import ConfigError
from toolsupport.core.exams.cases import read_case
from toolsupport.core.row_ids import row_number
from toolsupport.registry.exams import team_exams
from toolsupport.registry.people.permissions import Action
from toolsupport.web.pages import case_form
from toolsupport.web.pages.case_form import NewCaseForm
from toolsupport.web.view_permissions import AuthedRequest, requires

EDITOR = "toolsupport/team_case.html"


@require_http_methods(["GET", "POST"])
@requires(Action.EDIT_EXAMS)
def add(request: AuthedRequest, turn_id: int) -> HttpResponseBase:
    """Show the editor for a case out of the person's own answer, or store the case; the exam is `suite`.

    `answer` is an answer of a comparison, whose calls are expected then.
    """
    if request.method == "POST":
        turn = turn_case.own_turn(request.user, turn_id)
        form = NewCaseForm(request.POST)
        if form.is_valid() and (exam := _added(form, request.user.pk)):
            messages.success(request, "Added the case.")
            return redirect("team-exam", exam)
        return _page(request, form, turn, {"exams": team_exams.names()})
    turn = turn_case.own_turn(request.user, turn_id)
    made, (exams, last) = _made(request, turn), team_exams.names_and_last()
    return _page(request, NewCaseForm(initial=_initial(made, last)), turn, {"exams": exams, "cut": made.cut})


def _made(request: AuthedRequest, turn: OwnTurn) -> TurnCase:
    made = turn_case.of_own(turn)
    answer = row_number(request.GET.get("answer", ""))
    return replace(made, case=comparisons.case_of(request.user, turn.row.pk, answer)) if answer else made


def _initial(made: TurnCase, last: str) -> dict[str, object]:
    """Return the fields as the team would see them, without secrets."""
    case = read_case(redaction.redact_json(made.case.to_json()))
    return case_form.initial(case) | {"suite": last, "id": team_exams.free_name(last, case.id)}


def _added(form: NewCaseForm, actor: int) -> int | None:
    """Store the case; return its exam, None on an error, which the form then shows."""
    assert form.case is not None
    try:
        return team_exams.add(form.cleaned_data["suite"], form.case, actor)
    except ConfigError as error:
        form.add_error(None, str(error))
        return None


def _page(request: HttpRequest, form: NewCaseForm, turn: OwnTurn, found: dict[str, object]) -> HttpResponseBase:
    return render(request, EDITOR, found | {"form": form, "conversation": turn.row.conversation_id})
