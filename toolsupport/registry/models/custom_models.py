"""Stores models that people define and descriptions that people write; surveys do not change them."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from django.db import transaction

from toolsupport.core import families, name_checks
from toolsupport.core.errors import ConfigError, NotFound
from toolsupport.core.name_order import by_name
from toolsupport.core.user_models import DEFAULT_CONTEXT, DESCRIPTION
from toolsupport.models import Family, ModelProfile, Server
from toolsupport.registry.knowledge import team_families

# Columns beside the server's values, which are kept: they apply again when a person empties a field.
BY_HAND = ("family", "parameter_count", "quantization")


@dataclass(frozen=True, slots=True)
class ModelDescription:
    """A person's description of a model. `enabled` False removes it from every choice; "" and None: not set."""

    enabled: bool = True
    description: str = ""
    family: str = ""
    parameter_count: int | None = None
    quantization: str = ""


@transaction.atomic
def define(server_id: int, name: str) -> int:
    """Add a model, whether or not its server lists it; return its id. Raises NotFound, ConfigError if it exists."""
    if why := name_checks.problem(name) or name_checks.path_problem(name):
        raise ConfigError(f"The name {why}. Write it as the server wants it in a request.")
    server = Server.objects.select_for_update().filter(pk=server_id, removed_at=None).first()
    if server is None:
        raise NotFound("This server does not exist.")
    profile = ModelProfile.objects.filter(server=server, name=name).first()
    if profile is None:
        profile = ModelProfile(
            server=server, name=name, description=DESCRIPTION, default_context=DEFAULT_CONTEXT, abilities=[]
        )
    elif profile.gone_since is None:
        raise ConfigError(f"{server.name} has a model {name} already.")
    profile.defined, profile.gone_since = True, None
    team_families.assign([profile])
    profile.save()
    return profile.pk


@transaction.atomic
def write(profile_id: int, written: ModelDescription) -> None:
    """Store a person's description. Raises NotFound."""
    rows = ModelProfile.objects.select_related("server").select_for_update(of=("self",))
    profile = rows.filter(pk=profile_id).first()
    if profile is None:
        raise NotFound("This model does not exist.")
    profile.enabled, profile.description = written.enabled, written.description
    profile.by_hand = {name: value for name, value in asdict(written).items() if name in BY_HAND and value}
    team_families.assign([profile])
    profile.save()


def family_names() -> list[str]:
    """Return all families that a model can be assigned to, including the team's."""
    own = Family.objects.filter(enabled=True).values_list("name", flat=True)
    return sorted({*own, *(family.name for family in families.FAMILIES)}, key=by_name)
