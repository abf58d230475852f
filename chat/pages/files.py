"""Views of the file panel of a conversation: list, upload, download, delete."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from uuid import UUID

from django.conf import settings
from django.core.exceptions import SuspiciousOperation
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpResponse, JsonResponse, StreamingHttpResponse
from django.http.multipartparser import MultiPartParserError
from django.shortcuts import render
from django.utils.http import content_disposition_header
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from chat.tools.files.text_decoding import size_in_words
from chat.tools.files.workspace import MIB, Workspace, WorkspaceEntry
from chat.transcript.conversations import pending_files
from chat.transcript.conversations.conversations import demand_row, workspace_of
from toolsupport.core.errors import NotFound, ToolError
from toolsupport.registry.people.permissions import Action
from toolsupport.web.file_stream import FileStream
from toolsupport.web.view_permissions import AuthedRequest, requires

LISTED = 500
# Bytes that the form's other fields and boundaries may add to the files.
FORM_BYTES = MIB
# Digits of a length: no file has a longer one.
LONGEST_LENGTH = 15

# Any file is saved and never shown, and if a browser did show it, it could do nothing.
DOWNLOAD_HEADERS = {
    "Content-Type": "application/octet-stream",
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Cache-Control": "private, no-store",
}


@dataclass(frozen=True, slots=True)
class StatusLine:
    """A line above the list; `tone` is ok, ask or off. `path` is the stored file."""

    tone: str
    text: str
    path: str = ""


@dataclass(frozen=True, slots=True)
class FileRow:
    """A line of the list; `size` is formatted."""

    entry: WorkspaceEntry
    size: str


# Django's own check reads the whole body before a view can reject its size: here the size is checked first, and
# `_upload` does the CSRF check later.
@csrf_exempt
@require_http_methods(["GET", "HEAD", "POST"])
@requires(Action.CHAT)
def files(request: AuthedRequest, conversation_id: UUID) -> HttpResponse:
    """Show the panel; with POST, after an upload."""
    workspace = workspace_of(request.user, str(conversation_id))
    if request.method != "POST":
        return _panel(request, workspace)
    too_large = _too_large(request, workspace)
    if too_large:
        return _panel(request, workspace, [StatusLine("off", too_large)], status=413)
    try:
        return _upload(request, workspace)
    except (SuspiciousOperation, MultiPartParserError):
        most = settings.DATA_UPLOAD_MAX_NUMBER_FILES
        lines = StatusLine("off", f"The upload could not be read. Send up to {most} files.")
        return _panel(request, workspace, [lines], status=422)


@require_POST
@requires(Action.CHAT)
def delete(request: AuthedRequest, conversation_id: UUID) -> HttpResponse:
    """Show the panel after deleting a file, or a directory with its contents."""
    workspace, path_ = workspace_of(request.user, str(conversation_id)), request.POST.get("path", "")
    try:
        workspace.delete(path_)
        pending_files.forget(request.user, str(conversation_id), [path_])
    except NotFound:
        return _panel(request, workspace, [StatusLine("ask", f"{path_} was already deleted.")])
    except ToolError as error:
        return _panel(request, workspace, [StatusLine("off", str(error))], status=422)
    return _panel(request, workspace, [StatusLine("ok", f"Deleted {path_}.")])


@require_safe
@requires(Action.CHAT)
def download(request: AuthedRequest, conversation_id: UUID) -> StreamingHttpResponse:
    """Return one file, always as a download."""
    workspace, path_ = workspace_of(request.user, str(conversation_id)), request.GET.get("path", "")
    try:
        file = workspace.open(path_)
    except ToolError as error:
        raise NotFound(str(error)) from error
    size = os.fstat(file.fileno()).st_size
    name = path_.rstrip("/").rpartition("/")[2]
    headers = {"Content-Length": str(size), "Content-Disposition": content_disposition_header(True, name)}
    return StreamingHttpResponse(FileStream(file, size), headers=DOWNLOAD_HEADERS | headers)


@csrf_protect
def _upload(request: AuthedRequest, workspace: Workspace) -> HttpResponse:
    given = request.FILES.getlist("files")
    replaces = "replace" in request.POST
    lines = _stored(workspace, given, replace=replaces)
    demand_row(workspace.root.name)  # its deletion may have ended before the last file was written
    if "pending" in request.POST:
        pending_files.keep(request.user, workspace.root.name, [line.path for line in lines if line.path], replaces)
    failed = not given or any(line.tone == "off" for line in lines)
    return _panel(
        request, workspace, lines or [StatusLine("ask", "Choose at least one file.")], status=422 if failed else 200
    )


def _stored(workspace: Workspace, given: Iterable[UploadedFile[bytes]], *, replace: bool) -> list[StatusLine]:
    lines = []
    for upload in given:
        name = upload.name or ""
        try:
            got = workspace.write(name, upload.chunks(), replace=replace)
        except (ToolError, NotFound) as error:
            lines.append(StatusLine("off", f"{name} was not uploaded. {error}"))
            continue
        lines.append(StatusLine("ok", f"Uploaded {got}.", got) if got == name else _renamed(name, got))
    return lines


def _renamed(name: str, got: str) -> StatusLine:
    return StatusLine("ask", f"{name} already exists, so the new file is called {got}.", got)


def _too_large(request: AuthedRequest, workspace: Workspace) -> str:
    """Return why a body is not read, or ""; a body without a length is not read either."""
    length = request.META.get("CONTENT_LENGTH") or ""
    if not length.isdecimal() or len(length) > LONGEST_LENGTH:
        return "The upload has no size, so it was not read."
    if int(length) > workspace.quota + FORM_BYTES:
        quota = size_in_words(workspace.quota)
        return f"The upload has {size_in_words(int(length))}. All files together can have {quota}."
    return ""


def _panel(
    request: AuthedRequest, workspace: Workspace, lines: Iterable[StatusLine] = (), *, status: int = 200
) -> HttpResponse:
    lines = list(lines)
    if request.headers.get("Accept") == "application/json":
        return JsonResponse({"lines": [asdict(line) for line in lines]}, status=status)
    listing = workspace.entries(recursive=True, limit=LISTED)
    try:
        used = workspace.usage().size
    except ToolError as error:
        used, lines = workspace.quota, [*lines, StatusLine("off", str(error))]
    context = {
        "conversation_id": workspace.root.name,
        "rows": [FileRow(entry, size_in_words(entry.size)) for entry in listing.entries],
        "more": listing.more,
        "listed": LISTED,
        "used": used,
        "quota": workspace.quota,
        "used_in_words": size_in_words(used),
        "quota_in_words": size_in_words(workspace.quota),
        "notice": lines,
    }
    return render(request, "chat/files.html", context, status=status)
