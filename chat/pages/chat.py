"""Views of the chat page and its parts."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.views.decorators.http import require_GET, require_POST

from chat.pages import conversation_list
from chat.transcript.conversations import conversations, listing, pending_files, raw_request
from chat.transcript.conversations.conversations import FormSettings
from chat.transcript.messages import formatted
from chat.transcript.messages.view_models import ShownConversation
from chat.transcript.messages.windows import MessageWindow
from chat.transcript.questions import unknown_model
from chat.turns import runner
from toolsupport.core import spreadsheet
from toolsupport.core.evidence_state import UNPROVEN
from toolsupport.registry.models import picker as model_picker
from toolsupport.registry.people.permissions import Action
from toolsupport.registry.servers import servers
from toolsupport.registry.testing import detections
from toolsupport.web.view_permissions import AuthedRequest, actions_of, public, requires

PAGE = "chat/conversation.html"


@require_GET
@public
def home(request: HttpRequest) -> HttpResponse:
    """Redirect to the latest chat, a new one, an admin's first visit, or the models for people who may not chat."""
    if not request.user.is_authenticated:
        return redirect("login")
    allowed = actions_of(request)
    if Action.CHAT not in allowed:
        return redirect("models")
    latest = conversations.latest(request.user)
    if not latest and Action.ADMINISTER in allowed and not detections.any_finished():
        return redirect("start")
    return redirect("conversation", latest or conversations.create(request.user))


@require_GET
@public
def newest(request: HttpRequest) -> HttpResponse:
    """Redirect to the newest chat, as `/` does for people who may chat."""
    return redirect("chat")


@require_POST
@requires(Action.CHAT)
def new(request: AuthedRequest) -> HttpResponse:
    """Redirect to a new chat, perhaps with a `model`; with `reuse`, which pages send, to an empty one."""
    who, wanted = request.user, request.POST.get("model", "")
    profile = model_picker.find(wanted) if wanted else None
    here = conversations.empty(who) if request.POST.get("reuse") == "1" else None
    here = here or conversations.create(who, profile)
    if profile is not None:
        chosen = conversations.select_model(who, here, str(profile))
        runner.current().announce_soon(here, (*chosen, *unknown_model.ask(who, here)))
    return redirect("conversation", here)


@require_GET
@requires(Action.CHAT)
def conversation(request: AuthedRequest, conversation_id: UUID) -> HttpResponse:
    """Show the chat page."""
    page = listing.page(request.user)
    listed = {"page": page, "groups": conversation_list.groups(request, page)}
    shown = _with_html(request, conversation_id)
    context = {"conversation": shown, "pending": pending_files.shown(shown.id, shown.pending)} | listed
    context["untested"] = _untested(request, shown)
    return render(request, PAGE, context)


def _untested(request: AuthedRequest, shown: ShownConversation) -> bool:
    """Return whether no model was ever tested, for people who may test. Reads no row if this model has a proof."""
    claimed = shown.model is not None and shown.model.evidence.state in (*UNPROVEN, "queued")
    return claimed and Action.DETECT in request.actions and not detections.any_finished()


@require_GET
@requires(Action.CHAT)
def messages(request: AuthedRequest, conversation_id: UUID) -> HttpResponse:
    """Return the current transcript, for a page that missed something."""
    return render(request, "chat/transcript.html", {"conversation": _with_html(request, conversation_id)})


def _with_html(request: AuthedRequest, conversation_id: UUID) -> ShownConversation:
    window = MessageWindow(_id(request, "since"), _id(request, "until"))
    return formatted.complete(request.user.pk, conversations.show(request.user, str(conversation_id), window))


def _id(request: AuthedRequest, name: str) -> int:
    """Return the number of a message in the address; 0 without one."""
    value = request.GET.get(name, "")
    return int(value) if value.isdecimal() and len(value) < 19 else 0


@require_GET
@requires(Action.CHAT)
def wire(request: AuthedRequest, conversation_id: UUID, message_id: int) -> HttpResponse:
    """Show the raw exchange of one answer."""
    shown = raw_request.of(request.user, str(conversation_id), message_id)
    return render(request, "chat/wire.html", {"wire": shown})


@require_GET
@requires(Action.CHAT)
def text(request: AuthedRequest, conversation_id: UUID, message_id: int) -> HttpResponse:
    """Return a message as the Markdown that its model wrote."""
    written, _ = conversations.text_of(request.user, str(conversation_id), message_id)
    headers = {"X-Content-Type-Options": "nosniff"}
    return HttpResponse(written, content_type="text/plain; charset=utf-8", headers=headers)


@require_GET
@requires(Action.CHAT)
def table(request: AuthedRequest, run_id: int) -> HttpResponse:
    """Return the complete table of a call as a download."""
    headers = {"Content-Disposition": f'attachment; filename="table-{run_id}.csv"', "X-Content-Type-Options": "nosniff"}
    text = spreadsheet.safe(raw_request.table(request.user, run_id))
    return HttpResponse(text, content_type="text/csv; charset=utf-8", headers=headers)


@require_GET
@requires(Action.CHAT)
def picker(request: AuthedRequest, conversation_id: UUID) -> HttpResponse:
    """Return the button of the model picker, after a swap or to refresh it."""
    model = conversations.model_of(request.user, str(conversation_id))
    return render(request, "chat/picker.html", {"conversation": {"id": conversation_id, "model": model}})


@require_GET
@requires(Action.CHAT)
def models(request: AuthedRequest, conversation_id: UUID) -> HttpResponse:
    """Return the rows of the model picker, which are fetched when it is opened."""
    context = {
        "chosen": conversations.chosen(request.user, str(conversation_id)),
        "choices": conversations.choices(request.user, simulated=request.GET.get("simulated") == "1"),
        "down": servers.down(),
    }
    return HttpResponse(render_to_string("chat/models.html", context))


@require_POST
@requires(Action.CHAT)
def settings(request: AuthedRequest, conversation_id: UUID) -> HttpResponse:
    """Store the conversation's own system prompt, temperature and call format."""
    sent = {name: request.POST.get(name, "") for name in ("system", "temperature", "format")}
    context = sent | {"saved": True}
    try:
        conversations.save_settings(request.user, str(conversation_id), FormSettings(**sent))
    except ValueError as error:
        context |= {"saved": False, "error": str(error)}
    shown = conversations.show(request.user, str(conversation_id))
    return render(request, "chat/settings.html", {"conversation": shown} | context)
