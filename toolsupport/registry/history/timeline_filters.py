"""Lists the choices of the history's filters."""

from __future__ import annotations

from django.contrib.auth.models import User

from toolsupport.core.name_order import by_name
from toolsupport.core.verdicts import VERDICTS
from toolsupport.models import ModelProfile
from toolsupport.registry.history.rows import OPINIONS
from toolsupport.registry.history.timeline import SOURCE_WORDS, WORDS
from toolsupport.registry.knowledge.effective_values import display_name

Choices = list[tuple[object, str]]

VERDICT_WORDS = {name: f"{words[:1].upper()}{words[1:]}" for name, words in VERDICTS.items()} | {
    name: words.capitalize() for name, words in OPINIONS.items()
}


def all_of_them() -> dict[str, Choices]:
    """Return the choices by field, in two queries; a server without a model has no history."""
    rows = ModelProfile.objects.order_by().values_list("pk", "name", "server", "server__name")
    profiles = sorted(rows, key=lambda row: by_name(row[1], row[3]))
    people = sorted(User.objects.all(), key=lambda person: by_name(person.username))
    servers = {server: name for _, _, server, name in profiles}
    return {
        "profile": [(pk, f"{name} ({server})") for pk, name, _, server in profiles],
        "server": sorted(servers.items(), key=lambda one: by_name(one[1])),
        "actor": [(person.pk, display_name(person)) for person in people],
        "kind": list(WORDS.items()),
        "source": [(name, word) for name, word in SOURCE_WORDS.items() if name not in ("session", "default")],
        "verdict": list(VERDICT_WORDS.items()),
    }
