"""Whether a prompt fits, what tools cost, and when a server must have cut it (F9)."""

from __future__ import annotations

from dataclasses import replace

from tests.tables import every
from toolsupport.core.prompt.token_counts import (
    MeasuredPrompt,
    TokenCounts,
    characters,
    expected,
    tool_tokens,
    tools_digest,
    was_cut,
)
from toolsupport.core.types import Capabilities, ChatMessage, RequestSpec, Role, ToolCall, ToolSpec

TOOL = ToolSpec("read_file", "Read a file.")
LOG = (
    ChatMessage(Role.USER, "x" * 100),
    ChatMessage(Role.ASSISTANT, "y" * 20, calls=(ToolCall("1", "f", {"a": 1}),)),
    ChatMessage(Role.TOOL, "z" * 30, call_id="1"),
)
NOTHING = TokenCounts()


def request_spec(*tools: ToolSpec, num_ctx: int | None = 1000, format_: str = "native") -> RequestSpec:
    options = {"num_ctx": num_ctx} if num_ctx else {}
    return RequestSpec("m", Capabilities({}), tools, format=format_, system="s" * 50, options=options)


def test_a_set_of_tools_has_a_digest_of_its_own() -> None:
    digests = [
        tools_digest(request_spec(TOOL)),
        tools_digest(request_spec(TOOL, ToolSpec("other"))),
        tools_digest(request_spec(TOOL, format_="hermes")),
        tools_digest(request_spec(ToolSpec("read_file", "Read it."))),
    ]
    assert len(set(digests)) == 4 and all(len(digest) == 32 for digest in digests)
    assert digests[0] == tools_digest(request_spec(TOOL, num_ctx=4096))
    assert tools_digest(request_spec()) == tools_digest(request_spec(TOOL, format_="")) == ""


def test_what_is_counted_is_what_the_model_is_shown() -> None:
    assert characters(request_spec(), LOG) == 50 + 100 + 20 + len('{"a": 1}') + 30
    older = (ChatMessage(Role.USER, "o" * 500), ChatMessage(Role.ASSISTANT, "p"))
    minimal = replace(request_spec(TOOL), turn_context="minimal")
    assert characters(minimal, (*older, *LOG)) == characters(request_spec(TOOL), LOG)


def test_tools_cost_what_they_make_a_difference() -> None:
    assert tool_tokens(request_spec(), TokenCounts(MeasuredPrompt(100, 900), None)) == 0
    assert (
        tool_tokens(request_spec(TOOL), TokenCounts(MeasuredPrompt(400, 520), MeasuredPrompt(200, 70))) == 520 - 70 - 50
    )
    assert tool_tokens(request_spec(TOOL), TokenCounts(MeasuredPrompt(400, 520), None)) == 520 - 100
    assert tool_tokens(request_spec(TOOL), TokenCounts(MeasuredPrompt(400, 20), None)) == 0
    assert 20 < tool_tokens(request_spec(TOOL), NOTHING) < 100, "by its definition until it was counted"
    assert expected(request_spec(TOOL), TokenCounts(MeasuredPrompt(0, 300), None), 400) == 400


@every(
    ("num_ctx", "seen", "cut"),
    [
        (1000, MeasuredPrompt(400, 110), False),
        (1000, MeasuredPrompt(3800, 960), False),
        (1000, MeasuredPrompt(3800, 985), True),  # pinned at the end of the context
        (1000, MeasuredPrompt(3800, 1000), True),
        (8192, MeasuredPrompt(56_000, 2051), True),  # fewer tokens than any text has
        (None, MeasuredPrompt(56_000, 2051), True),
        (None, MeasuredPrompt(56_000, 14_024), False),
        (1000, MeasuredPrompt(4600, 512), True),  # half was thrown away
        (1000, MeasuredPrompt(4600, 1200), False),  # the server's context is larger than what was asked for
        (1000, MeasuredPrompt(0, 1), False),
    ],
)
def test_what_was_cut(num_ctx: int | None, seen: MeasuredPrompt, cut: bool) -> None:
    assert was_cut(request_spec(num_ctx=num_ctx), NOTHING, seen) is cut
