"""The cost of the heaviest pages on the server: `python -m tests.bench.pages`.

The table of models with 300 of them, the page of one of these, and a conversation of 500 messages: in milliseconds of
the processor, HTML included, and in queries.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from tempfile import TemporaryDirectory
from typing import Any

from tests.bench.verdicts import Line, Promise, table

MODELS, MESSAGES = 300, 500
MOST_MS, MOST_QUERIES = 100, 12
WORDS = "An ordinary paragraph of an answer, with **bold** words, `code` and a list:\n\n- one\n- two\n\n"
Cost = tuple[float, int]


def main() -> list[Line]:
    """The lines of the table; in a process of its own, since the settings of this one may be made already."""
    with TemporaryDirectory(prefix="toolsupport-bench-") as directory:
        given = {"TOOLSUPPORT_DATA_DIR": directory, "DJANGO_SETTINGS_MODULE": "toolsupport.config.settings"}
        command = [sys.executable, "-m", "tests.bench.pages", "inside"]
        done = subprocess.run(command, env=os.environ | given, check=True, stdout=subprocess.PIPE, text=True)
    lines = []
    for name, (spent, queries) in json.loads(done.stdout.splitlines()[-1]).items():
        lines.append(Line(name, Promise("ms of the processor", MOST_MS), spent))
        lines.append(Line(name, Promise("queries", MOST_QUERIES), queries))
    return lines


def inside() -> dict[str, Cost]:
    import django

    django.setup()
    from django.conf import settings
    from django.core.management import call_command
    from django.test import Client

    call_command("migrate", verbosity=0)
    settings.ALLOWED_HOSTS = ["testserver"]
    person, model, chat = fill()
    client = Client()
    client.force_login(person)
    pages = {"all models (300)": "/models/", "a model": f"/models/{model}/", "a chat of 500 messages": f"/chat/{chat}/"}
    return {name: cost(client, path) for name, path in pages.items()}


def fill() -> tuple[Any, int, object]:
    """People, models and a conversation: (who looks, a model, a conversation)."""
    from django.contrib.auth.models import Group, User

    from chat.models import Conversation, Message, Turn
    from tests.factories import ModelProfileFactory, ServerFactory

    person = User.objects.create(username="looker")
    person.groups.add(Group.objects.get(name="admin"))
    servers = [ServerFactory() for _ in range(3)]
    profiles = [ModelProfileFactory(server=servers[number % 3], name=f"qwen3:{number}b") for number in range(MODELS)]
    chat = Conversation.objects.create(owner=person, profile=profiles[0])
    for number in range(MESSAGES // 2):
        turn = Turn.objects.create(conversation=chat, client_id=str(number), profile=profiles[0], status="done")
        for role, text in (("user", WORDS[:60]), ("assistant", WORDS * 4)):
            chat.leaf = Message.objects.create(
                conversation=chat, parent=chat.leaf, role=role, content=text, turn=turn if role == "assistant" else None
            )
    chat.save()
    return person, profiles[7].pk, chat.pk


def cost(client: Any, path: str) -> Cost:
    """The median of seven in ms of the processor, and the queries of one."""
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    spent = []
    for _ in range(9):
        begun = time.process_time()
        answer = client.get(path)
        spent.append((time.process_time() - begun) * 1000)
        assert answer.status_code == 200, (path, answer.status_code)
    with CaptureQueriesContext(connection) as queries:
        client.get(path)
    return sorted(spent[2:])[3], len(queries)


if __name__ == "__main__":
    print(json.dumps(inside()) if sys.argv[1:] == ["inside"] else table(main()))
