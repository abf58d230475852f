"""Views that answer a question by a form, and revoke permissions given by answers."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET, require_POST

from chat.transcript.questions import questions, tools_remedy
from chat.turns import runner
from toolsupport.core.errors import Busy, ConfigError, Conflict
from toolsupport.core.tools_remedy import TEST
from toolsupport.registry.people.permissions import Action
from toolsupport.web.view_permissions import AuthedRequest, requires

ARGUMENT = "argument."
# Answer → the sentence that confirms it.
ANSWERED = {
    "deny": "Denied.",
    "auto": "The test has started.",
    "yes": "Saved.",
    "no": "Saved.",
    "none": "Tools stay off.",
    "save": "Saved for everyone.",
    "session": "Saved for this chat.",
    "text": "This chat uses text mode from now on.",
}


@require_POST
@requires(Action.DECIDE_FOR_CHAT)
def answer(request: AuthedRequest, question_id: int) -> HttpResponse:
    """Answer a question and describe the result."""
    try:
        closed = questions.answer(request.user, question_id, _given(request))
    except (Busy, ConfigError, Conflict, ValueError) as error:
        return HttpResponse(str(error))
    runner.current().nudge(closed)
    proposed = closed.answer == "save" and Action.DECIDE_FOR_ALL not in request.actions
    return HttpResponse("Proposed for everyone." if proposed else ANSWERED.get(closed.answer, "Allowed."))


@require_GET
@requires(Action.CHAT)
def asks(request: AuthedRequest, conversation_id: UUID) -> HttpResponse:
    """Show the area above the composer: a question about the model, its running tests, or a click for tools."""
    return _asks(request, str(conversation_id))


@require_POST
@requires(Action.DECIDE_FOR_CHAT)
def remedy(request: AuthedRequest, conversation_id: UUID) -> HttpResponse:
    """Test the model of a conversation without tools, or turn its tools on again."""
    here, act = str(conversation_id), request.POST.get("do", "")
    try:
        notice = tools_remedy.apply(request.user, here, act)
    except (Busy, ConfigError, ValueError) as error:
        return render(request, "chat/asks.html", {"wrong": str(error)})
    if notice is not None:
        runner.current().announce_soon(here, [notice])
    answer = _asks(request, here)
    if act != TEST:
        # The switch and the badge of the model are elsewhere on the page.
        answer.headers["HX-Refresh"] = "true"
    return answer


@require_GET
@requires(Action.CHAT)
def grants(request: AuthedRequest, conversation_id: UUID) -> HttpResponse:
    """List the tools that run without asking in a conversation."""
    return _grants(request, str(conversation_id))


@require_POST
@requires(Action.DECIDE_FOR_CHAT)
def revoke(request: AuthedRequest, conversation_id: UUID) -> HttpResponse:
    """Ask for a tool again from now on."""
    here, tool, path = str(conversation_id), request.POST.get("tool", ""), request.POST.get("path", "")
    taken = questions.revoke(request.user, here, tool, path)
    named = f"{tool} for {path}" if path else tool
    return _grants(
        request, here, f"{named} asks every time from now on." if taken else "This tool already asks every time."
    )


def _asks(request: AuthedRequest, here: str) -> HttpResponse:
    shown = tools_remedy.asks(request.user, here)
    context: dict[str, object] = {"question": shown.question, "tests": shown.tests, "offered": shown.offered}
    context |= {"may_detect": True, "here": here}
    return render(request, "chat/asks.html", context)


def _grants(request: AuthedRequest, here: str, notice: str = "") -> HttpResponse:
    context = {"conversation": {"id": here}, "grants": questions.grants(request.user, here), "notice": notice}
    return render(request, "chat/grants.html", context)


def _given(request: AuthedRequest) -> questions.SubmittedAnswer:
    """Return the answer. Browsers without scripts send each end of a line as CR LF, others as LF."""
    fields = {
        name.removeprefix(ARGUMENT): str(value) for name, value in request.POST.items() if name.startswith(ARGUMENT)
    }
    edited = {name: value.replace("\r\n", "\n") for name, value in fields.items()}
    reply = request.POST.get("reply", "")
    return questions.SubmittedAnswer(request.POST.get("answer", ""), edited, reply, typed=True)
