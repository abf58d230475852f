"""Makes many signed-in people on a site's data directory, each with a conversation, and prints them as JSON."""

from __future__ import annotations

import json
import sys
from typing import Any

import django


def main(count: int) -> list[dict[str, Any]]:
    """Every person has the password of the factories, hashed once: hashing is made to be slow."""
    from django.contrib.auth.hashers import make_password
    from django.contrib.auth.models import Group, User
    from django.test import Client

    from tests.factories import PASSWORD, ConversationFactory

    hashed = make_password(PASSWORD)
    people = []
    for number in range(count):
        person = User.objects.create(username=f"crowd{number}", password=hashed)
        person.groups.add(Group.objects.get(name="user"))
        client = Client()
        client.force_login(person)
        conversation = ConversationFactory(owner=person, profile=None)
        cookie = client.cookies["sessionid"].value
        people.append({"id": person.pk, "cookie": cookie, "conversation": str(conversation.pk)})
    return people


if __name__ == "__main__":
    django.setup()
    print(json.dumps(main(int(sys.argv[1]))))
