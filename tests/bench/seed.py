"""Prepares people, sessions, keys and conversations for a measurement, and prints them as JSON."""

from __future__ import annotations

import json
import sys
from typing import Any

import django

CHATS_A_PERSON = 4


def main(counts: dict[str, int]) -> dict[str, Any]:
    """`counts` is how many conversations each model needs; four belong to one person, and no person has two models.

    For each model: its pages as [path, cookie] and a key for each of its people.
    """
    from tests.factories import ConversationFactory
    from toolsupport.models import ModelProfile
    from toolsupport.registry.people import api_keys

    found: dict[str, Any] = {}
    for model, count in counts.items():
        profile = ModelProfile.objects.get(name__startswith=model)
        pages, keys = [], []
        for number in range(0, count, CHATS_A_PERSON):
            person, cookie = someone(f"{model}-{number}")
            keys.append(api_keys.create(person.pk, "bench"))
            for _ in range(min(CHATS_A_PERSON, count - number)):
                chat = ConversationFactory(owner=person, profile=profile)
                pages.append([f"/ws/chat/{chat.id}/", cookie])
        found[model] = {"pages": pages, "keys": keys}
    return found


def someone(name: str) -> tuple[Any, str]:
    """A new person, with the cookie of a session."""
    from django.contrib.auth.models import Group, User
    from django.test import Client

    person = User.objects.create(username=name)
    person.groups.add(Group.objects.get(name="user"))
    client = Client()
    client.force_login(person)
    return person, f"sessionid={client.cookies['sessionid'].value}"


if __name__ == "__main__":
    django.setup()
    print(json.dumps(main(json.loads(sys.argv[1]))))
