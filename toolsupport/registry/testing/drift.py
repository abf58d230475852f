"""Records models whose build differs from the tested one, and tests them again if enabled."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from django.db import transaction

from toolsupport.core.sentences import sentence
from toolsupport.models import Detection, HistoryEntry, ModelProfile, Server
from toolsupport.registry import write_steps
from toolsupport.registry.knowledge import drift_marks, effective_values, event_log, overrides, stale_tests
from toolsupport.registry.knowledge.event_log import HistoryBundle
from toolsupport.registry.settings import switches
from toolsupport.registry.testing import detections
from toolsupport.registry.testing.detections import DetectionRequest

TRIES = 3  # tests of one build that may prove nothing, so that a server that cannot be tested is not asked forever
PROVES_NOTHING = ("inconclusive", "misconfigured", "")
CHANGED, BACK = sentence("build_changed"), sentence("build_back")


def mark(server_id: int) -> int:
    """Record each model of a server with an untested build in the history, once per change; return how many.

    If the team enables it they are tested, including those recorded while the setting was to ask.
    """
    return _mark([server_id])


def mark_all() -> int:
    """Do the same for every server in use that answers: at start, and after a change of the team's setting."""
    return _mark(Server.objects.filter(enabled=True).exclude(reachable=False).values_list("pk", flat=True))


def _mark(servers: Iterable[int]) -> int:
    """Do so in steps: thousands of models may have changed at once."""
    wanted = switches.in_force().on_drift
    rows = ModelProfile.objects.select_related("server").filter(server__in=servers, gone_since=None, enabled=True)
    there = list(rows)
    if wanted == "off":
        drift_marks.follow(there, ())
        return 0
    # A model that does not chat any more is not tested.
    tested = [profile for profile in there if profile.chats]
    stale, bundle = stale_tests.kinds(there), HistoryBundle()
    drift_marks.follow(there, [profile.pk for profile in tested if profile.pk in stale])
    changed = _unnoted([profile for profile in there if profile.pk in stale], CHANGED)
    noted = sum(write_steps.of_each(changed, lambda part: _note(part, CHANGED, bundle)))
    # Without these lines a second change to the same build would look like the recorded one.
    back = _unnoted([profile for profile in there if profile.pk not in stale], BACK)
    sum(write_steps.of_each(back, lambda part: _note(part, BACK)))
    if wanted == "auto":
        detections.open_tests([asked for profile in tested for asked in _tests(profile, stale.get(profile.pk, ()))])
    return noted


def _unnoted(profiles: Sequence[ModelProfile], text: str) -> list[ModelProfile]:
    """Return the models whose newest line is not about their present build; one that is back had a line before."""
    noted = _noted(profiles)
    return [one for one in profiles if noted.get(one.pk, one.build.key if text == BACK else None) != one.build.key]


@transaction.atomic
def _note(part: Sequence[ModelProfile], text: str, bundle: HistoryBundle | None = None) -> int:
    """Write a line for each of these models, unless another process did so; return how many."""
    overrides.lock(profile.pk for profile in part)
    new = _unnoted(part, text)
    known = effective_values.known_of_each(new)
    made = event_log.HistoryEvent("drift", 0, "tools", text=text, bundle=bundle)
    for profile in new:
        holds = known[profile.pk]["tools"].value
        line = replace(made, profile=profile.pk, server=profile.server_id, before=holds, after=holds)
        event_log.record(replace(line, evidence={"build": profile.build.key}))
    return len(new)


def _noted(profiles: Sequence[ModelProfile]) -> dict[int, str]:
    """Return the build in the newest line about a change, by model id."""
    lines = HistoryEntry.objects.filter(profile__in=profiles, facet__kind="drift").order_by("pk")
    return {profile: evidence.get("build", "") for profile, evidence in lines.values_list("profile_id", "evidence")}


def _tests(profile: ModelProfile, kinds: Iterable[str]) -> list[DetectionRequest]:
    """Return the tests to repeat; a full test covers the others."""
    again = ("tools",) if "tools" in kinds else sorted(kinds)
    return [DetectionRequest(profile.pk, "drift", kind) for kind in again if _worth_a_try(profile, kind)]


def _worth_a_try(profile: ModelProfile, kind: str) -> bool:
    """Return whether to repeat: not a test that a person cancelled or undid, nor one that often proved nothing."""
    made = Detection.objects.filter(build_key=profile.build.key, kind=kind, trigger="drift")
    ended = list(made.exclude(status="interrupted").values_list("status", "verdict"))
    final = any(status == "cancelled" or verdict not in PROVES_NOTHING for status, verdict in ended)
    return not final and len(ended) < TRIES
