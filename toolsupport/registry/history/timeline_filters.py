"""Lists the choices of the history's filters."""

from __future__ import annotations

from django.contrib.auth.models import User

from toolsupport.core.verdicts import VERDICTS
from toolsupport.models import ModelProfile, Server
from toolsupport.registry.history.timeline import SOURCE_WORDS, WORDS
from toolsupport.registry.knowledge.effective_values import display_name
from toolsupport.registry.knowledge.reviews import AGREES, CONTRADICTED, DISAGREES

Choices = list[tuple[object, str]]

VERDICT_WORDS = {name: name for name in VERDICTS} | {
    AGREES: "agrees",
    DISAGREES: "disagrees",
    CONTRADICTED: "refused although confirmed",
}


def all_of_them() -> dict[str, Choices]:
    """Return the choices by field, in three queries."""
    profiles = ModelProfile.objects.order_by("name", "server__name").values_list("pk", "name", "server__name")
    return {
        "profile": [(pk, f"{name} ({server})") for pk, name, server in profiles],
        "server": list(Server.objects.order_by("name").values_list("pk", "name")),
        "actor": [(person.pk, display_name(person)) for person in User.objects.order_by("username")],
        "kind": list(WORDS.items()),
        "source": [(name, word) for name, word in SOURCE_WORDS.items() if name not in ("session", "default")],
        "verdict": list(VERDICT_WORDS.items()),
    }
