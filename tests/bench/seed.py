"""Prepares a person, a session, a key and conversations for a measurement, and prints them as JSON."""

from __future__ import annotations

import json
import sys

import django


def main(counts: dict[str, int]) -> dict[str, object]:
    """`counts` is how many conversations each model needs. The paths come in the order of the counts."""
    from django.test import Client

    from tests.factories import ConversationFactory, UserFactory
    from toolsupport.models import ModelProfile
    from toolsupport.registry.people import api_keys

    person = UserFactory(username="bench", role="admin")
    client = Client()
    client.force_login(person)
    paths = {}
    for model, count in counts.items():
        profile = ModelProfile.objects.get(name__startswith=model)
        made = [ConversationFactory(owner=person, profile=profile) for _ in range(count)]
        paths[model] = [f"/ws/chat/{conversation.id}/" for conversation in made]
    cookie = f"sessionid={client.cookies['sessionid'].value}"
    return {"cookie": cookie, "key": api_keys.create(person.pk, "bench"), "paths": paths}


if __name__ == "__main__":
    django.setup()
    print(json.dumps(main(json.loads(sys.argv[1]))))
