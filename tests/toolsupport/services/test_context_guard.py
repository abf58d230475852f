"""The guard sees what does not fit and what was cut, leaves tools out, and learns what they cost (F9)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from toolsupport.core.events import Usage
from toolsupport.core.prompt.context_fitting import ContextWindow, OmitTools, RaiseContext
from toolsupport.core.prompt.token_counts import MeasuredPrompt, TokenCounts, tools_digest
from toolsupport.core.tool_selection import Candidate, Toolbox, ToolDecision
from toolsupport.core.types import Capabilities, ChatMessage, Endpoint, RequestSpec, Role, ToolCall, ToolSpec
from toolsupport.registry.metrics import prompt_token_counts
from toolsupport.registry.models.request_context import RequestContext
from toolsupport.services import context_guard
from toolsupport.services.context_guard import ContextGuard

SMALL = ContextWindow(1000)
TOOLS = tuple(ToolSpec(name, "x" * 400) for name in ("read_file", "bash", "fetch"))
VERDICTS = (
    *(ToolDecision(Candidate(tool), True, "builtin", "") for tool in TOOLS[:2]),
    ToolDecision(Candidate(TOOLS[2], kind="mcp"), True, "mcp", ""),
)


def prepared(counts: TokenCounts | None = None, tools: bool = True, window: ContextWindow = SMALL) -> RequestContext:
    request_spec = RequestSpec("m", Capabilities({}), TOOLS if tools else (), format="native" if tools else "")
    request_spec = replace(request_spec, options={"num_ctx": window.given, "temperature": 0.1})
    toolbox = Toolbox(VERDICTS if tools else (), request_spec.format, "")
    return RequestContext(
        request_spec, Endpoint("ollama", "http://x"), "build", counts or TokenCounts(), toolbox, window
    )


def said(length: int, *calls: str) -> list[ChatMessage]:
    called = tuple(ToolCall("1", name, {}) for name in calls)
    text = "".join(f"{n} " for n in range(length))[:length]  # a repeated one would take few tokens
    return [ChatMessage(Role.USER, text), ChatMessage(Role.ASSISTANT, "", calls=called)]


def test_the_least_relevant_tools_go_and_what_was_called_stays() -> None:
    measured = prepared(TokenCounts(MeasuredPrompt(0, 600)))  # 200 for each tool
    assert context_guard.remedy(measured, said(1000)) is None and context_guard.fits(measured, said(1000))
    assert context_guard.remedy(measured, said(1600)) == OmitTools(("fetch",))
    assert context_guard.remedy(measured, said(1600, "fetch")) == OmitTools(("bash",))
    assert context_guard.remedy(measured, said(3000)) is None, "one stays, and that is not enough"
    assert not context_guard.fits(measured, said(3000))
    assert context_guard.remedy(prepared(tools=False), said(4000)) is None


@pytest.mark.django_db
def test_what_is_left_out_is_told_with_its_reason_and_has_counts_of_its_own() -> None:
    whole = prepared(TokenCounts(MeasuredPrompt(0, 600)))
    less = context_guard.without(whole, ["fetch", "absent"])
    assert [tool.name for tool in less.request_spec.tools] == ["read_file", "bash"]
    assert [(one.tool, one.rule) for one in less.request_spec.excluded] == [("fetch", context_guard.NO_ROOM)]
    assert less.counts == TokenCounts()
    assert context_guard.without(less, ["fetch"]) is less
    prompt_token_counts.learn("build", tools_digest(less.request_spec), MeasuredPrompt(10, 400))
    assert context_guard.without(whole, ["fetch"]).counts == TokenCounts(MeasuredPrompt(10, 400))


@pytest.mark.django_db
def test_a_plan_takes_every_step_and_changes_nothing() -> None:
    measured = prepared(TokenCounts(MeasuredPrompt(0, 600)), window=ContextWindow(1000, 2000))
    assert context_guard.planned(measured, said(400)) is measured
    planned = context_guard.planned(measured, said(6000))
    assert planned.request_spec.options == {"num_ctx": 2000, "temperature": 0.1}
    assert planned.window == ContextWindow(2000, 2000, before=1000)
    assert [tool.name for tool in planned.request_spec.tools] == ["read_file"]


def test_a_cut_teaches_nothing_and_asks_for_more() -> None:
    guard, plain = ContextGuard(), prepared(tools=False, window=ContextWindow(1000, 4000))
    guard.asked(plain, said(6000))
    assert guard.cut(plain, Usage(512))
    assert guard.after_cut(plain) == RaiseContext(2000)
    assert guard.new_count(plain, Usage(512)) is None
    assert not guard.cut(plain, Usage(None)) and not guard.cut(plain, Usage(0))
    guard.asked(plain, said(400))
    assert guard.cut(plain, Usage(990)) and guard.after_cut(plain) == RaiseContext(2000)


def test_only_a_shorter_request_than_any_before_teaches() -> None:
    guard, known, plain = ContextGuard(), prepared(TokenCounts(MeasuredPrompt(300, 200))), prepared(tools=False)
    guard.asked(known, said(400))
    assert guard.new_count(known, Usage(230)) is None
    assert guard.new_count(plain, Usage(110)) == MeasuredPrompt(400, 110)
    guard.asked(known, said(100))
    new_count = guard.new_count(known, Usage(150))
    assert new_count == MeasuredPrompt(100, 150)
    known = context_guard.learned(known, new_count)
    assert known.counts == TokenCounts(MeasuredPrompt(100, 150)) and guard.new_count(known, Usage(150)) is None
    assert context_guard.learned(plain, new_count).counts == TokenCounts(None, new_count)
    assert guard.new_count(known, Usage(None)) is None


def test_a_request_counts_as_it_was_sent() -> None:
    """Its log grows by the answer before the server's count arrives."""
    guard, log = ContextGuard(), said(400)
    guard.asked(prepared(), log)
    log.append(ChatMessage(Role.ASSISTANT, "x" * 400))
    assert guard.new_count(prepared(), Usage(100)) == MeasuredPrompt(400, 100)
