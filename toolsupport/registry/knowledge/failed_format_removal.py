"""Removes text formats that failed in a test from the chats that use them, and stores it if none is left."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from dataclasses import replace
from typing import Any

from toolsupport.core import detection_step_results
from toolsupport.core.format_choice import label
from toolsupport.core.sentences import sentence
from toolsupport.core.verdicts import SHARE
from toolsupport.models import Detection, ModelProfile, Override, Trial
from toolsupport.registry.knowledge import overrides
from toolsupport.registry.knowledge.overrides import NewOverride


def settle(row: Detection, works: str) -> dict[str, Any]:
    """Remove the failed formats; return the sentence about it for the test's details.

    `works` is the format that was found instead, "" for none. A person's decision for everyone stays.
    """
    failed = [name for name in _failed(row.pk) if name != works]
    if not failed:
        return {}
    reason = sentence("formats_failed", formats=spoken(failed))
    made = NewOverride(row.profile_id, "format", False, "auto_detected", reason=reason, detection=row.pk)
    measured = _measured(made)
    in_chats = _leave_in_chats(made, failed)
    for_all = measured if measured in failed else ""
    if (for_all or in_chats or _all_tried(row)) and not works:
        overrides.measure(replace(made, actor=row.actor_id))
    return {"formats_failed": failed, "left": for_all, "left_somewhere": bool(for_all or in_chats)}


def _all_tried(row: Detection) -> bool:
    """Return whether the step of the formats came to its end, without one that works."""
    ended: dict[str, Any] = next((step for step in row.progress if step.get("step") == "formats"), {})
    return (ended.get("state"), ended.get("result")) == ("done", detection_step_results.FAILED)


def left(detection: int, conversation: str) -> str:
    """Return the format that was chosen in a chat until this test found that it fails; "" for none."""
    rows = Override.objects.filter(detection_id=detection, capability="format", session=conversation)
    return str(rows.exclude(withdraws=None).values_list("withdraws__value", flat=True).first() or "")


def _measured(made: NewOverride) -> Any:
    """Return the format that works according to the newest test."""
    claims = overrides.in_force(ModelProfile.objects.select_related("server").get(pk=made.profile), made)
    return next((claim.value for claim in claims if claim.source == "auto_detected"), None)


def _leave_in_chats(made: NewOverride, failed: Collection[str]) -> bool:
    """Withdraw the choice of a failed format in every chat with this model; return whether there was one."""
    rows = Override.objects.filter(profile=made.profile, capability="format", withdraws=None, withdrawn_by=None)
    chosen = [row for row in rows.exclude(session="").order_by("seq") if row.value in failed]
    for row in chosen:
        overrides.withdraw(row.pk, replace(made, session=row.session))
    return bool(chosen)


def spoken(names: Collection[str]) -> str:
    """Return `calls written as Hermes or Mistral`."""
    *first, last = (label(name) for name in names)
    return f"calls written as {', '.join(first)} or {last}" if first else f"calls written as {last}"


def _failed(detection: int) -> list[str]:
    """Return the formats with too few calls, in the order of the trials; a silent server does not count."""
    found: defaultdict[str, list[bool]] = defaultdict(list)
    rows = Trial.objects.filter(detection_id=detection, step="formats", passed__isnull=False).order_by("seq")
    for response, passed in rows.values_list("response", "passed"):
        found[str(response.get("subject") or "")].append(bool(passed))
    return [name for name, made in found.items() if name and sum(made) * SHARE[1] < len(made) * SHARE[0]]
