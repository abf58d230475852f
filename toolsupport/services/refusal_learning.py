"""Learns from refusals in running answers: stored in the history, a claim only if a person confirms it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from toolsupport.core.formats import FORMATS
from toolsupport.core.redaction import redact
from toolsupport.core.sentences import sentence
from toolsupport.core.server_refusals import MISCONFIGURED, UNSUPPORTED, Refusal
from toolsupport.registry.knowledge import (
    effective_values,
    event_log,
    overrides,
    reviews,
)
from toolsupport.registry.knowledge.overrides import NewOverride
from toolsupport.registry.models import (
    profiles,
)
from toolsupport.registry.people.permissions import Action, actions_of
from toolsupport.registry.servers import (
    missing_flags,
)
from toolsupport.registry.settings import (
    model_settings,
    switches,
)
from toolsupport.registry.testing import (
    detections,
    probe_target,
)

MOST_BODY = 2000


@dataclass(frozen=True, slots=True)
class ObservedRefusal:
    """A refusal of a model's server, with its HTTP status."""

    profile: int
    refusal: Refusal
    status: int = 0


@dataclass(frozen=True, slots=True)
class RefusalResponse:
    """The reaction to a refusal: the `options` of a question (none: no question), the `flag` to set, or ""."""

    options: tuple[str, ...] = ()
    flag: str = ""


@dataclass(frozen=True, slots=True)
class LearningChoice:
    """A person's choice: for which model, in which chat."""

    profile: int
    conversation: str
    actor: int


@dataclass(frozen=True, slots=True)
class LearningResult:
    """The result of a choice: the notice to show with its verdict, and the chat's new settings."""

    notice: str
    settings: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))


NOTHING = RefusalResponse()


def record_refusal(refused: ObservedRefusal) -> RefusalResponse:
    """Store a refusal in the history; return the question or the notice for it. Raises NotFound.

    A missing setting of the server is stored for administrators even if learning is disabled.
    """
    if refused.refusal.label == MISCONFIGURED and missing_flags.missing(refused.profile, flag_of(refused)):
        _keep(refused, "misconfigured")
    if not switches.in_force().learns or not model_settings.learns(refused.profile):
        return NOTHING
    heard = HEARD.get(refused.refusal.label)
    return heard(refused) if heard else NOTHING


def proposes(person: int) -> bool:
    """Return whether this person's choice is only a proposal."""
    return Action.DECIDE_FOR_ALL not in actions_of(person)


def learn(choice: str, chosen: LearningChoice) -> LearningResult:
    """Store a person's choice; `choice` is one of CHOICES. Raises NotFound."""
    return CHOICES[choice](chosen)


def _unsupported(refused: ObservedRefusal) -> RefusalResponse:
    known = profiles.capabilities(refused.profile)["tools"]
    if known.value is not True or known.source != "user_confirmed" or known.override is None:
        _keep(refused, "refused")
        in_text = switches.in_force().allows_text_format(works=True)
        return RefusalResponse(("save", "session", "text") if in_text else ("save", "session"))
    # A person confirmed it: no question is asked, and reviewers are notified once.
    noted = reviews.contradicted(refused.profile, known.override)
    _keep(refused, "refused" if noted else reviews.CONTRADICTED, known.override)
    return NOTHING


def _misconfigured(refused: ObservedRefusal) -> RefusalResponse:
    return RefusalResponse(flag=flag_of(refused))


def flag_of(refused: ObservedRefusal) -> str:
    """Return the setting that a server lacks, with the parser of the model's family if known."""
    found = probe_target.flag_for(refused.profile, refused.refusal.message, refused.refusal.rule)
    return found or "see the server's log"


HEARD: Mapping[str, Callable[[ObservedRefusal], RefusalResponse]] = MappingProxyType(
    {UNSUPPORTED: _unsupported, MISCONFIGURED: _misconfigured}
)


def _keep(refused: ObservedRefusal, verdict: str, override: int | None = None) -> None:
    now = effective_values.holds(refused.profile, "tools")
    words = redact(refused.refusal.message)[:MOST_BODY]
    evidence = {"status": refused.status, "rule": refused.refusal.rule, "body": words}
    event_log.record(
        event_log.HistoryEvent(
            "refusal", refused.profile, "tools", now, now, verdict=verdict, evidence=evidence, override=override
        )
    )


def _save(chosen: LearningChoice) -> LearningResult:
    if proposes(chosen.actor):
        overrides.add(NewOverride(chosen.profile, "tools", False, actor=chosen.actor, reason=WHY, proposed=True))
        _off_here(chosen)
        return LearningResult("proposed")
    overrides.add(NewOverride(chosen.profile, "tools", False, actor=chosen.actor, reason=WHY))
    return LearningResult("saved")


def _session(chosen: LearningChoice) -> LearningResult:
    _off_here(chosen)
    return LearningResult("off_for_this_chat")


def _text(chosen: LearningChoice) -> LearningResult:
    _off_here(chosen)
    name = first_format(chosen.profile)
    here = NewOverride(
        chosen.profile,
        "format",
        name,
        actor=chosen.actor,
        reason=sentence("text_mode_chosen"),
        session=chosen.conversation,
    )
    overrides.add(here)
    if switches.in_force().detects:
        detections.open_test(detections.DetectionRequest(chosen.profile, "refusal", "formats", chosen.actor))
    return LearningResult("detecting", {"format": name})


WHY = sentence("refused_in_chat")
CHOICES: Mapping[str, Callable[[LearningChoice], LearningResult]] = MappingProxyType(
    {"save": _save, "session": _session, "text": _text}
)


def first_format(profile: int) -> str:
    """Return the format that its family was trained on, else the first of the table."""
    taught = profiles.capabilities(profile)["call_format"].value
    return taught if taught in FORMATS else next(iter(FORMATS))


def _off_here(chosen: LearningChoice) -> None:
    overrides.add(
        NewOverride(chosen.profile, "tools", False, "runtime_error", chosen.actor, WHY, session=chosen.conversation)
    )
