"""What a request that htmx made wants back."""

from __future__ import annotations

from toolsupport.web.view_permissions import AuthedRequest


def wants_part(request: AuthedRequest) -> bool:
    """True where only a part of the page is swapped; going back in the history wants the whole page."""
    return bool(request.htmx) and not request.htmx.boosted and not request.htmx.history_restore_request
