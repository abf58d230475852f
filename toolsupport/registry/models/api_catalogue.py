"""Reads the models' facts for other programs."""

from __future__ import annotations

from typing import Any

from toolsupport.core.errors import NotFound
from toolsupport.core.resolve import CAPABILITIES
from toolsupport.core.types import JSON, Capabilities
from toolsupport.models import Detection, ModelProfile, Override, Trial
from toolsupport.registry.knowledge import effective_values
from toolsupport.registry.models import picker, profile_cache

# The capabilities that the API always has, known or not; known values of other tools are added.
PROMISED = tuple(name for name in CAPABILITIES if name not in ("call_format", "context"))

# The newest tests of a model, each with all its trials: the others are in the history.
DETECTIONS = 10


def listed() -> list[JSON]:
    """Return all models, including removed and disabled ones, in three queries at most."""
    there = ModelProfile.objects.filter(server__removed_at=None).select_related("server")
    rows = list(there.order_by("server__name", "name"))
    known = effective_values.known_of_each(rows)
    return [_model(row, known[row.pk]) for row in rows]


def shown(wanted: str) -> JSON:
    """Return one model with all claims about it; `wanted` as in `picker.find`. Raises NotFound."""
    row = _find(wanted)
    rows = row.overrides.select_related("actor").order_by("seq")
    tests = list(row.detections.select_related("actor").order_by("-id")[:DETECTIONS])
    trials = Trial.objects.filter(detection__in=tests).order_by("detection", "seq")
    given = {
        "overrides": [_override(one) for one in rows],
        "detections": [_detection(one) for one in tests],
        "evidence": [_trial(one) for one in trials],
    }
    return _model(row, effective_values.known(row)) | given


def number(wanted: str) -> int:
    """Return the number of a model; `wanted` as in `picker.find`. Raises NotFound."""
    return _find(wanted).pk


def detection(number: int) -> JSON:
    """Return one test with its steps and its evidence. Raises NotFound."""
    row = Detection.objects.select_related("actor", "profile__server").filter(pk=number).first()
    if row is None:
        raise NotFound("This test does not exist.")
    model = f"{row.profile.server.name}/{row.profile.name}"
    return _detection(row) | {
        "model": model,
        "steps": row.progress,
        "evidence": [_trial(one) for one in row.trials.all()],
    }


def full_name(profile_id: int) -> str:
    """Return `server/name` of a model. Raises NotFound."""
    row = profile_cache.profile(profile_id)
    if row is None:
        raise NotFound("This model does not exist.")
    return str(row)


def _find(wanted: str) -> ModelProfile:
    rows = ModelProfile.objects.select_related("server")
    row = picker.on_server(rows, wanted) or rows.filter(pk=picker.find(wanted)).first()
    if row is None:
        raise NotFound(f"There is no model {wanted!r}.")
    return row


def _model(row: ModelProfile, known: Capabilities) -> JSON:
    return {
        "id": str(row),
        "created": int(row.first_seen.timestamp()),
        "server": row.server.name,
        "name": row.name,
        "digest": row.digest,
        "status": _status(row),
        "chats": row.chats,
        "capabilities": _capabilities(known),
    }


def _status(row: ModelProfile) -> str:
    """Return the first that holds: gone, disabled, unreachable, unknown (never asked), not_seen, available.

    `not_seen`: it was imported, and no answer of its server has listed it.
    """
    states = {
        "gone": row.gone_since is not None,
        "disabled": not (row.enabled and row.server.enabled),
        "unreachable": row.server.reachable is False,
        "unknown": row.server.reachable is None,
        "not_seen": row.last_seen is None and not row.defined,
    }
    return next((name for name, holds in states.items() if holds), "available")


def _capabilities(known: Capabilities) -> JSON:
    others = [name for name in known.values if name.startswith("tool:")]
    return {name: known[name].to_json() for name in dict.fromkeys((*PROMISED, *others))}


def _override(row: Override) -> dict[str, Any]:
    return {
        "id": row.pk,
        "seq": row.seq,
        "capability": row.capability,
        "value": row.value,
        "source": row.source,
        "scope": "conversation" if row.session else "everyone",
        "build": row.build_key,
        "actor": effective_values.display_name(row.actor),
        "reason": row.reason,
        "proposed": row.proposed,
        "accepts": row.accepts_id,
        "withdraws": row.withdraws_id,
        "created_at": row.created_at.isoformat(),
    }


def _detection(row: Detection) -> dict[str, Any]:
    return {
        "id": row.pk,
        "kind": row.kind,
        "build": row.build_key,
        "status": row.status,
        "verdict": row.verdict,
        "detail": row.detail,
        "actor": effective_values.display_name(row.actor),
        "created_at": row.created_at.isoformat(),
        "finished_at": row.finished_at.isoformat() if row.finished_at else None,
        "load_ms": row.load_ms,
        "run_ms": row.run_ms,
    }


def _trial(row: Trial) -> dict[str, Any]:
    plain = ("step", "n", "request", "response", "status", "duration_ms", "prompt_tokens", "output_tokens", "passed")
    return {"detection": row.detection_id, **{name: getattr(row, name) for name in plain}, "why": row.why}
