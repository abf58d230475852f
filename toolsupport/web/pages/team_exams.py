"""Views of the exams of the team: their cases, edited, removed, exported and imported."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.text import slugify
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from toolsupport.core.errors import ConfigError, Conflict
from toolsupport.core.exams import exam_files
from toolsupport.core.row_ids import row_number
from toolsupport.registry.exams import team_exams
from toolsupport.registry.exams.team_exams import EditedCase
from toolsupport.registry.models import profiles
from toolsupport.registry.people.permissions import Action
from toolsupport.web.pages import case_form
from toolsupport.web.pages.case_form import CaseForm
from toolsupport.web.view_permissions import AuthedRequest, requires

PAGE, EDITOR = "toolsupport/team_exam.html", "toolsupport/team_case.html"


@require_GET
@requires(Action.SEE_MODELS)
def shown(request: AuthedRequest, team_exam_id: int) -> HttpResponse:
    """Show an exam of the team with its cases."""
    found: dict[str, Any] = {"exam": team_exams.shown(team_exam_id), "cases": team_exams.cases(team_exam_id)}
    found |= {"may_edit": Action.EDIT_EXAMS in request.actions, "may_run": Action.DETECT in request.actions}
    return render(request, PAGE, found | {"models": profiles.listed() if found["may_run"] else ()})


@require_POST
@requires(Action.EDIT_EXAMS)
def rename(request: AuthedRequest, team_exam_id: int) -> HttpResponseBase:
    """Give an exam another name."""
    try:
        team_exams.rename(team_exam_id, request.POST.get("name", ""))
    except ConfigError as error:
        messages.error(request, str(error))
    return redirect("team-exam", team_exam_id)


@require_POST
@requires(Action.EDIT_EXAMS)
def remove(request: AuthedRequest, team_exam_id: int) -> HttpResponseBase:
    """Remove an exam with its cases."""
    messages.success(request, f"Removed the exam “{team_exams.remove(team_exam_id)}”.")
    return redirect("exams")


@require_GET
@requires(Action.SEE_MODELS)
def export(request: AuthedRequest, team_exam_id: int) -> HttpResponse:
    """Download an exam as JSON."""
    suite = team_exams.suite_of(team_exam_id)
    answer = HttpResponse(exam_files.written(suite), content_type="application/json")
    answer.headers["Content-Disposition"] = f'attachment; filename="{slugify(suite.name) or "exam"}.json"'
    return answer


@require_POST
@requires(Action.EDIT_EXAMS)
def take(request: AuthedRequest) -> HttpResponseBase:
    """Import an exam; a file with an error changes nothing."""
    try:
        exam = team_exams.put(exam_files.read(_sent(request)), request.user.pk)
    except ConfigError as error:
        messages.error(request, f"Nothing was imported. {error}")
        return redirect("exams")
    messages.success(request, "Imported the exam.")
    return redirect("team-exam", exam)


@require_http_methods(["GET", "POST"])
@requires(Action.EDIT_EXAMS)
def edit(request: AuthedRequest, team_case_id: int) -> HttpResponseBase:
    """Show the editor of a case, or store the edited one."""
    found = team_exams.edited(team_case_id)
    given = request.POST if request.method == "POST" else None
    form = CaseForm(given, kept=case_form.kept(found.case), initial=case_form.initial(found.case))
    if given is not None and form.is_valid() and _changed(request, found, form):
        messages.success(request, "Saved the case. Results of earlier runs stay as they are.")
        return redirect("team-exam", found.exam)
    seen = found.version if given is None or form.stale else row_number(given.get("version", ""))
    stands = case_form.initial(found.case) if form.stale else None
    return render(request, EDITOR, {"form": form, "edited": found, "version": seen, "stands": stands})


@require_POST
@requires(Action.EDIT_EXAMS)
def remove_case(request: AuthedRequest, team_case_id: int) -> HttpResponseBase:
    """Remove a case from its exam."""
    return redirect("team-exam", team_exams.remove_case(team_case_id))


def _changed(request: HttpRequest, found: EditedCase, form: CaseForm) -> bool:
    """Store the case of a valid form; on an error the form shows it."""
    assert form.case is not None
    version = row_number(request.POST.get("version", "")) or 0
    try:
        team_exams.change(replace(found, version=version, case=form.case), request.user.pk)
    except Conflict as error:
        form.stale = True
        form.add_error(None, str(error))
    except ConfigError as error:
        form.add_error(None, str(error))
    return not form.errors


def _sent(request: HttpRequest) -> bytes:
    """Return the upload up to one byte over the limit, so that the reader can report the excess."""
    file = request.FILES.get("file")
    if file is None:
        raise ConfigError("Choose a file first.")
    return bytes(file.read(exam_files.MOST_BYTES + 1))
