"""Views of images in a conversation: upload from the message field, display beside the message."""

from __future__ import annotations

from pathlib import PurePosixPath
from uuid import UUID

from django.core.files.uploadedfile import UploadedFile
from django.http import HttpResponse, JsonResponse
from django.views.decorators.http import require_GET, require_POST

from chat.tools.files import image_sizes
from chat.tools.files.image_types import HEAD, LARGEST, kind_of, read_picture
from chat.tools.files.workspace import MIB, Workspace
from chat.transcript.conversations import pending_files, raw_request
from chat.transcript.conversations.conversations import demand_row, workspace_of
from chat.transcript.messages.mcp_result_parts import pictures
from chat.transcript.settings import turn_settings
from toolsupport.core.errors import NotFound, ToolError
from toolsupport.registry.people.permissions import Action
from toolsupport.web.view_permissions import AuthedRequest, requires

ENDINGS = {"image/png": "png", "image/jpeg": "jpg", "image/gif": "gif", "image/webp": "webp"}
# The browser gets the media type of the bytes; if it assumed another type, it could do nothing with it.
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Cache-Control": "private, max-age=3600",
}


@require_POST
@requires(Action.CHAT)
def add(request: AuthedRequest, conversation_id: UUID) -> HttpResponse:
    """Save an image among the conversation's files; return its path, or an error for people."""
    workspace, given = workspace_of(request.user, str(conversation_id)), request.FILES.get("image")
    try:
        path = _kept(workspace, given)
    except (ToolError, NotFound) as error:
        return JsonResponse({"error": str(error)}, status=422)
    demand_row(str(conversation_id))  # its deletion may have ended before the file was written
    if "pending" in request.POST:
        pending_files.keep(request.user, str(conversation_id), [path])
    return JsonResponse({"path": path})


@require_GET
@requires(Action.CHAT)
def shown(request: AuthedRequest, conversation_id: UUID) -> HttpResponse:
    """Return one image with the media type of its bytes."""
    data, kind = read_picture(workspace_of(request.user, str(conversation_id)), request.GET.get("path", ""))
    return HttpResponse(data, content_type=kind, headers=HEADERS)


@require_GET
@requires(Action.CHAT)
def of_call(request: AuthedRequest, run_id: int) -> HttpResponse:
    """Return an image of an external tool, if the result of this call names it."""
    conversation, result = raw_request.result(request.user, run_id)
    path = request.GET.get("path", "")
    if path not in pictures(result):
        raise NotFound("This image does not exist.")
    data, kind = read_picture(turn_settings.workspace(conversation), path)
    return HttpResponse(data, content_type=kind, headers=HEADERS)


def _kept(workspace: Workspace, given: UploadedFile[bytes] | None) -> str:
    if given is None:
        raise ToolError("Choose an image.")
    kind = kind_of(given.read(HEAD))
    given.seek(0)
    if not kind:
        raise ToolError(f"{given.name} is not an image: PNG, JPEG, GIF and WebP can be attached.")
    if (given.size or 0) > LARGEST:
        raise ToolError(f"{given.name} is too large: an image can have up to {LARGEST // MIB} MiB.")
    if problem := image_sizes.problem(given.read(), kind):
        raise ToolError(f"{given.name} cannot be attached. {problem}")
    given.seek(0)
    stem = PurePosixPath(given.name or "").stem or "image"
    return workspace.write(f"images/{stem}.{ENDINGS[kind]}", given.chunks(), replace=False)
