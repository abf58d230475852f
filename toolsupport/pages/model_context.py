"""What the parts of a model's page need to show what is known of it."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest

from toolsupport.access import Action, actions
from toolsupport.pages.capability_form import choices
from toolsupport.registry import model_claims, reviews
from toolsupport.registry.profiles import Page


def known(request: HttpRequest, page: Page) -> dict[str, Any]:
    """Each capability with what can be chosen for it, and what this person may do about it."""
    allowed = actions(request.user)
    decidable = model_claims.decidable(page.profile)
    return {
        "rows": [
            {"cell": cell, "known": decidable.get(cell.capability), "choices": choices(cell.capability)}
            for cell in page.cells
        ],
        "needs_review": page.model.id in reviews.needing([page.model.id]),
        "may_decide": Action.DECIDE_FOR_ALL in allowed,
        "may_propose": Action.DECIDE_FOR_CHAT in allowed,
    }
