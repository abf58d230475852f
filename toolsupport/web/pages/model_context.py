"""Template context of the sections of a model's page."""

from __future__ import annotations

from typing import Any

from toolsupport.registry.knowledge import reviews
from toolsupport.registry.models import capability_details, capability_evidence
from toolsupport.registry.models.profiles import ModelPage
from toolsupport.registry.people.permissions import Action
from toolsupport.web.pages.capability_form import choices
from toolsupport.web.view_permissions import AuthedRequest


def known(request: AuthedRequest, page: ModelPage) -> dict[str, Any]:
    """Return each capability with its choices, and this person's permissions on it."""
    allowed = request.actions
    decidable = capability_details.decidable(page.profile)
    return {
        "chain": decidable["tools"].chain if "tools" in decidable else capability_evidence.links(()),
        "trials": capability_evidence.trials(page.model.evidence.test),
        "rows": [
            {"cell": cell, "known": decidable.get(cell.capability), "choices": choices(cell.capability)}
            for cell in page.cells
        ],
        "needs_review": page.model.id in reviews.needing([page.model.id]),
        "may_decide": Action.DECIDE_FOR_ALL in allowed,
        "may_propose": Action.DECIDE_FOR_CHAT in allowed,
    }
