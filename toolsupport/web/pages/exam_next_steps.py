"""The box “Next steps” after an exam that was not passed, and the view that changes the settings of the model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from toolsupport.core.errors import ConfigError
from toolsupport.registry.exams import exam_next_steps
from toolsupport.registry.exams.exam_next_steps import ExamSteps, NextStep
from toolsupport.registry.people.permissions import Action
from toolsupport.web.view_permissions import AuthedRequest, requires

Fields = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class StepButton:
    """A step with its button: a form if it has `fields`, otherwise a link. `url` is "" if this person may not do it."""

    code: str
    text: str
    label: str
    url: str
    fields: Fields = ()


# Step → its permission, the label of its button, its page, its fields.
Rule = tuple[Action, str, Callable[[ExamSteps], str], Callable[[ExamSteps, NextStep], Fields]]


def _server(found: ExamSteps) -> str:
    return reverse("server", args=[found.server])


def _exam(found: ExamSteps) -> str:
    return reverse("model-validate", args=[found.profile])


def _settings(found: ExamSteps) -> str:
    return reverse("exam-step", args=[found.run])


def _in_formats(found: ExamSteps, step: NextStep) -> Fields:
    return (("suite", found.suite), *(("formats", name) for name in step.formats))


def _code(found: ExamSteps, step: NextStep) -> Fields:
    return (("step", step.code),)


OPEN_SERVER: Rule = (Action.ADMINISTER, "Open server", _server, lambda found, step: ())
RULES: Mapping[str, Rule] = MappingProxyType(
    {
        **dict.fromkeys(["check_server", "update_for_tools", "update_for_capabilities", "set_flag"], OPEN_SERVER),
        "other_format": (Action.DETECT, "Run in these formats", _exam, _in_formats),
        "native_format": (Action.DETECT, "Run with native calls", _exam, _in_formats),
        "pull_again": (
            Action.ADMINISTER,
            "Pull model",
            lambda found: reverse("server-upkeep-act", args=[found.server]),
            lambda found, step: (("deed", "pull"), ("name", found.model)),
        ),
        "raise_context": (Action.ADMINISTER, "Raise context", _settings, _code),
        "minimal_context": (Action.ADMINISTER, "Use short prompt", _settings, _code),
        "test_again": (
            Action.DETECT,
            "Test the model",
            lambda found: reverse("model-detect", args=[found.profile]),
            lambda found, step: (("kind", "tools"),),
        ),
    }
)


def shown(found: ExamSteps | None, request: AuthedRequest) -> dict[str, Any]:
    """Return the steps with the buttons that this person may press, and their run."""
    if found is None:
        return {}
    return {"next_steps": [_button(found, step, request) for step in found.steps], "failed_run": found}


def _button(found: ExamSteps, step: NextStep, request: AuthedRequest) -> StepButton:
    action, label, page, fields = RULES[step.code]
    allowed = action in request.actions
    return StepButton(step.code, step.text, label, page(found) if allowed else "", fields(found, step))


@require_POST
@requires(Action.ADMINISTER)
def take(request: AuthedRequest, exam_id: int) -> HttpResponse:
    """Raise the context of the model, or let its requests with tools use the short prompt."""
    try:
        messages.success(request, exam_next_steps.take(exam_id, request.POST.get("step", "")))
    except ConfigError as error:
        messages.error(request, str(error))
    return redirect("exam", exam_id)
