"""Views of the backups of the site: made, downloaded and deleted by administrators."""

from __future__ import annotations

import asyncio
import os
from typing import Any

from channels.db import database_sync_to_async as in_database
from django import forms
from django.core.exceptions import ValidationError
from django.http import HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import content_disposition_header
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET, require_POST

from toolsupport.core.errors import Busy, ConfigError
from toolsupport.registry.people import audit_log, security_events, sign_in_limits
from toolsupport.registry.people.permissions import Action
from toolsupport.services.backups import kept_backups, making
from toolsupport.web.client_ip import address_of
from toolsupport.web.file_stream import FileStream
from toolsupport.web.pages.form_page import moved_on
from toolsupport.web.view_permissions import AuthedRequest, requires


class BackupPasswordForm(forms.Form):
    """The password of the administrator, as an archive has every key. People who sign in elsewhere have none."""

    password = forms.CharField(strip=False, required=False)

    def __init__(self, request: AuthedRequest) -> None:
        super().__init__(request.POST)
        self.user, self.address = request.user, address_of(request)

    def clean_password(self) -> str:
        user, given = self.user, str(self.cleaned_data["password"])
        if not user.has_usable_password():
            return given
        try:
            sign_in_limits.attempt_change(user.pk)
        except Busy as busy:
            security_events.record("password_limited", self.address, user.get_username())
            raise ValidationError(str(busy)) from busy
        if not user.check_password(given):
            security_events.record("password_wrong", self.address, user.get_username())
            raise ValidationError("The password is wrong.")
        sign_in_limits.change_succeeded(user.pk)
        return given


@require_GET
@requires(Action.ADMINISTER)
def shown(request: AuthedRequest) -> HttpResponse:
    """List the backups in the data directory."""
    return _page(request, {})


@require_POST
@requires(Action.ADMINISTER)
async def make(request: AuthedRequest) -> HttpResponse:
    """Make a backup now."""
    try:
        made = await asyncio.to_thread(kept_backups.make)
    except ConfigError as error:
        return await in_database(_page)(request, {"failed": str(error)}, 502)
    await in_database(audit_log.write)(request.user.pk, "make_backup", made.name, "Requested on the page Backups.")
    return await in_database(moved_on)(request, reverse("backup"), f"Made {made.name}.")


@sensitive_post_parameters()
@require_POST
@requires(Action.ADMINISTER)
def download(request: AuthedRequest, backup: str) -> HttpResponseBase:
    """Send an archive after the password was entered again."""
    form = BackupPasswordForm(request)  # before the file is opened: a broken body ends here
    file = kept_backups.opened(backup)
    if not form.is_valid():
        file.close()
        return _page(request, {"failed": form.errors["password"][0]}, 422)
    audit_log.write(request.user.pk, "download_backup", backup, "Downloaded with the password.")
    size = os.fstat(file.fileno()).st_size
    headers = {"Content-Length": str(size), "Content-Disposition": content_disposition_header(True, backup)}
    headers |= {"Cache-Control": "no-store"}
    return StreamingHttpResponse(FileStream(file, size), content_type="application/x-tar", headers=headers)


@require_POST
@requires(Action.ADMINISTER)
def delete(request: AuthedRequest, backup: str) -> HttpResponse:
    """Delete an archive."""
    kept_backups.delete(backup)
    audit_log.write(request.user.pk, "delete_backup", backup, "Requested on the page Backups.")
    return moved_on(request, reverse("backup"), f"Deleted {backup}.")


def _page(request: AuthedRequest, notice: dict[str, Any], status: int = 200) -> HttpResponse:
    context = {"backups": kept_backups.listed(), "last": making.last(), **notice}
    return render(
        request, "toolsupport/backups.html", context | {"asks": request.user.has_usable_password()}, status=status
    )
