"""The page *Why these tools* shows each reason in a sentence, and no code of a rule."""

from __future__ import annotations

import re
from dataclasses import replace
from types import MappingProxyType

import pytest
from django.contrib.auth.models import AnonymousUser, User
from django.template.loader import render_to_string
from django.test import RequestFactory

from chat.transcript.conversations import next_request
from chat.transcript.conversations.next_request import ExplainedTool
from tests.factories import ModelProfileFactory
from tests.markup import flat
from tests.words_on_pages import faults_of_text
from toolsupport.core import shell_translation
from toolsupport.core.tool_selection import BARRIERS, LIMITS, RULES, Candidate, Toolbox, ToolPreferences, choose
from toolsupport.core.types import Capabilities, Capability, ToolFilter, ToolSpec
from toolsupport.registry.knowledge import overrides
from toolsupport.registry.knowledge.overrides import NewOverride
from toolsupport.services import context_guard

ALL = (*BARRIERS, *RULES, *sorted(LIMITS), *next_request.DECIDED_LATE)
TEXT = re.compile(r">([^<]*)<")
READ = Candidate(ToolSpec("read_file"))
TOOL_OF_SERVER = Candidate(ToolSpec("w.read"), kind="mcp", server="wiki", materialised=True)
MANY = tuple(replace(TOOL_OF_SERVER, spec=ToolSpec(f"w{number}")) for number in range(4))


def chosen(candidate: Candidate, preferences: ToolPreferences | None = None, **known: object) -> Toolbox:
    found = {
        name: Capability(name, value, "declared", "The server lists it.")
        for name, value in ({"tools": True} | known).items()
    }
    return choose(Capabilities(found), [candidate, *MANY], preferences or ToolPreferences())


WITHOUT = ToolPreferences(team=ToolFilter(frozenset({"read_file"}), frozenset({"wiki"})))
DATABASE = Candidate(ToolSpec("execute_sql"), kind="sql", connected=False)
# Code of a rule → a decision in which it excludes a tool.
DECISIONS = MappingProxyType(
    {
        "tools_off": chosen(READ, ToolPreferences(tools_on=False)),
        "tool_choice": chosen(READ, ToolPreferences(may_call=False)),
        "unknown": chosen(READ, tools=None),
        "unsupported": chosen(READ, tools=False),
        "server_disabled": chosen(replace(TOOL_OF_SERVER, connected=False)),
        "no_source": chosen(DATABASE),
        "disabled": chosen(replace(READ, enabled=False)),
        "unapproved": chosen(replace(TOOL_OF_SERVER, approved=False)),
        "missing": chosen(replace(READ, missing="There is no sandbox.")),
        "server_filtered": chosen(TOOL_OF_SERVER, WITHOUT),
        "filtered": chosen(READ, WITHOUT),
        "format": chosen(TOOL_OF_SERVER),
        "nothing_deferred": chosen(Candidate(ToolSpec("tool_search"), kind="search")),
        "deferred": chosen(replace(MANY[0], spec=ToolSpec("w9"), materialised=False)),
        "mcp_limit": chosen(READ),
        "max_tools": chosen(READ, max_tools=0),
    }
)
LATE = {"translated": shell_translation.INSTEAD, context_guard.NO_ROOM: context_guard.REASON}


def reason_of(code: str) -> str:
    """Return the reason that a rule of this code gives. A code without one fails here."""
    found = {one.rule: one.reason for one in DECISIONS[code].excluded} if code in DECISIONS else LATE
    return found[code]


@pytest.mark.parametrize("code", ALL)
def test_each_reason_is_a_sentence(code: str) -> None:
    reason = reason_of(code)
    assert re.fullmatch(r"[A-Z].*\.", reason) and code not in reason.split()
    assert list(faults_of_text(reason)) == []


@pytest.mark.django_db
def test_no_code_of_a_rule_is_on_the_page(alice: User) -> None:
    profile = ModelProfileFactory()
    overrides.add(NewOverride(profile.pk, "tools", True))
    tools = tuple(ExplainedTool(f"t{n}", "", False, code, reason_of(code), 0, True, True) for n, code in enumerate(ALL))
    limits = (*chosen(READ).limits, *chosen(READ, max_tools=0).limits)
    assert {limit.rule for limit in limits} == LIMITS
    explained = replace(next_request.of_model(alice, profile.pk), tools=tools, limits=limits)
    request = RequestFactory().get("/")
    request.user = AnonymousUser()
    page = render_to_string("chat/explain.html#explained", {"explained": explained}, request)
    seen = [text.strip() for text in TEXT.findall(flat(page))]
    assert [code for code in ALL if code in seen] == []
    assert [code for code in ALL if reason_of(code) not in re.sub(r"</?code>", "`", page)] == []
