"""A model as the one who tests it needs it: where to ask, with which options, in which formats."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from toolsupport.core import server_flags
from toolsupport.core.words import Brief, Endpoint
from toolsupport.models import Detection, ModelProfile
from toolsupport.registry import model_options, servers, standings


def flag_for(profile: int, words: str, rule: str = "") -> str:
    """The setting that a model's server needs for tools, after it said these words."""
    row = ModelProfile.objects.select_related("server").filter(pk=profile).first()
    return server_flags.needed(words, rule, row.server.kind, _parsers(row)) if row else words


def _parsers(profile: ModelProfile) -> Mapping[str, str]:
    family = standings.family_of(profile)
    return family.parsers if family else {}


@dataclass(frozen=True, slots=True)
class Tested:
    """What a test is about; the endpoint holds a key and is never stored."""

    profile: int
    kind: str
    endpoint: Endpoint
    brief: Brief
    family_formats: tuple[str, ...]
    thinks: bool | None
    leak_flag: str


def tested(detection: int) -> Tested:
    """Raises Detection.DoesNotExist, ConfigError (the server's key cannot be read)."""
    row = Detection.objects.select_related("profile__server").get(pk=detection)
    profile = row.profile
    capabilities = standings.known(profile)
    asked = model_options.of(profile)
    family = standings.family_of(profile)
    thinking = capabilities["thinking"].value
    made = Brief(
        model=profile.name,
        capabilities=capabilities,
        # The context is the one of ordinary turns: another one would load the model anew.
        options={"num_ctx": asked.num_ctx},
        keep_alive=asked.keep_alive,
    )
    return Tested(
        profile=profile.pk,
        kind=row.kind,
        endpoint=servers.endpoint_of(profile.server, profile),
        brief=made,
        family_formats=(family.call_format, *family.alternatives) if family and family.call_format else (),
        thinks=thinking if isinstance(thinking, bool) else None,
        leak_flag=server_flags.left_in_text(profile.server.kind, _parsers(profile)),
    )
