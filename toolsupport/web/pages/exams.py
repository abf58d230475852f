"""Views of exams: start a run, watch it, read its cases, download the result."""

from __future__ import annotations

import json
from typing import Any

from django import forms
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from toolsupport.core import format_choice
from toolsupport.core.errors import Busy, ConfigError, NotFound
from toolsupport.core.exams import exam_report, junit
from toolsupport.core.exams.builtin import SUITES
from toolsupport.core.exams.cases import GROUPS
from toolsupport.core.row_ids import row_number
from toolsupport.registry.exams import exam_next_steps as next_steps
from toolsupport.registry.exams import exam_reports, exam_runs, team_exams
from toolsupport.registry.exams.exam_runs import IN_FORCE, MOST_FORMATS, ExamRequest
from toolsupport.registry.models import picker, profiles
from toolsupport.registry.people.permissions import Action
from toolsupport.services import background_jobs
from toolsupport.web.pages import exam_next_steps
from toolsupport.web.pages.htmx import wants_part
from toolsupport.web.view_permissions import AuthedRequest, requires

LIST, START, PAGE, CASE = (f"toolsupport/{name}.html" for name in ("exams", "exam_start", "exam", "exam_case"))
CHOICES = (("quick", "Quick"), ("full", "Full"))


class ExamForm(forms.Form):
    """The choice of an exam and of call formats for one model."""

    suite = forms.ChoiceField(label="Exam", widget=forms.RadioSelect, initial="quick")
    formats = forms.MultipleChoiceField(
        label="Call formats", required=False, help_text="If none is chosen: the format of chats with this model."
    )

    swap_from = forms.TypedChoiceField(
        label="First model",
        required=False,
        coerce=int,
        empty_value=None,
        help_text="It makes the first calls of each case; this model gets the results and continues.",
    )

    def __init__(self, *given: Any, profile: int, **more: Any) -> None:
        super().__init__(*given, **more)
        self.offered = _offered()
        others = [(row.pk, f"{row.server.name}/{row.name}") for row in picker.chatting(True) if row.pk != profile]
        self.fields["swap_from"].choices = [("", "None: no change"), *others]  # type: ignore[attr-defined]
        self.fields["suite"].choices = [  # type: ignore[attr-defined]
            (name, f"{title}, {number} case{'' if number == 1 else 's'}") for name, title, number in self.offered
        ]
        self.fields["formats"].choices = [(name, format_choice.label(name)) for name in exam_runs.FORMATS_OF_EXAMS]  # type: ignore[attr-defined]

    def clean_formats(self) -> tuple[str, ...]:
        chosen = tuple(self.cleaned_data["formats"])
        if len(chosen) > MOST_FORMATS:
            raise forms.ValidationError(f"Choose at most {MOST_FORMATS} formats.")
        return chosen or (IN_FORCE,)


@require_GET
@requires(Action.SEE_MODELS)
def listed(request: AuthedRequest) -> HttpResponse:
    """List the team's exams, the newest runs and the models; `model` leads to the exams of one."""
    if model := row_number(request.GET.get("model", "")):
        chosen = request.GET.get("suite", "")
        return redirect(
            reverse("model-validate", args=[model]) + (f"?{urlencode({'suite': chosen})}" if chosen else "")
        )
    may_run, may_edit = (action in request.actions for action in (Action.DETECT, Action.EDIT_EXAMS))
    found = {"runs": exam_reports.listed(), "team_exams": team_exams.listed(), "may_edit": may_edit}
    return render(request, LIST, found | {"may_run": may_run, "models": profiles.listed() if may_run else ()})


@require_http_methods(["GET", "POST"])
@requires(Action.DETECT)
def start(request: AuthedRequest, profile_id: int) -> HttpResponse:
    """Show the cost of an exam of this model, or start one."""
    chosen = {"suite": request.GET.get("suite", "quick")}
    form = ExamForm(request.POST if request.method == "POST" else None, initial=chosen, profile=profile_id)
    if request.method == "POST" and form.is_valid():
        try:
            return redirect("exam", _opened(form.cleaned_data, profile_id, request.user.pk))
        except (Busy, ConfigError, NotFound) as error:
            messages.error(request, str(error))
    rows = profiles.listed([profile_id])
    if not rows:
        raise Http404
    found = {"form": form, "model": rows[0], "costs": _costs(profile_id, form.offered)}
    return render(request, START, found | {"runs": exam_reports.listed(profile_id, 20)})


def _offered() -> list[tuple[str, str, int]]:
    """Return the exams that can be run: name, title, number of cases."""
    own = [(exam.name, exam.name, exam.cases) for exam in team_exams.listed() if exam.cases]
    return [*((name, title, len(SUITES[name].cases)) for name, title in CHOICES), *own]


def _costs(profile: int, offered: list[tuple[str, str, int]]) -> list[tuple[str, exam_reports.ExamCost]]:
    costs = exam_reports.costs(profile, [number for _, _, number in offered])
    return [(title, cost) for (_, title, _), cost in zip(offered, costs, strict=True)]


def _opened(chosen: dict[str, Any], profile_id: int, actor: int) -> int:
    """Queue a run and wake the worker of this process."""
    suite = SUITES.get(chosen["suite"]) or team_exams.suite(chosen["suite"])
    run = exam_runs.open_run(
        ExamRequest(profile_id, suite, chosen["formats"], "page", actor, swap_from=chosen["swap_from"])
    )
    background_jobs.current().examiner.look()
    return run


@require_GET
@requires(Action.SEE_MODELS)
def shown(request: AuthedRequest, exam_id: int) -> HttpResponse:
    """Show a run: its progress, or its verdict with every case."""
    return _shown(request, exam_id)


@require_POST
@requires(Action.DETECT)
def cancel(request: AuthedRequest, exam_id: int) -> HttpResponse:
    """Cancel a run; its graded cases stay."""
    exam_runs.cancel(exam_id)
    return _shown(request, exam_id)


@require_GET
@requires(Action.SEE_MODELS)
def case(request: AuthedRequest, exam_id: int, case_id: str) -> HttpResponse:
    """Show one case: the request, the expected calls, and the result of each trial."""
    body, run = exam_reports.body(exam_id, case_id), exam_reports.shown(exam_id)
    made = [
        {
            "trial": trial,
            "why": exam_report.sentence(trial.code, trial.facts),
            "left_out": exam_reports.left_out_of_trial(run, trial),
        }
        for trial in exam_reports.trials(exam_id, case_id)
    ]
    return render(request, CASE, {"run": run, "case": body, "group": GROUPS[body.group], "trials": made})


@require_GET
@requires(Action.SEE_MODELS)
def result(request: AuthedRequest, exam_id: int, ending: str) -> HttpResponse:
    """Download the result as JSON, CSV or JUnit XML."""
    if ending not in WRITERS:
        raise Http404
    kind, write = WRITERS[ending]
    answer = HttpResponse(write(exam_reports.to_json(exam_id)), content_type=kind)
    answer.headers["Content-Disposition"] = f'attachment; filename="exam-{exam_id}.{ending}"'
    return answer


WRITERS: dict[str, tuple[str, Any]] = {
    "json": ("application/json", lambda found: json.dumps(found, ensure_ascii=False, indent=2)),
    "csv": ("text/csv; charset=utf-8", exam_report.as_csv),
    "xml": ("application/xml", junit.written),
}


def _shown(request: AuthedRequest, exam_id: int) -> HttpResponse:
    run = exam_reports.shown(exam_id)
    found = {"run": run, "may_run": Action.DETECT in request.actions, "right": exam_reports.right_so_far(exam_id)}
    if not run.open:
        found |= exam_next_steps.shown(None if run.older or not run.verdict else next_steps.of_run(exam_id), request)
        found |= {"parts": exam_report.parts(run.detail), "groups": exam_report.group_rows(run.detail)}
        left_out = exam_reports.left_out(run)
        found |= {"left_out": left_out.sentences}
        # Failed cases come first.
        found |= {
            "cases": sorted(
                exam_reports.cases(exam_id, left_out.by_case),
                key=lambda case: (True, None, False).index(case.right),
                reverse=True,
            )
        }
    return render(request, f"{PAGE}#live" if wants_part(request) else PAGE, found)
