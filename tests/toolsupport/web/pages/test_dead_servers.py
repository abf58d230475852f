"""A server that does not answer, on the pages where people look for its models."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client

from tests.factories import ModelProfileFactory, ServerFactory
from tests.markup import flat
from tests.toolsupport.stand_in import Servers
from toolsupport.models import Detection, Server
from toolsupport.providers import ModelReport, ServerReport
from toolsupport.registry.knowledge import overrides
from toolsupport.registry.knowledge.overrides import NewOverride

pytestmark = pytest.mark.django_db(transaction=True)
HTMX = {"HX-Request": "true"}
BOX = "http://box:11434"


def _text(answer) -> str:
    assert answer.status_code == 200
    return answer.content.decode()


def down_since_nine(**fields: object) -> Server:
    found: Server = ServerFactory(
        name="dead",
        base_url=BOX,
        reachable=False,
        last_error="The server at box does not answer (connection refused).",
        down_since="2026-11-03T09:00Z",
        **fields,
    )
    return found


def test_a_dead_server_is_named_wherever_its_models_are_looked_for(
    client: Client, alice: User, bob: User, charlie: User
):
    server = down_since_nine()
    model = ModelProfileFactory(name="m:1b", server=server)
    others = ("/models/", "/start/", f"/models/{model.pk}/")
    for person, addresses, may_check in (
        (alice, others, True),
        (bob, (*others, f"/servers/{server.pk}/"), True),
        (charlie, others, False),
    ):
        client.force_login(person)
        for address in addresses:
            page = flat(_text(client.get(address)))
            line = page.partition("dead</b>: Offline since <time")[2].partition("</div>")[0]
            assert "3 Nov 2026" in line and "connection refused" in line and "ollama serve" in line, address
            assert ("Check again" in line, "Open server" in line) == (may_check, not may_check), (address, person)
            assert page.count("(connection refused)") == 1, "an error is shown once"
    client.force_login(alice)
    chat = client.post("/chat/new/").headers["Location"]
    rows = flat(_text(client.get(f"{chat}models/")))
    assert 0 < rows.index("dead</b>: Offline since <time") < rows.index('role="listbox"'), "it stands above the models"
    assert "dead · Offline" in flat(_text(client.get("/models/")))
    Server.objects.update(enabled=False)
    assert "dead</b>" not in _text(client.get("/models/"))


def test_the_page_of_a_dead_server_does_not_claim_that_it_lists_no_models(client: Client, bob: User):
    server = down_since_nine()
    client.force_login(bob)
    page = _text(client.get(f"/servers/{server.pk}/"))
    assert "lists no models" not in page and "The models are listed again once the server answers." in page
    Server.objects.update(reachable=None, last_error="")
    page = flat(_text(client.get(f"/servers/{server.pk}/")))
    assert "lists no models" not in page and "The models are not listed yet." in page
    Server.objects.update(reachable=True)
    assert "The server lists no models." in _text(client.get(f"/servers/{server.pk}/"))


def test_a_dead_server_is_checked_again_from_the_page_that_names_it(
    client: Client, alice: User, servers_out_there: Servers
):
    server = down_since_nine()
    client.force_login(alice)
    check = f"/servers/{server.pk}/check/"
    answer = client.post(check, {"back": "/models/"}, follow=True)
    assert answer.redirect_chain == [("/models/", 302)]
    page = flat(_text(answer))
    assert "Checked dead again. It is not online yet." in page and "dead</b>: Offline since" in page
    servers_out_there.reports[BOX] = ServerReport("0.13.0", (ModelReport("qwen3:8b"),))
    page = flat(_text(client.post(check, {"back": "/models/"}, follow=True)))
    assert "The server answered with 1 model." in page and "dead</b>" not in page and "qwen3:8b" in page
    for elsewhere in ("https://evil.example/", "//evil.example", "", "javascript:alert(1)"):
        assert client.post(check, {"back": elsewhere}).headers["Location"] == f"/servers/#server-{server.pk}"


def test_no_test_is_offered_for_models_of_a_dead_server(client: Client, alice: User):
    ModelProfileFactory(name="m:1b", server=down_since_nine())
    client.force_login(alice)
    matrix, start = (flat(_text(client.get(address))) for address in ("/models/", "/start/"))
    assert "untested" not in matrix.partition('id="bulk"')[2].partition("</header>")[0]
    assert "data-testable" not in matrix and 'id="test-all"' not in start
    assert "The others are on servers that do not answer." in start and "Every model has a result." not in start
    client.post("/models/detect/", {"only": "untested"}, headers=HTMX)
    client.post("/start/test/", headers=HTMX)
    assert not Detection.objects.exists()
    Server.objects.update(reachable=True)
    assert "Test 1 untested" in flat(_text(client.get("/models/"))) and 'id="test-all"' in _text(client.get("/start/"))


def test_models_of_a_dead_server_do_not_count_among_those_that_work(client: Client, alice: User):
    server = down_since_nine()
    model = ModelProfileFactory(name="m:1b", server=server)
    overrides.add(NewOverride(model.pk, "tools", True, "auto_detected"))
    client.force_login(alice)
    chat = client.post("/chat/new/").headers["Location"]
    for reachable, works in ((False, 0), (True, 1)):
        Server.objects.update(reachable=reachable)
        rows = flat(_text(client.get(f"{chat}models/")))
        assert f"Works with tools <b>{works}</b>" in rows, reachable
        assert (" data-tools" in rows) is reachable, "the filter shows what it counts"
