"""Reads the models for the picker, the usable ones first."""

from __future__ import annotations

from django.conf import settings
from django.db.models import Q, QuerySet

from toolsupport.core.errors import NotFound
from toolsupport.core.override_sources import SOURCES
from toolsupport.core.tool_state_labels import state_word, tools_word
from toolsupport.core.types import Capabilities
from toolsupport.models import ModelProfile
from toolsupport.registry.knowledge import effective_values, stale_tests
from toolsupport.registry.models.picker_rows import ShownModel
from toolsupport.registry.servers import servers
from toolsupport.registry.settings import team_settings
from toolsupport.simulator import models as simulator

# Among models that are equally well known, a fresh conversation starts with the first of these that is there.
RECOMMENDED = ("qwen3:8b", "granite3.2:8b", "sim-honest:latest")
NO_CHAT = "{model} does not chat: its server declares other work, such as embeddings. Choose another model."
_STATES = ("tested", "text", "unknown", "off")
_UNITS = ((10**9, "B"), (10**6, "M"))


def choices() -> tuple[ShownModel, ...]:
    """Return all models to choose from, in four queries. Simulated models are hidden once a real server answers."""
    rows = [row for row in offered() if row.chats]
    known, older = effective_values.known_of_each(rows), stale_tests.kinds(rows)
    shown_models = (row_of(row, known[row.pk], row.pk in older) for row in rows)
    return tuple(sorted(shown_models, key=_order))


def shown(profile_id: int | None, conversation: str = "") -> ShownModel | None:
    """Return one model as a conversation shows it, also a removed or simulated one; None if it does not exist."""
    row = ModelProfile.objects.select_related("server").filter(pk=profile_id).first() if profile_id else None
    if row is None:
        return None
    return row_of(row, effective_values.known(row, conversation), stale_tests.is_stale(row))


def find(wanted: str) -> int:
    """Return the id of the model for a profile id, `server/name` or a unique name. Raises NotFound with a reason."""
    wanted = wanted.strip()
    rows = ModelProfile.objects.filter(enabled=True, server__enabled=True)
    if wanted.isascii() and wanted.isdigit():
        found = list(rows.filter(pk=int(wanted[:18])).values_list("pk", flat=True))
    else:
        found = _named(rows, wanted)
    if len(found) == 1:
        return found[0]
    if found:
        raise NotFound(f"Several servers have a model {wanted!r}; write it as server/name.")
    raise NotFound(f"There is no model {wanted!r}.")


def first_choice(last: int | None = None) -> int | None:
    """Return a new conversation's model: the last one, the team's default, the first tested, any, a simulated one."""
    offered = {choice.id: choice for choice in choices() if not choice.why_not}
    for wanted in (last, team_settings.default_model()):
        if wanted in offered:
            return wanted
    ranked = sorted(offered.values(), key=_preference)
    return ranked[0].id if ranked else None


def chip(capabilities: Capabilities) -> tuple[str, str]:
    """Return the state and the word beside the sign on the chip: ("unknown", "untested")."""
    state, words = state_word(capabilities)
    return state, words.split(" ", 2)[2]


def size_text(row: ModelProfile) -> str:
    """Return the size of a model in few letters: "8.2B · Q4_K_M", else "4.9 GB", else ""."""
    if row.parameters:
        parts = (_short(row.parameters), row.precision)
        return " · ".join(part for part in parts if part)
    if row.size_bytes and row.size_bytes >= 10**8:
        return f"{row.size_bytes / 10**9:.1f} GB"
    return f"{row.size_bytes / 10**6:.0f} MB" if row.size_bytes and row.size_bytes >= 10**6 else ""


def why_not(row: ModelProfile) -> str:
    """Return why a model cannot be used now, with advice; "" if it can. A server never asked may be tried."""
    if row.server.removed_at:
        return servers.REMOVED
    if row.gone_since:
        return f"{row.server.name} has no model {row.name} any more. Pull it again, or choose another."
    if not row.chats:
        return NO_CHAT.format(model=row.name)
    if row.server.reachable is False:
        why = row.server.last_error or "The server does not answer."
        hint = servers.hint_of(row.server)
        return why if hint in why else f"{why} {hint}"
    return ""


def _trouble(row: ModelProfile) -> str:
    """Return why a model cannot be used now, in a word or two."""
    if row.gone_since or row.server.removed_at:
        return "Gone"
    if not row.chats:
        return "No chat"
    return servers.badge_of(row.server)[0] if row.server.reachable is False else ""


def offered() -> QuerySet[ModelProfile]:
    """Return the enabled models; without simulated ones once a real server answers."""
    rows = ModelProfile.objects.select_related("server").filter(enabled=True, server__enabled=True)
    return rows.exclude(server__kind="simulator") if _simulator_aside() else rows


def _simulator_aside() -> bool:
    """Return True if a real server exists, so that the Simulator is not needed."""
    if settings.ENV["TOOLSUPPORT_SIMULATOR"] != "auto":
        return bool(settings.ENV["TOOLSUPPORT_SIMULATOR"] == "off")
    usable = ModelProfile.objects.filter(enabled=True, gone_since=None, server__enabled=True, server__reachable=True)
    return usable.exclude(server__kind="simulator").exists()


def _named(rows: QuerySet[ModelProfile], wanted: str) -> list[int]:
    """Return the ids for `server/name`, else for the name alone; exact names first, then any case."""
    there = rows.filter(gone_since=None)
    names = (wanted, f"{wanted}:latest")
    any_case = Q(name__iexact=names[0]) | Q(name__iexact=names[1])
    full = on_server(rows, wanted)
    return (
        ([full.pk] if full else [])
        or list(there.filter(name__in=names).values_list("pk", flat=True))
        or list(there.filter(any_case).values_list("pk", flat=True))
    )


def on_server(rows: QuerySet[ModelProfile], wanted: str) -> ModelProfile | None:
    """Return the model for `server/name`, where `:latest` may be omitted; exact names first, then any case."""
    server, slash, name = wanted.partition("/")
    if not slash:
        return None
    exact = rows.filter(server__name=server, name__in=(name, f"{name}:latest")).order_by("name").first()
    if exact is not None:
        return exact
    any_case = Q(name__iexact=name) | Q(name__iexact=f"{name}:latest")
    return rows.filter(any_case, server__name__iexact=server).order_by("name").first()


def row_of(row: ModelProfile, capabilities: Capabilities, older: bool) -> ShownModel:
    """Return a model's row for the picker, with its facts; `older`: it was tested on another build."""
    state, word = chip(capabilities)
    tools = capabilities["tools"]
    source = SOURCES[tools.source]
    return ShownModel(
        id=row.pk,
        name=row.name,
        server=row.server.name,
        size=size_text(row),
        loaded=row.loaded,
        simulated=row.server.simulated,
        state=state,
        state_word=word,
        tools_word=tools_word(capabilities),
        source=source.word,
        source_letter=source.letter,
        reason=tools.reason,
        vision=capabilities["vision"].value is True,
        reachable=row.server.reachable,
        why_not=why_not(row),
        gone=row.gone_since is not None,
        trouble=_trouble(row),
        about=_about(row),
        older=older,
    )


def _about(row: ModelProfile) -> str:
    """Return a short description of a simulated model's behaviour; "" for other models."""
    known = simulator.find(row.name) if row.server.simulated else None
    return known.about.removeprefix(simulator.LABEL) if known else ""


def _preference(choice: ShownModel) -> tuple[bool, bool, bool]:
    return (choice.simulated, choice.state != "tested", choice.name not in RECOMMENDED)


def _order(choice: ShownModel) -> tuple[bool, bool, int, str, str]:
    return (bool(choice.why_not), choice.simulated, _STATES.index(choice.state), choice.name, choice.server)


def _short(count: int) -> str:
    for unit, letter in _UNITS:
        if count >= unit:
            return f"{count / unit:.3g}{letter}"
    return str(count)
