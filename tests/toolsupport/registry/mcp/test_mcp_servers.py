"""MCP servers and their tools: defined, seen, approved, changed, called or not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from tests.factories import McpServerFactory, McpToolFactory
from toolsupport.core.errors import ConfigError, Conflict, NotFound
from toolsupport.core.remote_tools import RemoteTool, checked
from toolsupport.models import Audit, McpServer, McpTool
from toolsupport.registry.mcp import mcp_servers, reported_tools, tool_approvals
from toolsupport.registry.people import audit_log

pytestmark = pytest.mark.django_db


def definition(name: str = "send", **parts: Any) -> dict[str, Any]:
    return {"name": name, "description": "Sends it.", "inputSchema": {"type": "object"}} | parts


@pytest.fixture
def server() -> int:
    return mcp_servers.add("mail", "https://mail.example/mcp", "canary-token")


def callable_tools() -> tuple[RemoteTool, ...]:
    known = mcp_servers.known_tools()
    return tuple(one for one in known if one.enabled and one.connected and one.approved and not one.missing)


def only() -> mcp_servers.ShownMcpTool:
    (shown,) = mcp_servers.shown()
    (tool,) = shown.tools
    return tool


def test_a_new_tool_waits_and_is_not_called(server: int) -> None:  # T4
    liar = definition(annotations={"readOnlyHint": True})
    reported_tools.seen(server, "mail 1.0", checked([liar]))
    assert only().state == "new"
    assert mcp_servers.known_tools() == ()


def test_what_was_approved_is_called_and_asks(server: int, bob: User) -> None:
    liar = definition(annotations={"readOnlyHint": True})
    reported_tools.seen(server, "mail 1.0", checked([liar]))
    tool_approvals.approve(only().id, only().waiting_digest, False, bob.pk)
    (tool,) = callable_tools()
    assert (tool.spec.name, tool.level, tool.read_only) == ("mail__send", "A3", False)
    assert "mail__send of digest" in Audit.objects.get().reason


def test_marked_by_an_administrator_it_runs_unasked(server: int, bob: User) -> None:
    reported_tools.seen(server, "", checked([definition()]))
    tool_approvals.approve(only().id, only().waiting_digest, True, bob.pk)
    assert callable_tools()[0].level == "A1"
    tool_approvals.set_read_only(only().id, False, bob.pk)
    assert callable_tools()[0].level == "A3"
    assert Audit.objects.count() == 2


def test_a_change_takes_it_away_until_it_is_approved_again(server: int, bob: User) -> None:  # SAFETY 3.3
    reported_tools.seen(server, "", checked([definition()]))
    tool_approvals.approve(only().id, only().waiting_digest, True, bob.pk)
    reported_tools.seen(server, "", checked([definition(description="Sends it, and deletes the rest.")]))
    assert only().state == "changed" and "deletes the rest" in only().diff
    assert callable_tools() == ()
    assert not mcp_servers.known_tools()[0].approved
    tool_approvals.approve(only().id, only().waiting_digest, False, bob.pk)
    (tool,) = callable_tools()
    assert tool.level == "A3" and "deletes" in tool.spec.description


def test_a_change_taken_back_needs_nobody(server: int, bob: User) -> None:
    reported_tools.seen(server, "", checked([definition()]))
    tool_approvals.approve(only().id, only().waiting_digest, False, bob.pk)
    reported_tools.seen(server, "", checked([definition(title="x")]))
    reported_tools.seen(server, "", checked([definition()]))
    assert only().state == "ready" and only().diff == ""


def test_nobody_approves_what_they_did_not_read(server: int, bob: User) -> None:
    reported_tools.seen(server, "", checked([definition()]))
    read = only().waiting_digest
    reported_tools.seen(server, "", checked([definition(description="Something else.")]))
    with pytest.raises(Conflict):
        tool_approvals.approve(only().id, read, False, bob.pk)
    assert mcp_servers.known_tools() == () and not Audit.objects.exists()


def levels() -> dict[str, str]:
    return {tool.name: tool.level for tool in callable_tools()}


# SAFETY 3.3: whatever the servers claim, and whatever was allowed before
def test_approving_several_pins_definitions_and_grants_nothing_else(server: int, bob: User) -> None:
    names = ("send", "read", "list", "gone", "off")
    claims = {"annotations": {"readOnlyHint": True}}
    reported_tools.seen(server, "", checked([definition(name) for name in names]))
    for tool in McpTool.objects.all():
        tool_approvals.approve(tool.pk, tool.waiting_digest, True, bob.pk)
    mcp_servers.set_tool_enabled(McpTool.objects.get(name="off").pk, False, bob.pk)
    assert set(levels().values()) == {"A1"}
    reported_tools.seen(server, "", checked([definition(name, **claims) for name in names if name != "gone"]))
    McpTool.objects.filter(name="gone").update(waiting={"x": 1}, waiting_digest="c" * 64)
    seen = dict(McpTool.objects.values_list("pk", "waiting_digest"))
    # One of them changes between the page and the click, another belongs to another server.
    newer = [
        definition(name, **claims, **({"title": "x"} if name == "list" else {})) for name in names if name != "gone"
    ]
    reported_tools.seen(server, "", checked(newer))
    stranger = McpToolFactory(digest="", waiting=definition(), waiting_digest="d" * 64)
    Audit.objects.all().delete()
    approved, left = tool_approvals.approve_all(server, seen | {stranger.pk: "d" * 64}, bob.pk)
    assert (approved, left) == (["off", "read", "send"], ["gone", "list"])
    assert levels() == {"send": "A3", "read": "A3"}
    assert not McpTool.objects.filter(read_only=True, name__in=approved).exists()
    assert McpTool.objects.get(pk=stranger.pk).digest == ""
    assert [row.subject for row in Audit.objects.order_by("id")] == [f"mail__{name}" for name in approved]
    assert audit_log.broken_at() is None
    # The same click once more finds nothing to approve.
    assert tool_approvals.approve_all(server, seen, bob.pk)[0] == []
    with pytest.raises(NotFound):
        tool_approvals.approve_all(987654, seen, bob.pk)


def test_a_tool_that_is_gone_is_not_called_and_comes_back(server: int, bob: User) -> None:
    reported_tools.seen(server, "", checked([definition()]))
    tool_approvals.approve(only().id, only().waiting_digest, False, bob.pk)
    reported_tools.seen(server, "", checked([]))
    assert only().state == "gone" and callable_tools() == ()
    reported_tools.seen(server, "", checked([definition()]))
    assert only().state == "ready"


def test_a_server_that_renames_its_tools_leaves_no_rows_behind(server: int, bob: User) -> None:
    reported_tools.seen(server, "", checked([definition()]))
    tool_approvals.approve(only().id, only().waiting_digest, False, bob.pk)
    for number in range(3):
        reported_tools.seen(server, "", checked([definition(f"new{number}-{one}") for one in range(20)]))
    assert McpTool.objects.count() == 21 and McpTool.objects.get(name="send").gone_since is not None
    # What did not change is not written again.
    with CaptureQueriesContext(connection) as queries:
        reported_tools.seen(server, "", checked([definition(f"new2-{one}") for one in range(20)]))
    assert not [one for one in queries if one["sql"].startswith("UPDATE") and "mcptool" in one["sql"]]


def test_what_is_switched_off_or_away_is_not_called(bob: User) -> None:
    off = McpToolFactory(enabled=False)
    McpToolFactory(server=McpServerFactory(enabled=False))
    away = McpToolFactory(server=McpServerFactory(reachable=False))
    known = mcp_servers.known_tools()
    assert [(tool.enabled, tool.connected, not tool.missing) for tool in known].count((True, True, True)) == 0
    assert [tool.missing for tool in known if tool.missing] == [f"Its server {away.server.name} does not answer."]
    assert callable_tools() == ()
    mcp_servers.set_tool_enabled(off.pk, True, bob.pk)
    assert [tool.name for tool in callable_tools()] == [off.name]


# SAFETY 3.5
def test_what_no_longer_stays_in_the_house_is_not_called_as_if_it_did(bob: User) -> None:
    row = McpToolFactory(read_only=True, server=McpServerFactory(in_house=True))
    (tool,) = callable_tools()
    assert tool.in_house and mcp_servers.may_still_be_called(tool)
    mcp_servers.set_in_house(row.server_id, False, bob.pk)
    assert not mcp_servers.may_still_be_called(tool)
    assert Audit.objects.latest("id").deed == "trust_server"
    with pytest.raises(NotFound):
        mcp_servers.set_in_house(0, True, bob.pk)


def test_since_when_it_is_down_is_kept_and_secrets_are_not(server: int) -> None:
    mcp_servers.reached(server)  # the token is known from here on
    reported_tools.failed(server, "refused canary-token")
    first = McpServer.objects.get().down_since
    reported_tools.failed(server, "refused again")
    (shown,) = mcp_servers.shown()
    assert shown.down_since == first and shown.why == "refused again"
    reported_tools.failed(server, "refused canary-token")
    assert "canary" not in mcp_servers.shown()[0].why
    reported_tools.seen(server, "mail 2", checked([]))
    assert mcp_servers.shown()[0].down_since is None


def test_a_token_lies_encrypted_and_is_told_to_nobody(server: int) -> None:  # SAFETY 2 (Secrets)
    assert "canary" not in McpServer.objects.get().token
    assert mcp_servers.reached(server).token == "canary-token"
    assert "canary" not in repr(mcp_servers.reached(server)) + repr(mcp_servers.shown())


@pytest.mark.parametrize(
    ("name", "url"),
    [
        ("mail", "https://x"),
        ("MAIL", "https://x"),
        ("a b", "https://x"),
        ("a__b", "https://x"),
        ("_a", "https://x"),
        ("x" * 33, "https://x"),
        ("ok", "ftp://x"),
        ("ok", "file:///etc/passwd"),
        ("ok", "x"),
        ("ok", "https://ana:pw@x"),
        ("ok", "http://[::"),
    ],
)
def test_a_server_that_cannot_be_is_refused(server: int, name: str, url: str) -> None:
    with pytest.raises(ConfigError):
        mcp_servers.add(name, url)
    assert McpServer.objects.count() == 1


def test_one_that_is_forgotten_takes_its_approvals_along(server: int) -> None:
    reported_tools.seen(server, "", checked([definition()]))
    mcp_servers.remove(server)
    assert not McpTool.objects.exists()
    reported_tools.seen(server, "", checked([definition()]))  # what was being asked meanwhile
    reported_tools.failed(server, "")
    with pytest.raises(NotFound):
        mcp_servers.remove(server)


# -- servers that are started here --


@pytest.fixture
def stdio(settings: Settings, tmp_path: Path) -> Path:
    path = tmp_path / "servers.json"
    settings.ENV = settings.ENV | {"TOOLSUPPORT_MCP_STDIO": str(path)}
    return path


def test_a_command_comes_from_the_file_only(stdio: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # SAFETY 3.10
    monkeypatch.setenv("CLOCK_KEY", "canary-value")
    entry = {"command": "clock", "args": ["--utc"], "env": ["CLOCK_KEY"]}
    stdio.write_text(json.dumps({"mcpServers": {"clock": entry}}))
    mcp_servers.ensure_stdio()
    (server,) = mcp_servers.enabled_servers()
    assert (server.command, server.args, dict(server.env)) == ("clock", ("--utc",), {"CLOCK_KEY": "canary-value"})
    assert "canary" not in repr(server) + repr(mcp_servers.shown())
    assert mcp_servers.shown()[0].reached_by == "clock"
    with pytest.raises(NotFound):
        mcp_servers.remove(server.id)


def test_one_that_the_file_names_no_more_is_not_started(stdio: Path) -> None:
    stdio.write_text(json.dumps({"mcpServers": {"clock": {"command": "clock"}}}))
    mcp_servers.ensure_stdio()
    stdio.write_text('{"mcpServers": {}}')
    assert mcp_servers.enabled_servers() == ()
    assert "is no longer in the file" in mcp_servers.shown()[0].why


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "is not JSON"),
        ('{"mcpServers": {"a": {"command": "x"}, "a": {"command": "y"}}}', "'a' stands there twice"),
        ("[]", "should read"),
        ('{"mcpServers": []}', "should read"),
        ('{"mcpServers": {"a b": {"command": "x"}}}', "needs a name"),
        ('{"mcpServers": {"a": "x"}}', "may have only"),
        ('{"mcpServers": {"a": {"command": "x", "url": "http://x"}}}', "may have only"),
        ('{"mcpServers": {"a": {}}}', "needs a command"),
        ('{"mcpServers": {"a": {"command": 3}}}', "needs a command"),
        ('{"mcpServers": {"a": {"command": "x", "args": "y"}}}', "lists of texts"),
        ('{"mcpServers": {"a": {"command": "x", "env": {"KEY": "value"}}}}', "lists of texts"),
    ],
)
def test_a_file_that_cannot_be_used_says_why(stdio: Path, text: str, why: str) -> None:
    stdio.write_text(text)
    with pytest.raises(ConfigError, match=why):
        mcp_servers.ensure_stdio()


def test_a_file_that_is_not_there_says_so(stdio: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        mcp_servers.ensure_stdio()


def test_a_variable_that_is_not_set_keeps_it_from_starting(stdio: Path) -> None:
    stdio.write_text(json.dumps({"mcpServers": {"clock": {"command": "clock", "env": ["NO_SUCH_VARIABLE"]}}}))
    mcp_servers.ensure_stdio()
    assert mcp_servers.enabled_servers() == ()
    with pytest.raises(ConfigError, match="NO_SUCH_VARIABLE"):
        mcp_servers.reached(McpServer.objects.get().pk)


def test_a_name_of_an_http_server_is_not_taken_over(stdio: Path) -> None:
    mcp_servers.add("clock", "https://clock.example/mcp")
    stdio.write_text(json.dumps({"mcpServers": {"clock": {"command": "clock"}}}))
    with pytest.raises(ConfigError, match="http server already"):
        mcp_servers.ensure_stdio()


def test_a_token_that_no_header_holds_is_refused() -> None:
    with pytest.raises(ConfigError, match="A key has letters, digits and signs of ASCII only"):
        mcp_servers.add("far", "https://mcp.example.org/", "a–b")
    assert not McpServer.objects.exists()
