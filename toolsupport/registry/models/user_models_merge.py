"""Converts the models of this site to entries of user_models.json, and merges such entries into them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from django.db import transaction

from toolsupport import providers
from toolsupport.core import name_checks, user_models
from toolsupport.core.errors import ConfigError
from toolsupport.core.resolve import explain
from toolsupport.core.sentences import sentence
from toolsupport.core.types import Build, Capability
from toolsupport.core.user_models import BUILD, DEFAULT_CONTEXT, DESCRIPTION, UserModel, UserModelsFile
from toolsupport.models import ModelProfile, Override, Server, Setting
from toolsupport.registry import write_steps
from toolsupport.registry.knowledge import effective_values, overrides, team_families
from toolsupport.registry.knowledge.overrides import NewOverride

# Parts of the file without a row: entries whose server does not exist here yet, and fields beside the list.
_ASIDE = "user_models_aside"

# The build key of an imported measurement if the file does not name its build.
ELSEWHERE = "elsewhere"

# Confirmations a change may need: it was confirmed on another site; a person here decided otherwise.
CONFIRM, OUTRANK = "confirm", "outrank"


@dataclass(frozen=True, slots=True)
class MergeChange:
    """One change of an entry. `needs` is "", CONFIRM or OUTRANK; `without` is the result if it is not ticked."""

    field: str
    before: Any
    after: Any
    needs: str = ""
    without: str = ""


@dataclass(frozen=True, slots=True)
class MergePlan:
    """The changes that merging one entry would make.

    `state` is new, known or aside; `index` is its place in the file.
    """

    index: int
    entry: UserModel
    state: str
    server: str = ""
    note: str = ""
    profile: int | None = None
    changes: tuple[MergeChange, ...] = ()

    @property
    def needs(self) -> frozenset[str]:
        return frozenset(change.needs for change in self.changes) - {""}


@dataclass(frozen=True, slots=True)
class MergeConsent:
    """The entries (by index) that the importer confirms, or that may override a decision here. `actor` imports."""

    actor: int | None = None
    confirm: frozenset[int] = field(default_factory=frozenset)
    outrank: frozenset[int] = field(default_factory=frozenset)

    def allow(self, index: int, needs: str) -> bool:
        chosen = {CONFIRM: self.confirm, OUTRANK: self.outrank}
        return not needs or index in chosen[needs]


def exported() -> UserModelsFile:
    """Return every model of every server except the Simulator, and all entries kept aside."""
    there = ModelProfile.objects.filter(server__removed_at=None).select_related("server")
    rows = there.exclude(server__kind="simulator")
    profiles = list(rows.order_by("server__name", "name"))
    known = {pk: capabilities["tools"] for pk, capabilities in effective_values.known_of_each(profiles).items()}
    claims = Override.objects.in_bulk([tools.override for tools in known.values() if tools.override])
    aside = _aside()
    entries = [_entry(profile, known[profile.pk], claims.get(known[profile.pk].override)) for profile in profiles]
    return UserModelsFile((*entries, *aside.entries), aside.extra)


def plan(document: UserModelsFile) -> tuple[MergePlan, ...]:
    """Return the changes of merging the file, entry by entry, without writing.

    Raises ConfigError (a model occurs twice).
    """
    plans = _plans(list(enumerate(document.entries)))
    first: dict[tuple[str, str], int] = {}
    for one in plans:
        # A server may list a model by the path of its file; a name that no server has listed is none.
        if one.profile is None and (why := name_checks.path_problem(one.entry.id)):
            raise ConfigError(f"user_models[{one.index}].id: the name {one.entry.id!r} {why}.")
        meant = first.setdefault((one.server, one.entry.id), one.index)
        if one.server and meant != one.index:
            raise ConfigError(f"user_models[{one.index}]: is the same model here as [{meant}].")
    return plans


def merge(document: UserModelsFile, ticks: MergeConsent) -> tuple[MergePlan, ...]:
    """Write the changes in steps; return the plan of each entry at the moment of its step.

    Raises ConfigError before anything is written. After an interruption, merging the file again writes the rest:
    entries that exist then change nothing.
    """
    plans = plan(document)
    # A model that one step adds must not change the server of a later entry.
    placed = [(one.index, replace(one.entry, server=one.server)) for one in plans if one.server]
    steps = write_steps.of_each(placed, partial(_merge, ticks))
    merged = {one.index: one for step in steps for one in step}
    made = tuple(merged.get(one.index, one) for one in plans)
    _keep_aside(document, [one.entry for one in made if one.state == "aside"])
    return made


@transaction.atomic
def _merge(ticks: MergeConsent, entries: Sequence[tuple[int, UserModel]]) -> tuple[MergePlan, ...]:
    plans = _plans(entries)
    chosen = [one for one in plans if one.state != "aside"]
    overrides.add_all(list(_decisions(chosen, _written(chosen, ticks), ticks)))
    return plans


# -- out ----------------------------------------------------------------------------------------------


def _entry(profile: ModelProfile, known: Capability, row: Override | None) -> UserModel:
    claimed = dict(profile.extra)
    entry = UserModel(
        id=profile.name,
        name=claimed.pop("name", profile.name),
        source=profile.server.kind,
        last_seen=profile.last_seen,
        description=profile.description,
        abilities=tuple(profile.abilities),
        context_profiles=tuple(claimed.pop("context_profiles", ())),
        default_context=profile.default_context,
        server=profile.server.name,
        extra=claimed,
    )
    if known.value is None:
        return entry
    return replace(
        entry,
        tool_support=known.value,
        tool_support_source=row.source if row else known.source,
        tool_support_confirmed_at=(row.said_at or row.created_at) if row else None,
        build=_build(profile) if known.source == "auto_detected" else {},
    )


def _build(profile: ModelProfile) -> dict[str, str]:
    build = profile.build
    return {name: getattr(build, name) for name in BUILD}


# -- in -----------------------------------------------------------------------------------------------


class _ExistingModels:
    """The existing servers, and the models of these names, read once for a step or a whole file."""

    def __init__(self, names: Iterable[str]) -> None:
        self.servers = list(Server.objects.filter(removed_at=None).order_by("name"))
        rows = ModelProfile.objects.filter(name__in=set(names)).select_related("server").order_by("server__name")
        self.profiles = {(row.server_id, row.name): row for row in rows}
        self.claims = effective_values.claims(row.pk for row in self.profiles.values())

    def server_of(self, entry: UserModel) -> Server | None:
        """Find it by name, else the only server of its kind with the model, else the only one of its kind."""
        named = [server for server in self.servers if entry.server and server.name == entry.server]
        alike = [server for server in self.servers if server.kind == entry.source]
        if entry.source not in providers.PROVIDERS:
            alike = [server for server in self.servers if (server.pk, entry.id) in self.profiles]
        having = [server for server in alike if (server.pk, entry.id) in self.profiles]
        return next((found[0] for found in (named, having, alike) if len(found) == 1), None)


def _plans(entries: Sequence[tuple[int, UserModel]]) -> tuple[MergePlan, ...]:
    """Return the plans of entries with their places in the file."""
    site = _ExistingModels(entry.id for _, entry in entries)
    return tuple(_plan(site, index, entry) for index, entry in entries)


def _plan(site: _ExistingModels, index: int, entry: UserModel) -> MergePlan:
    server = site.server_of(entry)
    if server is None:
        note = f"Its server ({entry.server or entry.source or 'none named'}) is not on this site: kept for later."
        return MergePlan(index, entry, "aside", note=note)
    profile = site.profiles.get((server.pk, entry.id))
    if profile is None:
        fresh = _fresh(server, entry)
        return MergePlan(index, entry, "new", server.name, changes=tuple(_support(fresh, entry, [])))
    changes = (*_fields(profile, entry), *_support(profile, entry, site.claims[profile.pk]))
    return MergePlan(index, entry, "known", server.name, profile=profile.pk, changes=changes)


def _fresh(server: Server, entry: UserModel) -> ModelProfile:
    """Return a row for a model that no server here has listed yet."""
    return ModelProfile(
        server=server,
        name=entry.id,
        digest=entry.build.get("digest", ""),
        template_hash=entry.build.get("template_hash", ""),
        last_seen=entry.last_seen,
        description=entry.description,
        abilities=list(entry.abilities),
        default_context=entry.default_context,
        extra=_extra(entry),
    )


def _extra(entry: UserModel) -> dict[str, Any]:
    ours = {"name": entry.name if entry.name != entry.id else "", "context_profiles": list(entry.context_profiles)}
    return {**entry.extra, **{name: value for name, value in ours.items() if value}}


def _fields(profile: ModelProfile, entry: UserModel) -> Iterable[MergeChange]:
    """Return the changes to other facts of the model: texts by people here change only with a tick."""
    untouched = {
        "description": profile.description in ("", DESCRIPTION),
        "default_context": profile.default_context in (DEFAULT_CONTEXT, ModelProfile().default_context),
        "abilities": not profile.abilities,
    }
    wanted = {"description": entry.description, "default_context": entry.default_context}
    if not profile.abilities:
        wanted["abilities"] = list(entry.abilities)
    defaults = {"description": DESCRIPTION, "default_context": DEFAULT_CONTEXT, "abilities": []}
    for name, value in wanted.items():
        before = getattr(profile, name)
        if value not in (before, defaults[name]):
            yield MergeChange(name, before, value, "" if untouched[name] else OUTRANK, "stays as it is")
    for name, value in _extra(entry).items():
        if name not in profile.extra:
            yield MergeChange(f"extra.{name}", None, value)
        elif profile.extra[name] != value:
            yield MergeChange(f"extra.{name}", profile.extra[name], value, OUTRANK, "stays as it is")


def _support(profile: ModelProfile, entry: UserModel, claimed: list[Any]) -> Iterable[MergeChange]:
    if entry.tool_support is None:
        return
    entries = explain(None, claimed, profile.build.key).get("tools", ())
    counting = [one.claim for one in entries if one.claim and one.counts]
    before = counting[0].value if counting else None
    if _is_news(profile, entry, claimed, counting):
        needs = ""
        if entry.tool_support_source == "user_confirmed":
            needs = OUTRANK if any(claim.source == "user_confirmed" for claim in counting) else CONFIRM
        without = "is imported as a proposal" if needs else ""
        yield MergeChange("tool_support", before, entry.tool_support, needs, without)


def _is_news(profile: ModelProfile, entry: UserModel, claimed: list[Any], counting: list[Any]) -> bool:
    """Return False for a claim that exists here; a server that declares capabilities is asked itself."""
    source = entry.tool_support_source
    if source == "user_confirmed":
        mine = next((claim for claim in counting if claim.source == source), None)
        return mine is None or mine.value is not entry.tool_support
    if source in MEASURED:
        key = _build_key(profile, entry, claimed)
        return not any(
            (claim.source, claim.value, claim.build_key) == ("auto_detected", entry.tool_support, key)
            for claim in claimed
        )
    return source == "declared" and not any(claim.source == "declared" for claim in claimed)


# A refusal in mid-conversation was an observation of some build, too.
MEASURED = ("auto_detected", "runtime_error")


def _build_key(profile: ModelProfile, entry: UserModel, claimed: list[Any]) -> str:
    """Return the measured build; an imported measurement does not override one made here on the same build."""
    build = Build(str(profile.server_id), profile.name, **dict(entry.build)).key if entry.build else ELSEWHERE
    measured_here = any((claim.source, claim.build_key) == ("auto_detected", build) for claim in claimed)
    same = any((claim.build_key, claim.value) == (build, entry.tool_support) for claim in claimed)
    return ELSEWHERE if measured_here and not same else build


def _written(plans: Sequence[MergePlan], ticks: MergeConsent) -> dict[int, ModelProfile]:
    """Write the models of these plans, without their tool support; return the rows by the index of their entry."""
    servers = {server.name: server for server in Server.objects.filter(removed_at=None)}
    fresh = {one.index: _fresh(servers[one.server], one.entry) for one in plans if one.profile is None}
    team_families.assign(list(fresh.values()))
    ModelProfile.objects.bulk_create(fresh.values(), batch_size=200)
    locked = ModelProfile.objects.select_related("server").select_for_update(of=("self",)).order_by("pk")
    known = locked.in_bulk([one.profile for one in plans if one.profile is not None])
    for one in plans:
        chosen = [change for change in one.changes if ticks.allow(one.index, change.needs)]
        if one.profile is not None and (columns := {_set(known[one.profile], change) for change in chosen} - {""}):
            # A statement for each row takes half the time of one statement with a case for each row and column.
            known[one.profile].save(update_fields=columns)
    return fresh | {one.index: known[one.profile] for one in plans if one.profile is not None}


def _set(profile: ModelProfile, change: MergeChange) -> str:
    """Apply a change; return the column, "" for tool support, which has no column."""
    if change.field == "tool_support":
        return ""
    if not change.field.startswith("extra."):
        setattr(profile, change.field, change.after)
        return change.field
    profile.extra = {**profile.extra, change.field.removeprefix("extra."): change.after}
    return "extra"


def _decisions(
    plans: Sequence[MergePlan], profiles: Mapping[int, ModelProfile], ticks: MergeConsent
) -> Iterator[NewOverride]:
    """Yield the overrides of these plans; a proposal that already waits is not repeated."""
    claims = effective_values.claims(profile.pk for profile in profiles.values())
    waiting = _proposed(profiles.values())
    for one in plans:
        change = next((change for change in one.changes if change.field == "tool_support"), None)
        if change is None:
            continue
        profile, allowed = profiles[one.index], ticks.allow(one.index, change.needs)
        if allowed or (profile.pk, one.entry.tool_support) not in waiting:
            yield _decision(profile, one.entry, claims[profile.pk], (ticks.actor, allowed))


def _decision(
    profile: ModelProfile, entry: UserModel, claimed: list[Any], consent: tuple[int | None, bool]
) -> NewOverride:
    actor, allowed = consent
    measured = entry.tool_support_source in MEASURED
    return NewOverride(
        profile=profile.pk,
        capability="tools",
        value=entry.tool_support,
        source="auto_detected" if measured else entry.tool_support_source,
        actor=actor if entry.tool_support_source == "user_confirmed" else None,
        reason=sentence("imported"),
        proposed=not allowed,
        build_key=_build_key(profile, entry, claimed) if measured else "",
        said_at=entry.tool_support_confirmed_at,
    )


def _proposed(profiles: Iterable[ModelProfile]) -> set[tuple[int, Any]]:
    """Return (model id, value) of the proposals that wait for an answer."""
    waiting = Override.objects.filter(profile__in=profiles, capability="tools", proposed=True, accepted_by=None)
    return set(waiting.filter(withdrawn_by=None, value__in=[True, False]).values_list("profile", "value"))


# -- data without a row -------------------------------------------------------------------------------


def _aside() -> UserModelsFile:
    row = Setting.objects.filter(key=_ASIDE).first()
    stored: Mapping[str, Any] = (row.value if row else None) or {}
    return UserModelsFile(tuple(map(user_models.read_entry, stored.get("entries", ()))), stored.get("extra", {}))


@transaction.atomic
def _keep_aside(document: UserModelsFile, entries: list[UserModel]) -> None:
    """Store an entry without a server here, replacing an earlier one of the same model."""
    before = _aside()
    spoken_of = {entry.key for entry in document.entries}
    kept = [entry for entry in before.entries if entry.key not in spoken_of]
    value = {
        "entries": [user_models.entry_json(entry) for entry in (*kept, *entries)],
        "extra": {**before.extra, **document.extra},
    }
    if value["entries"] or value["extra"]:
        Setting.objects.update_or_create(key=_ASIDE, defaults={"value": value})
    else:
        Setting.objects.filter(key=_ASIDE).delete()
