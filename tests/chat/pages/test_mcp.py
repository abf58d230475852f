"""The page of the MCP servers, for Alice, Bob, Charlie and strangers."""

from __future__ import annotations

import re

import pytest
from channels.db import database_sync_to_async as in_database
from django.contrib.auth.models import User
from django.test import Client

from chat.mcp import server_check
from tests.factories import McpServerFactory, McpToolFactory
from tests.markup import flat
from toolsupport.core.remote_tools import checked
from toolsupport.models import Audit, McpServer, McpTool
from toolsupport.registry.mcp import reported_tools

pytestmark = pytest.mark.django_db(transaction=True)
HTMX = {"HX-Request": "true"}
SENT = {"name": "mail", "url": "https://mail.example/mcp", "token": "canary-token"}
SEND = {"name": "send", "description": "Sends <b>it</b>.", "inputSchema": {"type": "object"}}


def text(answer) -> str:
    assert answer.status_code == 200
    return str(answer.content.decode())


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Servers answer with one tool, without being asked; gives which."""
    asked: list[int] = []

    async def ask(server_id: int) -> str:
        asked.append(server_id)
        await in_database(reported_tools.seen)(server_id, "mail 1.0", checked([SEND]))
        return ""

    monkeypatch.setattr(server_check, "ask", ask)
    return asked


def test_bob_defines_a_server_approves_its_tool_and_switches_it_off(client: Client, bob: User, answers: list[int]):
    client.force_login(bob)
    part = text(client.post("/tools/mcp/add/", SENT, headers=HTMX))
    assert "Online." in part and "1 needs approval" in part and "<html" not in part
    assert "Sends &lt;b&gt;it&lt;/b&gt;." in part and "canary" not in part
    tool = McpTool.objects.get()
    digest = re.search(r'name="digest" value="(\w+)"', part)
    assert digest
    part = text(client.post(f"/tools/mcp/tools/{tool.pk}/approve/", {"digest": digest[1]}, headers=HTMX))
    assert "Asks every time" in flat(part) and "approved by bob" in part
    assert "Asks in a chat with outside content" in text(
        client.post(f"/tools/mcp/tools/{tool.pk}/mark/", {"read_only": "1"}, headers=HTMX)
    )
    part = text(client.post(f"/tools/mcp/tools/{tool.pk}/switch/", headers=HTMX))
    assert "data-off" in part and "Saved" in part and not McpTool.objects.get().enabled
    assert "stays internal" in text(client.post(f"/tools/mcp/{tool.server_id}/trust/", {"in_house": "1"}))
    assert "stays internal" in Audit.objects.latest("id").reason
    client.post(f"/tools/mcp/{tool.server_id}/switch/", {"enabled": "0"})
    assert McpServer.objects.get().enabled is False
    assert "Removed, with its approvals" in text(client.post(f"/tools/mcp/{tool.server_id}/remove/", headers=HTMX))
    assert answers == [tool.server_id]


def test_a_definition_that_changed_meanwhile_is_not_approved(client: Client, bob: User):
    tool = McpToolFactory(waiting=SEND, waiting_digest="b" * 64)
    client.force_login(bob)
    part = text(client.post(f"/tools/mcp/tools/{tool.pk}/approve/", {"digest": "a" * 64}, headers=HTMX))
    assert "has changed since you read it" in part
    tool.refresh_from_db()
    assert tool.waiting == SEND


def pins(page: str, form: str) -> list[str]:
    """What a button of the page sends."""
    (buttons,) = re.findall(form, page, re.DOTALL)
    return re.findall(r'value="(\d+:\w+)"', buttons)


def test_bob_approves_several_at_once_and_what_changed_meanwhile_stays(client: Client, bob: User, answers: list[int]):
    reading = {"name": "find", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}}
    deleting = reading | {"name": "wipe", "annotations": {"readOnlyHint": True, "destructiveHint": True}}
    server = McpServerFactory()
    reported_tools.seen(server.pk, "", checked([SEND, reading, deleting]))
    client.force_login(bob)
    page = flat(text(client.get("/tools/mcp/")))
    find, send, wipe = (f"{tool.pk}:{tool.waiting_digest}" for tool in McpTool.objects.order_by("name"))
    assert pins(page, r'<form method="post" action="/tools/mcp/\d+/approve/".*?</form>') == [find]
    assert "Approve 1 claimed read-only" in flat(page) and "Server claims: read-only" in page
    assert re.findall(r'name="pin" value="([\d\w:]+)" form', page) == [find, send, wipe]
    reported_tools.seen(server.pk, "", checked([SEND | {"title": "x"}, reading, deleting]))
    sent = {"pin": [find, send, "x", "1", f"{10**30}:a"]}
    part = text(client.post(f"/tools/mcp/{server.pk}/approve/", sent, headers=HTMX))
    assert "Approved: find." in part and "changed since you read it: send." in part
    assert list(McpTool.objects.exclude(digest="").values_list("name", "read_only")) == [("find", False)]
    assert "Asks every time" in flat(part)
    assert "Select at least one" in text(client.post(f"/tools/mcp/{server.pk}/approve/", {"pin": "x"}, headers=HTMX))


@pytest.mark.parametrize(
    "field", [{"name": "a b"}, {"url": "file:///etc/passwd"}, {"name": ""}, {"command": "sh", "url": ""}]
)
def test_what_cannot_be_a_server_is_told_and_not_kept(client: Client, bob: User, field: dict[str, str]):
    client.force_login(bob)
    assert "errorlist" in text(client.post("/tools/mcp/add/", SENT | field, headers=HTMX))
    assert not McpServer.objects.exists()


def test_one_that_does_not_answer_is_kept_and_says_why(client: Client, bob: User):
    server = McpServerFactory(reachable=None)
    client.force_login(bob)
    part = text(client.post(f"/tools/mcp/{server.pk}/test/", headers=HTMX))
    assert "Offline" in part and "cannot be reached" in part
    server.refresh_from_db()
    assert server.reachable is False and server.down_since is not None


def test_everybody_else_reads(client: Client, alice: User, charlie: User):
    tool = McpToolFactory(server=McpServerFactory(reachable=False, last_error="Connection refused."))
    for person in (alice, charlie):
        client.force_login(person)
        page = text(client.get("/tools/mcp/"))
        assert tool.name in page and "Connection refused." in page
        for word in ("Approve", "Refresh", "Check again", "Add MCP server", "Switch off", "mcp-pick"):
            assert word not in page
        for path in (
            "add/",
            f"{tool.server_id}/test/",
            f"{tool.server_id}/switch/",
            f"{tool.server_id}/trust/",
            f"{tool.server_id}/approve/",
            f"tools/{tool.pk}/approve/",
        ):
            assert client.post(f"/tools/mcp/{path}", SENT).status_code == 403
    client.logout()
    assert client.get("/tools/mcp/").headers["Location"].startswith("/login/")
    assert McpServer.objects.count() == 1
