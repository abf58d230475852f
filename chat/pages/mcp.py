"""Views of the MCP servers: add, test, approve their tools."""

from __future__ import annotations

from typing import Any

from asgiref.sync import async_to_sync
from django import forms
from django.http import HttpResponse
from django.views.decorators.http import require_GET, require_POST

from chat.mcp import mcp_hosts, server_check
from toolsupport.core.errors import Conflict
from toolsupport.core.remote_tools import MOST_TOOLS
from toolsupport.registry.mcp import mcp_servers, tool_approvals
from toolsupport.registry.people.permissions import Action
from toolsupport.web.pages.form_page import board, made
from toolsupport.web.view_permissions import AuthedRequest, requires

EXAMPLE = "https://…/mcp"


class McpServerForm(forms.Form):
    """An http server to add. The token is write-only."""

    name = forms.CharField(max_length=32, label="Name", help_text="Its tools are called name__tool.")
    url = forms.CharField(max_length=300, label="Address", widget=forms.URLInput(attrs={"placeholder": EXAMPLE}))
    token = forms.CharField(
        required=False,
        max_length=2000,
        label="Token",
        help_text="Only if the server needs one. It is stored encrypted and not shown again.",
        widget=forms.PasswordInput(attrs={"autocomplete": "off"}),
    )


@require_GET
@requires(Action.SEE_MODELS)
def listed(request: AuthedRequest) -> HttpResponse:
    """List every server: online, or offline since when and why, and which of its tools can be called."""
    return _answer(request, {})


@require_POST
@requires(Action.ADMINISTER)
def add(request: AuthedRequest) -> HttpResponse:
    """Add a server and query it at once; an offline one is stored with its error."""
    form = McpServerForm(request.POST)
    server_id = made(form, mcp_servers.add)
    return _answer(request, {"form": form}) if server_id is None else _tested(request, server_id)


@require_POST
@requires(Action.ADMINISTER)
def test(request: AuthedRequest, mcp_server_id: int) -> HttpResponse:
    """Query a server now."""
    return _tested(request, mcp_server_id)


@require_POST
@requires(Action.ADMINISTER)
def switch(request: AuthedRequest, mcp_server_id: int) -> HttpResponse:
    """Enable or disable a server."""
    mcp_servers.set_enabled(mcp_server_id, request.POST.get("enabled") == "1", int(request.user.pk))
    return _answer(request, {})


@require_POST
@requires(Action.ADMINISTER)
def trust(request: AuthedRequest, mcp_server_id: int) -> HttpResponse:
    """Set whether data that models send to a server stays internal."""
    mcp_servers.set_in_house(mcp_server_id, request.POST.get("in_house") == "1", int(request.user.pk))
    return _answer(request, {})


@require_POST
@requires(Action.ADMINISTER)
def remove(request: AuthedRequest, mcp_server_id: int) -> HttpResponse:
    """Remove a server that was added here."""
    mcp_servers.remove(mcp_server_id)
    return _answer(request, {"notice": "Removed, with its approvals."})


@require_POST
@requires(Action.ADMINISTER)
def approve(request: AuthedRequest, mcp_tool_id: int) -> HttpResponse:
    """Approve the definition that this person has read."""
    read_only = request.POST.get("read_only") == "1"
    try:
        tool_approvals.approve(mcp_tool_id, request.POST.get("digest", ""), read_only, int(request.user.pk))
    except Conflict as error:
        return _answer(request, {"wrong": str(error), "opened": mcp_tool_id})
    return _answer(request, {"opened": mcp_tool_id})


@require_POST
@requires(Action.ADMINISTER)
def approve_all(request: AuthedRequest, mcp_server_id: int) -> HttpResponse:
    """Approve the chosen definitions that this person has seen; definitions that changed since stay unapproved."""
    seen = _pins(request.POST.getlist("pin"))
    approved, left = tool_approvals.approve_all(mcp_server_id, seen, int(request.user.pk))
    return _answer(request, _approval_words(approved, left) | {"notice_for": mcp_server_id})


@require_POST
@requires(Action.ADMINISTER)
def mark(request: AuthedRequest, mcp_tool_id: int) -> HttpResponse:
    """Set whether a tool is read-only."""
    tool_approvals.set_read_only(mcp_tool_id, request.POST.get("read_only") == "1", int(request.user.pk))
    return _answer(request, {"opened": mcp_tool_id})


@require_POST
@requires(Action.ADMINISTER)
def switch_tool(request: AuthedRequest, mcp_tool_id: int) -> HttpResponse:
    """Enable or disable a tool."""
    mcp_servers.set_tool_enabled(mcp_tool_id, request.POST.get("enabled") == "1", int(request.user.pk))
    return _answer(request, {"saved": mcp_tool_id})


def _pins(sent: list[str]) -> dict[int, str]:
    """Return the digests by tool; other values are left out."""
    pairs = (one.partition(":") for one in sent[:MOST_TOOLS])
    return {int(tool): digest for tool, _, digest in pairs if tool.isascii() and tool.isdigit() and len(tool) < 19}


def _approval_words(approved: list[str], left: list[str]) -> dict[str, str]:
    notice = f"Approved: {', '.join(approved)}. Each tool still asks every time." if approved else ""
    changed = f"Not approved, because the definition changed since you read it: {', '.join(left)}." if left else ""
    return {"notice": notice, "wrong": changed if approved or left else "Select at least one tool."}


def _tested(request: AuthedRequest, server_id: int) -> HttpResponse:
    why = async_to_sync(server_check.ask)(server_id)
    return _answer(request, {"notice": f"Offline: {why}" if why else "Online.", "notice_for": server_id})


def _answer(request: AuthedRequest, notice: dict[str, Any]) -> HttpResponse:
    if request.method == "POST":
        mcp_hosts.current().nudge()
    context = {
        "servers": mcp_servers.shown(),
        "form": McpServerForm(),
        "may_administer": Action.ADMINISTER in request.actions,
        **notice,
    }
    return board(request, "chat/mcp.html", context)
