"""Answering a question by a form: for the history, and for a page without its socket."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_POST

from chat import runner
from chat.transcript import questions
from toolsupport.access import Action, requires
from toolsupport.core.errors import Conflict

ARGUMENT = "argument."


@require_POST
@requires(Action.DECIDE_FOR_CHAT)
def answer(request: HttpRequest, question_id: int) -> HttpResponse:
    """Answer, and say in words what came of it."""
    try:
        closed = questions.answer(request.user, question_id, _given(request))
    except (Conflict, ValueError) as error:
        return HttpResponse(str(error))
    runner.current().nudge(closed)
    return HttpResponse("Denied." if closed.answer == "deny" else "Allowed.")


def _given(request: HttpRequest) -> questions.Answer:
    """Browsers send line ends as CR LF, whatever the text had."""
    fields = {
        name.removeprefix(ARGUMENT): str(value) for name, value in request.POST.items() if name.startswith(ARGUMENT)
    }
    edited = {name: value.replace("\r\n", "\n") for name, value in fields.items()}
    return questions.Answer(request.POST.get("answer", ""), edited)
