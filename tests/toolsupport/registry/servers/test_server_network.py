"""Whether a server may be inside this network: the default, the choice, its audit, the connection."""

from __future__ import annotations

from io import StringIO

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client

from tests.toolsupport.stand_in import Servers
from toolsupport.models import Server
from toolsupport.registry.people import audit_log
from toolsupport.registry.servers import server_edits, servers

pytestmark = pytest.mark.django_db(transaction=True)
BOX = {"name": "Box", "kind": "ollama", "base_url": "http://box:11434"}


def test_an_administrator_chooses_and_the_audit_shows_it(
    client: Client, alice: User, bob: User, servers_out_there: Servers
) -> None:  # S4
    client.force_login(bob)
    client.post("/servers/add/", BOX)
    row = Server.objects.get()
    assert row.inside and servers.endpoint(row.pk).inside
    assert "May be inside this network" in client.get("/servers/").content.decode()
    address = f"/servers/{row.pk}/edit/"
    client.post(address, BOX | {"inside": "outside"})
    assert not servers.endpoint(row.pk).inside
    assert '<option value="outside" selected>' in client.get(f"/servers/{row.pk}/").content.decode()
    done = [entry.reason for entry in audit_log.of(server_edits.subject(row.pk))]
    assert done == [
        "Box: changed network (only outside this network).",
        "Added Box (http://box:11434), may be inside this network.",
    ]
    client.force_login(alice)
    assert client.post(address, BOX | {"inside": "inside"}).status_code == 403
    assert not Server.objects.get().inside


def test_the_command_has_the_choice(servers_out_there: Servers) -> None:
    out = StringIO()
    call_command("add_server", "far", "https://far.example", "--kind", "openai", "--outside-only", stdout=out)
    assert not Server.objects.get().inside and "Added far, only outside this network;" in out.getvalue()
