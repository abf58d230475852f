"""Reads the models for the picker, the usable ones first."""

from __future__ import annotations

from collections.abc import Iterable

from django.conf import settings
from django.db.models import Exists, Q, QuerySet

from toolsupport.core.errors import NotFound
from toolsupport.core.evidence_state import STATES, ModelEvidence
from toolsupport.core.name_order import by_name
from toolsupport.core.override_sources import SOURCES
from toolsupport.core.tool_state_labels import tools_word
from toolsupport.core.types import Capabilities
from toolsupport.models import ModelProfile
from toolsupport.registry import any_case, raw_sql
from toolsupport.registry.knowledge import effective_values, model_evidence
from toolsupport.registry.models.picker_rows import ShownModel
from toolsupport.registry.servers import servers
from toolsupport.registry.settings import team_settings
from toolsupport.simulator import models as simulator

# Among models with equal evidence, a new chat starts with the first of these that exists.
RECOMMENDED = ("qwen3:8b", "granite3.2:8b", "sim-honest:latest")
NO_CHAT = "{model} does not chat: its server lists it for other work, such as embeddings. Choose another model."
SIMULATOR_OFF = "the Simulator is switched off"
SIMULATOR_ASIDE = "one of your own servers answers"
_UNITS = ((10**9, "B"), (10**6, "M"))


def choices(simulated: bool = False) -> tuple[ShownModel, ...]:
    """Return all models to choose from, in five queries.

    Simulated models are hidden once a real server answers, unless they are wanted.
    """
    rows = [row for row in offered(simulated) if row.chats]
    known = effective_values.known_of_each(rows)
    evidence = model_evidence.of_each(rows, known)
    shown_models = (row_of(row, known[row.pk], evidence[row.pk]) for row in rows)
    return tuple(sorted(shown_models, key=_order))


def chatting(simulated: bool = False) -> list[ModelProfile]:
    """Return the models that can chat, without their evidence; `simulated` as for `choices`."""
    return sorted(
        (row for row in offered(simulated) if row.chats), key=lambda row: (row.server.simulated, by_name(row.name))
    )


def shown(profile_id: int | None, conversation: str = "") -> ShownModel | None:
    """Return one model for a chat, also a removed or simulated one; None if it does not exist."""
    row = ModelProfile.objects.select_related("server").filter(pk=profile_id).first() if profile_id else None
    if row is None:
        return None
    known = effective_values.known(row, conversation)
    return row_of(row, known, model_evidence.of_one(row, known))


def find(wanted: str) -> int:
    """Return the id of the model for a profile id, `server/name` or a unique name. Raises NotFound with a reason."""
    wanted = wanted.strip()
    if wanted.isascii() and wanted.isdigit():
        found = list(_usable().filter(pk=int(wanted[:18])).values_list("pk", flat=True))
    else:
        found = _exact(wanted) or _named(_usable(), wanted)
    if len(found) == 1:
        return found[0]
    if found:
        raise NotFound(f"Several servers have a model {wanted!r}: write server/name.")
    raise NotFound(f"There is no model {wanted!r}.")


def _usable() -> QuerySet[ModelProfile]:
    return ModelProfile.objects.filter(enabled=True, server__enabled=True)


def first_choice(last: int | None = None) -> int | None:
    """Return a new chat's model: the last one, the team's default, the first tested, any, a simulated one."""
    usable = {row.pk: row for row in offered() if row.chats and not why_not(row)}
    for wanted in (last, team_settings.default_model()):
        if wanted in usable:
            return wanted
    known = effective_values.known_of_each([*usable.values()])
    return min(usable, key=lambda pk: _preference(usable[pk], known[pk]), default=None)


def size_text(row: ModelProfile) -> str:
    """Return the size of a model in few letters: "8.2B · Q4_K_M", else "4.9 GB", else ""."""
    if row.parameters:
        parts = (_short(row.parameters), row.precision)
        return " · ".join(part for part in parts if part)
    if row.size_bytes and row.size_bytes >= 10**8:
        return f"{row.size_bytes / 10**9:.1f} GB"
    return f"{row.size_bytes / 10**6:.0f} MB" if row.size_bytes and row.size_bytes >= 10**6 else ""


def context_text(tokens: object) -> str:
    """Return a context length in few letters: `40K`; "" if it is unknown."""
    if not isinstance(tokens, int):
        return ""
    return f"{tokens // 1024}K" if tokens >= 1024 else str(tokens)


def why_not(row: ModelProfile) -> str:
    """Return why a model cannot be used now, with advice; "" if it can. A server never asked may be tried."""
    if row.server.removed_at:
        return servers.REMOVED
    if row.gone_since:
        return f"{row.server.name} no longer has a model {row.name}. Pull it again, or choose another."
    if not row.chats:
        return NO_CHAT.format(model=row.name)
    if row.server.reachable is False:
        return servers.why_down(row.server)
    return ""


def _trouble(row: ModelProfile) -> str:
    """Return why a model cannot be used now, in a word or two."""
    if row.gone_since or row.server.removed_at:
        return "Gone"
    if not row.chats:
        return "No chat"
    return servers.down_word(row.server)


def offered(simulated: bool = False) -> list[ModelProfile]:
    """Return the enabled models; without simulated ones once a real server answers, unless they are wanted."""
    rows = list(ModelProfile.objects.select_related("server").filter(enabled=True, server__enabled=True))
    return [row for row in rows if not row.server.simulated] if not simulated and _simulator_aside(rows) else rows


def hidden_simulated(where: Q | Exists | None = None) -> tuple[int, str, bool]:
    """Return how many simulated models are left out while others are offered, why, and whether they could be used."""
    rows = ModelProfile.objects.filter(server__kind="simulator", server__removed_at=None, gone_since=None)
    rows = rows if where is None else rows.filter(where)
    usable = [*rows.filter(enabled=True).values_list("server__enabled", flat=True)]
    off = settings.ENV["TOOLSUPPORT_SIMULATOR"] == "off" or not any(usable)
    return len(usable), SIMULATOR_OFF if off else SIMULATOR_ASIDE, not off


def hidden_note() -> str:
    """Return how many simulated models the lists of a site leave out, and why; "" if there are none."""
    setting = settings.ENV["TOOLSUPPORT_SIMULATOR"]
    real = ModelProfile.objects.filter(enabled=True, server__enabled=True, gone_since=None, server__reachable=True)
    where = Exists(real.exclude(server__kind="simulator")) if setting == "auto" else Q()
    count, why, _ = hidden_simulated(where) if setting in ("auto", "off") else (0, "", False)
    return f"{count} simulated model{' is' if count == 1 else 's are'} hidden: {why}." if count else ""


def _simulator_aside(rows: Iterable[ModelProfile]) -> bool:
    """Return True if a real server exists, so that the Simulator is not needed."""
    if settings.ENV["TOOLSUPPORT_SIMULATOR"] != "auto":
        return bool(settings.ENV["TOOLSUPPORT_SIMULATOR"] == "off")
    return any(row.gone_since is None and row.server.reachable and not row.server.simulated for row in rows)


USABLE = """SELECT toolsupport_modelprofile.id FROM toolsupport_modelprofile
JOIN toolsupport_server ON toolsupport_server.id = toolsupport_modelprofile.server_id
WHERE toolsupport_modelprofile.enabled AND toolsupport_server.enabled AND toolsupport_modelprofile.name IN (%s, %s)"""
ON_SERVER = f"{USABLE} AND toolsupport_server.name = %s ORDER BY toolsupport_modelprofile.name LIMIT 1"
ANYWHERE = f"{USABLE} AND gone_since IS NULL"


def _exact(wanted: str) -> list[int]:
    """Return the ids for exactly `server/name`, or for a name without a slash: programs send one in every request."""
    server, slash, name = wanted.partition("/")
    statement, *there = (ON_SERVER, server) if slash else (ANYWHERE,)
    name = name if slash else wanted
    return [found for (found,) in raw_sql.rows(statement, name, f"{name}:latest", *there)]


def _named(rows: QuerySet[ModelProfile], wanted: str) -> list[int]:
    """Return the ids for `server/name`, else for the name alone; exact names first, then any case."""
    there = rows.filter(gone_since=None)
    names = (wanted, f"{wanted}:latest")
    fitting = any_case.same("name", names[0]) | any_case.same("name", names[1])
    full = on_server(rows, wanted)
    return (
        ([full.pk] if full else [])
        or list(there.filter(name__in=names).values_list("pk", flat=True))
        or list(there.filter(fitting).values_list("pk", flat=True))
    )


def on_server(rows: QuerySet[ModelProfile], wanted: str) -> ModelProfile | None:
    """Return the model for `server/name`, where `:latest` may be omitted; exact names first, then any case."""
    server, slash, name = wanted.partition("/")
    if not slash:
        return None
    exact = rows.filter(server__name=server, name__in=(name, f"{name}:latest")).order_by("name").first()
    if exact is not None:
        return exact
    fitting = any_case.same("name", name) | any_case.same("name", f"{name}:latest")
    return rows.filter(fitting, any_case.same("server__name", server)).order_by("name").first()


def row_of(row: ModelProfile, capabilities: Capabilities, evidence: ModelEvidence) -> ShownModel:
    """Return a model's row for the picker, with its facts."""
    tools = capabilities["tools"]
    return ShownModel(
        id=row.pk,
        name=row.name,
        server=row.server.name,
        size=size_text(row),
        loaded=row.loaded,
        simulated=row.server.simulated,
        evidence=evidence,
        known=tools.known,
        tools_word=tools_word(capabilities),
        source=SOURCES[tools.source].word,
        reason=tools.reason,
        server_id=row.server_id,
        server_status=servers.down_word(row.server),
        context=context_text(row.context_length or capabilities["context"].value),
        vision=capabilities["vision"].value is True,
        reachable=row.server.reachable,
        why_not=why_not(row),
        gone=row.gone_since is not None,
        trouble=_trouble(row),
        about=_about(row),
    )


def _about(row: ModelProfile) -> str:
    """Return a short description of a simulated model's behaviour; "" for other models."""
    known = simulator.find(row.name) if row.server.simulated else None
    return known.about.removeprefix(simulator.LABEL) if known else ""


def _preference(row: ModelProfile, known: Capabilities) -> tuple[bool, bool, bool, str, str]:
    calls = known["tools"].value is True
    return (row.server.simulated, not calls, row.name not in RECOMMENDED, row.name, row.server.name)


def _order(choice: ShownModel) -> tuple[bool, bool, int, tuple[tuple[str, ...], ...]]:
    state = [*STATES].index(choice.evidence.state)
    return (bool(choice.why_not), choice.simulated, state, by_name(choice.name, choice.server))


def _short(count: int) -> str:
    for unit, letter in _UNITS:
        if count >= unit:
            return f"{count / unit:.3g}{letter}"
    return str(count)
