"""Many signed-in people on a running site, each with a conversation; as a command it makes them and prints JSON."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import django
import httpx

from tests.serving import ROOT, Site

CROWD = 100
Person = dict[str, Any]


def crowd(site: Site, size: int = CROWD) -> list[Person]:
    environ = site.environ() | {"DJANGO_SETTINGS_MODULE": "toolsupport.config.settings"}
    command = [sys.executable, "-m", "tests.many_users", str(size)]
    return list(json.loads(subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, check=True).stdout))


def browser(site: Site, person: Person) -> httpx.Client:
    """The person's own browser, with the token that forms ask for."""
    client = httpx.Client(base_url=site.url, cookies={"sessionid": person["cookie"]}, timeout=30, trust_env=False)
    client.get("/account/")
    return client


def main(count: int) -> list[dict[str, Any]]:
    """Every person has the password of the factories, hashed once: hashing is made to be slow."""
    from django.contrib.auth.hashers import make_password
    from django.contrib.auth.models import Group, User
    from django.test import Client

    from tests.factories import PASSWORD, ConversationFactory

    hashed = make_password(PASSWORD)
    people = []
    already = User.objects.filter(username__startswith="crowd").count()  # sites are shared
    for number in range(already, already + count):
        person = User.objects.create(username=f"crowd{number}", password=hashed)
        person.groups.add(Group.objects.get(name="user"))
        client = Client()
        client.force_login(person)
        conversation = ConversationFactory(owner=person, profile=None)
        cookie = client.cookies["sessionid"].value
        made = {"id": person.pk, "name": person.username, "cookie": cookie, "conversation": str(conversation.pk)}
        people.append(made)
    return people


if __name__ == "__main__":
    django.setup()
    print(json.dumps(main(int(sys.argv[1]))))
