"""Template context of the pages of one model."""

from __future__ import annotations

from typing import Any

from toolsupport.detection import KINDS
from toolsupport.detection.probe_run import longest
from toolsupport.registry.history import model_timeline
from toolsupport.registry.models import capability_details, capability_evidence
from toolsupport.registry.models.profiles import ModelPage
from toolsupport.registry.people.permissions import Action
from toolsupport.registry.testing import detection_reports
from toolsupport.web.pages.model_options_form import OptionsForm
from toolsupport.web.view_permissions import AuthedRequest

# The name of each kind of test.
TITLES = {
    "tools": "Test",
    "formats": "Test text formats",
    "per_tool": "Test file tools",
}


def head(page: ModelPage, request: AuthedRequest) -> dict[str, Any]:
    """Return the head of every tab: the verdict, its trials, and the actions of this person."""
    allowed, thinks = request.actions, page.known["thinking"].value is True
    trials = capability_evidence.tried(
        {page.model.evidence.test, *(one.test or 0 for one in page.known.values.values())}
    )
    took = page.model.evidence.took_ms
    return {
        "page": page,
        "tried": trials,
        "trials": capability_evidence.about_calls(page.model.evidence, page.known["format"].value, trials),
        "kinds": [(kind, TITLES[kind], round(longest(kind, thinks))) for kind in KINDS],
        "last_seconds": max(1, round(took / 1000)) if took else 0,
        "changed": len(OptionsForm.of(page).changed()),
        "may_chat": Action.CHAT in allowed,
        "may_detect": Action.DETECT in allowed,
        "may_undo": Action.DECIDE_FOR_ALL in allowed,
        "may_administer": Action.ADMINISTER in allowed,
        "may_decide": Action.DECIDE_FOR_ALL in allowed,
        "may_propose": Action.DECIDE_FOR_CHAT in allowed,
    }


def capabilities(page: ModelPage, request: AuthedRequest) -> dict[str, Any]:
    """Return the tab of capabilities: each with its sources and trials, the tests that run, and the timeline."""
    found = head(page, request)
    details = capability_details.decidable(page.profile, page.claims)
    rows = [_row(page, cell, details, found["tried"]) for cell in page.cells]
    native = details.get("tools")
    timeline = model_timeline.of_model(page.model.id, page.claims)
    last = page.tests.last
    waiting = any(one.waiting for one in details.values())
    return found | {
        "chain": capability_evidence.with_test(
            native.chain if native else capability_evidence.links(()),
            capability_evidence.of_verdict("tools", page.model.evidence),
        ),
        "native": next(cell for cell in page.cells if cell.capability == "tools"),
        "rows": [row for row in rows if row["measured"]],
        "unmeasured": [row for row in rows if not row["measured"]],
        "timeline": timeline,
        "needs_review": waiting or timeline.flagged,
        "open_tests": [detection_reports.of_model_row(row, page.profile) for row in page.tests.open],
        "later": {"id": last.pk, "later": True} if last and last.remaining else None,
        "ended": last if last and last.status in ("cancelled", "interrupted", "failed") else None,
    }


def _row(page: ModelPage, cell: Any, details: dict[str, Any], trials: list[Any]) -> dict[str, Any]:
    known, value = details.get(cell.capability), page.known[cell.capability]
    test = value.test or page.model.evidence.test
    own = capability_evidence.about(cell.capability, value.value, [one for one in trials if one.test == test])
    return {
        "cell": cell,
        "known": known,
        "actor": value.actor if value.source == "user_confirmed" else "",
        "trials": own,
        "passed": sum(trial.passed is True for trial in own),
        "measured": cell.state != "unknown" or bool(known and (known.decided or known.waiting)),
    }
