"""Recognises htmx requests."""

from __future__ import annotations

from toolsupport.web.view_permissions import AuthedRequest


def wants_part(request: AuthedRequest) -> bool:
    """Return True if only a part of the page is swapped; a history restore needs the whole page."""
    return bool(request.htmx) and not request.htmx.boosted and not request.htmx.history_restore_request
