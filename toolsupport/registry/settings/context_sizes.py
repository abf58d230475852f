"""Stores the requested context of each model, which may be raised and reverted while it is used (F8, F9)."""

from __future__ import annotations

from typing import Any

from django.db import transaction

from toolsupport import providers
from toolsupport.core.prompt.context_fitting import ContextWindow
from toolsupport.models import ModelProfile

DEFAULT = 8192  # tokens
FIELDS = ("default_context", "context_before", "context_failed", "context_build")
LOADED_WITH = "ollama"  # the protocol in which a request sets the context that the model is loaded with


def num_ctx(profile: ModelProfile) -> int:
    """Return the requested context, never more than the model was trained with."""
    return min(profile.default_context, profile.context_length or profile.default_context)


def is_asked_for(profile: ModelProfile) -> bool:
    """Return whether a request sets the context; other servers get it when they start."""
    return providers.provider(profile.server.kind).wire == LOADED_WITH


def window(profile: ModelProfile) -> ContextWindow:
    """Return the current context. A failure of another build proves nothing about this one."""
    if not is_asked_for(profile):
        return ContextWindow(profile.context_length or 0)
    given = num_ctx(profile)
    failed = profile.context_failed if profile.context_build == profile.build.key else 0
    grows = profile.options.get("grows") is not False
    return ContextWindow(given, (profile.context_length or given) if grows else given, profile.context_before, failed)


def take_modelfile(profile: ModelProfile, modelfile: dict[str, Any]) -> None:
    """Set the values of a Modelfile (not saved yet). Its num_ctx is used until a person sets or raises another."""
    before = (profile.modelfile or {}).get("num_ctx", DEFAULT)
    if profile.default_context == before and not profile.context_before:
        profile.default_context = modelfile.get("num_ctx", DEFAULT)
    profile.modelfile = modelfile


def choose(profile: ModelProfile, context: int) -> None:
    """Set a person's choice (not saved yet): sizes that failed to load may be tried again."""
    if context != profile.default_context:
        profile.context_before, profile.default_context = num_ctx(profile), context
        profile.context_failed, profile.context_build = 0, ""


@transaction.atomic
def raise_to(profile_id: int, seen: ContextWindow, context: int) -> ContextWindow:
    """Request more from now on, for everyone; if it was changed since it was `seen`, that stays."""
    profile = _held(profile_id)
    if num_ctx(profile) != seen.given:
        return window(profile)
    return _keep(profile, window(profile).raised(context))


@transaction.atomic
def take_back(profile_id: int, seen: ContextWindow) -> ContextWindow | None:
    """Return to the previous context; None if that was not smaller, so it was not the cause."""
    profile = _held(profile_id)
    if num_ctx(profile) != seen.given:
        return window(profile) if num_ctx(profile) < seen.given else None
    earlier = window(profile).taken_back()
    return _keep(profile, earlier) if earlier else None


def _held(profile_id: int) -> ModelProfile:
    return ModelProfile.objects.select_for_update(of=("self",)).select_related("server").get(pk=profile_id)


def _keep(profile: ModelProfile, now: ContextWindow) -> ContextWindow:
    profile.default_context, profile.context_before = now.given, now.before
    profile.context_failed, profile.context_build = now.failed, profile.build.key if now.failed else ""
    profile.save(update_fields=FIELDS)
    return window(profile)
