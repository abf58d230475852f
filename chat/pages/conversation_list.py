"""Views of the conversation list: search, pin, rename, archive, delete, export."""

from __future__ import annotations

from dataclasses import asdict
from uuid import UUID

from django.http import HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.http import content_disposition_header
from django.utils.text import slugify
from django.views.decorators.http import require_GET, require_POST
from django_htmx.http import HttpResponseClientRedirect

from chat.broadcast.frames import DeletedFrame
from chat.pages import export_writers
from chat.transcript.conversations import listing
from chat.transcript.conversations.day_groups import PINNED, Calendar, DayGroup, grouped
from chat.transcript.conversations.export import ExportedConversation, export
from chat.transcript.conversations.listing import ConversationPage, ListedConversation, PagePlace
from chat.turns import runner
from toolsupport.core.errors import Busy
from toolsupport.registry.people.permissions import Action
from toolsupport.web import reader_zone
from toolsupport.web.view_permissions import AuthedRequest, requires

LIST = "chat/sidebar.html"


@require_GET
@requires(Action.CHAT)
def listed(request: AuthedRequest) -> HttpResponse:
    """Return the list, the search results, or their next page."""
    wanted, archived = request.GET.get("q", "").strip(), request.GET.get("archived") == "1"
    after = request.GET.get("after", "")
    page = listing.search(request.user, wanted, archived) if wanted else listing.page(request.user, archived, after)
    found = (DayGroup("", page.rows),) if wanted and page.rows else groups(request, page, after)
    context = {"page": page, "groups": found, "wanted": wanted, "archived": archived, "conversation": _here(request)}
    return render(request, f"{LIST}#{'rows' if after else 'list'}", context)


@require_GET
@requires(Action.CHAT)
def unfinished(request: AuthedRequest) -> HttpResponse:
    """Return the person's answers that run, wait, or ended recently; every page polls them."""
    return JsonResponse({"answers": [asdict(answer) for answer in listing.answers(request.user)]})


@require_GET
@requires(Action.CHAT)
def actions(request: AuthedRequest, conversation_id: UUID) -> HttpResponse:
    """Return the menu of a conversation."""
    return render(request, f"{LIST}#actions", {"listed": listing.one(request.user, str(conversation_id))})


@require_POST
@requires(Action.CHAT)
def rename(request: AuthedRequest, conversation_id: UUID) -> HttpResponse:
    """Rename a conversation."""
    row = listing.rename(request.user, str(conversation_id), request.POST.get("title", ""))
    return _shown(request, row) if request.htmx else redirect("conversation", conversation_id)


@require_POST
@requires(Action.CHAT)
def archive(request: AuthedRequest, conversation_id: UUID) -> HttpResponse:
    """Archive or restore a conversation: either way it leaves the shown list."""
    listing.archive(request.user, str(conversation_id), request.POST.get("on") == "1")
    return HttpResponse() if request.htmx else redirect("conversation", conversation_id)


@require_POST
@requires(Action.CHAT)
def pin(request: AuthedRequest, conversation_id: UUID) -> HttpResponse:
    """Pin or unpin a conversation, and return the list, where it has moved."""
    listing.pin(request.user, str(conversation_id), request.POST.get("on") == "1")
    if not request.htmx:
        return redirect("conversation", conversation_id)
    page = listing.page(request.user)
    context = {"page": page, "groups": groups(request, page), "conversation": _here(request)}
    return render(request, f"{LIST}#list", context)


@require_POST
@requires(Action.CHAT)
def delete(request: AuthedRequest, conversation_id: UUID) -> HttpResponse:
    """Delete a conversation with all its contents."""
    try:
        listing.delete(request.user, str(conversation_id))
    except Busy as error:
        row = listing.one(request.user, str(conversation_id))
        return render(request, f"{LIST}#row", {"listed": row, "conversation": _here(request), "error": str(error)})
    runner.current().tell_soon(str(conversation_id), DeletedFrame(str(conversation_id)))
    if not request.htmx:
        return redirect("chat")
    return HttpResponseClientRedirect("/") if _here(request)["id"] == str(conversation_id) else HttpResponse()


@require_GET
@requires(Action.CHAT)
def export_markdown(request: AuthedRequest, conversation_id: UUID) -> HttpResponse:
    """Return the shown branch as Markdown."""
    found = export(request.user, str(conversation_id), request.GET.get("thinking") == "1")
    return _attached(found, export_writers.markdown(found), "md")


@require_GET
@requires(Action.CHAT)
def export_json(request: AuthedRequest, conversation_id: UUID) -> HttpResponse:
    """Return every branch as JSON; `?raw=1` adds the stored raw exchanges."""
    wanted = (request.GET.get(name) == "1" for name in ("thinking", "raw"))
    found = export(request.user, str(conversation_id), *wanted)
    return _attached(found, export_writers.to_json(found), "json")


def groups(request: AuthedRequest, page: ConversationPage, after: str = "") -> tuple[DayGroup, ...]:
    """Return a page of the list by days, in the time zone that the browser has stored in a cookie."""
    calendar = Calendar(timezone.now(), reader_zone.of(request))
    place = PagePlace.of(after)
    before = PINNED if place and place.pinned else calendar.label(place.when) if place else ""
    return grouped(page.rows, calendar, before)


def _shown(request: AuthedRequest, row: ListedConversation) -> HttpResponse:
    """Return the updated row; the page of this conversation gets the new title too."""
    here = _here(request)
    return render(request, f"{LIST}#renamed", {"listed": row, "conversation": here, "is_here": here["id"] == row.id})


def _here(request: AuthedRequest) -> dict[str, str]:
    """Return the id of the conversation whose page sent the request; "" for other pages."""
    path = (request.htmx.current_url_abs_path or "").partition("?")[0].strip("/").split("/")
    return {"id": path[1] if len(path) == 2 and path[0] == "chat" else ""}


def _attached(found: ExportedConversation, text: str, kind: str) -> HttpResponse:
    """Return a download that no browser runs, whatever its content."""
    kinds = {"md": "text/markdown; charset=utf-8", "json": "application/json"}
    response = HttpResponse(text, content_type=kinds[kind])
    name = slugify(found.title, allow_unicode=True)[:60] or "conversation"
    response["Content-Disposition"] = content_disposition_header(True, f"{name}.{kind}") or "attachment"
    response["X-Content-Type-Options"] = "nosniff"
    response["Cache-Control"] = "private, no-store"
    return response
