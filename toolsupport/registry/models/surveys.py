"""Stores the servers' reports, without changing people's decisions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from django.db import transaction
from django.utils import timezone

from toolsupport.core import modelfile
from toolsupport.models import ModelProfile, Server
from toolsupport.providers import ModelDetails, ModelReport, ServerReport
from toolsupport.registry import raw_sql
from toolsupport.registry.knowledge import overrides, reasoning_starts, team_families
from toolsupport.registry.knowledge.event_log import HistoryBundle
from toolsupport.registry.models import exported_contexts, survey_truncation
from toolsupport.registry.servers import reachability
from toolsupport.registry.settings import context_sizes

# The server's word for a capability → our name.
DECLARED = {"tools": "tools", "thinking": "thinking", "vision": "vision"}

# The columns a survey may write. Names that are missing here belong to people.
SURVEYED = (
    *("digest", "size_bytes", "family", "team_family", "quantization", "loaded", "abilities"),
    *("template_hash", "context_length", "last_seen", "gone_since"),
)


@transaction.atomic
def record_survey(server_id: int, report: ServerReport) -> tuple[tuple[int, str], ...]:
    """Store a survey; return (profile id, name) of the models to describe again.

    A model that is no longer listed is kept and marked gone; one that reappears loses the mark.
    """
    report = survey_truncation.bounded(report)
    server = Server.objects.select_for_update().get(pk=server_id)
    now = timezone.now()
    updated = server.version != report.version
    _mark_reachable(server, report.version, now)
    known = {row.name: row for row in ModelProfile.objects.filter(server=server)}
    listed = {model.name for model in report.models}
    for row in known.values():
        row.server = server
        if row.name not in listed:
            _mark_gone(row, now)
    fresh = [ModelProfile(server=server, name=model.name) for model in report.models if model.name not in known]
    present = {row.name: row for row in (*known.values(), *fresh)}
    for model in report.models:
        _mark_present(present[model.name], model, now)
        if updated:
            _forget_details(present[model.name])
    team_families.assign([present[model.name] for model in report.models])
    ModelProfile.objects.bulk_create(fresh, batch_size=200)
    raw_sql.store(list(known.values()), SURVEYED)
    rows = list(present.values())
    return tuple((row.pk, row.name) for row in rows if row.gone_since is None and not _described(row))


@transaction.atomic
def record_details(server_id: int, details: Mapping[int, ModelDetails], bundle: HistoryBundle | None = None) -> None:
    """Store a server's details about some of its models (by profile id), with their declared capabilities.

    A model takes about 10 ms, and others cannot write meanwhile: pass a long list in parts, with one `bundle`.
    """
    details = {profile: survey_truncation.bounded_details(one) for profile, one in details.items()}
    theirs = ModelProfile.objects.filter(server_id=server_id, pk__in=list(details))
    rows = list(theirs.select_related("server").select_for_update(of=("self",)))
    for row in rows:
        reported = details[row.pk]
        row.template_hash = reported.template_hash
        row.context_length = reported.context_length
        row.parameter_count = reported.parameter_count or row.parameter_count
        row.quantization = reported.quantization or row.quantization
        row.abilities = list(reported.capabilities) if reported.capabilities is not None else row.abilities
        context_sizes.take_modelfile(row, modelfile.settings(reported.system, reported.parameters))
        exported_contexts.fill(row)
        reasoning_starts.hint(row, reported.begins_inside)
    columns = [
        *reasoning_starts.FIELDS,
        "template_hash",
        "context_length",
        "parameter_count",
        "quantization",
        "abilities",
        "extra",
        "modelfile",
        "default_context",
    ]
    raw_sql.store(rows, columns)
    bundle = bundle or HistoryBundle()
    for row in rows:
        reported = details[row.pk]
        overrides.declare(
            row.pk, declared(reported.capabilities, reported.unsaid) | _parallel(row, reported.one_call), bundle
        )


def declared(capabilities: Sequence[str] | None, unsaid: Sequence[str] = ()) -> dict[str, bool]:
    """Return the claims in a server's list.

    A missing list claims nothing; capabilities missing from a list are denied.
    """
    if capabilities is None:
        return {}
    return {name: word in capabilities for word, name in DECLARED.items() if word not in unsaid}


def _parallel(row: ModelProfile, one_call: bool | None) -> dict[str, bool]:
    """Return the template's claim about parallel calls. Support there proves nothing, and only removes a no."""
    if one_call:
        return {"parallel": False}
    denied = row.overrides.filter(capability="parallel", source="declared")
    return {"parallel": True} if one_call is False and denied.exists() else {}


def _mark_reachable(server: Server, version: str, now: datetime) -> None:
    server.version = version
    server.reachable = True
    server.last_seen_at = server.checked_at = now
    server.down_since = None
    server.last_error = server.fault = ""
    server.failures, server.next_check_at = 0, None
    server.save(update_fields=["version", "last_seen_at", *reachability.STATUS])


def _mark_gone(row: ModelProfile, now: datetime) -> None:
    # A model that a person defined exists even if its server does not list it.
    row.gone_since = None if row.defined else row.gone_since or now
    row.loaded = False


def _mark_present(row: ModelProfile, model: ModelReport, now: datetime) -> None:
    digest = row.digest if model.digest is None else model.digest
    if row.digest != digest or _differs(row, model):
        _forget_details(row)
    row.digest = digest
    row.size_bytes = model.size_bytes
    row.quantization = model.quantization or row.quantization
    row.loaded = model.loaded
    row.last_seen = now
    row.gone_since = None
    if model.capabilities is not None:
        row.abilities = list(model.capabilities)


def _differs(row: ModelProfile, model: ModelReport) -> bool:
    """Return True if a complete list has changed; servers without digests show a new build only that way."""
    reported = model.details
    if reported is None:
        return False
    abilities = row.abilities if reported.capabilities is None else list(reported.capabilities)
    return (row.template_hash, row.context_length, row.abilities) != (
        reported.template_hash,
        reported.context_length,
        abilities,
    )


def _forget_details(row: ModelProfile) -> None:
    # They describe another build; empty, they are requested again until the server answers.
    row.template_hash = ""
    row.context_length = None


def _described(row: ModelProfile) -> bool:
    reported = bool(row.template_hash) or row.context_length is not None
    # Rows from before Modelfiles were read are asked about once more.
    return reported and row.modelfile is not None
