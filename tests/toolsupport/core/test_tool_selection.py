"""Tools reach only models that are known to call them; each excluded one has a reason."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tables import every
from toolsupport.core.families import find
from toolsupport.core.format_choice import FormatPreferences
from toolsupport.core.resolve import OverrideRow, resolve
from toolsupport.core.tool_selection import BARRIERS, RULES, Candidate, Toolbox, ToolPreferences, choose
from toolsupport.core.types import Capabilities, Capability, ToolFilter, ToolSpec

READ, LIST, WRITE = ToolSpec("read_file"), ToolSpec("list_directory"), ToolSpec("write_file")
ALL = [Candidate(READ), Candidate(LIST), Candidate(WRITE)]


def known(**values: Any) -> Capabilities:
    """Capabilities that were declared, with a reason that can be found again."""
    said = {name: Capability(name, value, "declared", f"Said of {name}.") for name, value in values.items()}
    return Capabilities(said)


def rules_of(chosen: Toolbox) -> dict[str, str]:
    return {exclusion.tool: exclusion.rule for exclusion in chosen.excluded}


def test_a_model_that_calls_tools_gets_them_in_order() -> None:  # T1
    chosen = choose(known(tools=True), ALL, ToolPreferences())
    assert (chosen.tools, chosen.excluded) == ((READ, LIST, WRITE), ())
    assert (chosen.format, chosen.format_reason, chosen.fallbacks) == ("native", "Said of tools.", ())


def test_a_model_that_does_not_gets_none_and_is_told_why() -> None:  # F2
    chosen = choose(known(tools=False), ALL, ToolPreferences())
    assert (chosen.tools, chosen.format) == ((), "")
    assert set(rules_of(chosen).values()) == {"unsupported"}
    assert chosen.format_reason == "This model cannot call tools. Said of tools."


def test_unknown_is_answered_without_tools_and_is_not_called_no() -> None:  # D1, D5
    chosen = choose(Capabilities({}), ALL, ToolPreferences())
    assert chosen.tools == ()
    assert set(rules_of(chosen).values()) == {"unknown"}
    assert "No test has shown yet" in chosen.format_reason


@pytest.mark.parametrize("tools", [True, False, None])
def test_a_person_who_switches_tools_off_is_obeyed(tools: bool | None) -> None:  # T1
    chosen = choose(known(tools=tools), ALL, ToolPreferences(tools_on=False))
    assert (chosen.tools, chosen.format) == ((), "")
    assert rules_of(chosen) == {"read_file": "tools_off", "list_directory": "tools_off", "write_file": "tools_off"}
    assert chosen.format_reason == "Tools are off in this chat."


@pytest.mark.parametrize("tools", [False, None])
def test_switching_tools_on_gives_no_model_an_ability(tools: bool | None) -> None:  # F6
    assert choose(known(tools=tools), ALL, ToolPreferences(tools_on=True)).tools == ()


def test_a_tool_that_is_not_enabled_stays_out() -> None:  # T1
    chosen = choose(known(tools=True), [Candidate(READ), Candidate(WRITE, enabled=False)], ToolPreferences())
    assert chosen.tools == (READ,)
    assert rules_of(chosen) == {"write_file": "disabled"}


def test_what_the_team_leaves_out_stays_out() -> None:  # T1
    chosen = choose(known(tools=True), ALL, ToolPreferences(team=ToolFilter(frozenset({"read_file", "write_file"}))))
    assert chosen.tools == (LIST,)
    assert rules_of(chosen) == {"read_file": "filtered", "write_file": "filtered"}


def test_a_tool_that_cannot_work_here_stays_out_and_says_why() -> None:  # T1
    absent = Candidate(WRITE, missing="There is no sandbox.")
    chosen = choose(known(tools=True), [Candidate(READ), absent], ToolPreferences())
    assert chosen.tools == (READ,) and not absent.usable
    assert [(out.rule, out.reason) for out in chosen.excluded] == [("missing", "Not available: There is no sandbox.")]


@pytest.mark.parametrize("candidates", [[], [Candidate(READ, enabled=False)]])
def test_no_tool_left_is_no_fault_of_the_model(candidates: list[Candidate]) -> None:  # F2
    chosen = choose(known(tools=True), candidates, ToolPreferences())
    assert (chosen.tools, chosen.format) == ((), "")
    assert "no tool is left to offer" in chosen.format_reason


@pytest.mark.parametrize(
    ("limit", "stay"), [(2, (READ, LIST)), (0, ()), (-1, ()), (3, (READ, LIST, WRITE)), (64, (READ, LIST, WRITE))]
)
def test_a_limit_keeps_the_first_and_lists_the_rest(limit: int, stay: tuple[ToolSpec, ...]) -> None:  # T1
    chosen = choose(known(tools=True, max_tools=limit), ALL, ToolPreferences())
    assert chosen.tools == stay
    assert rules_of(chosen) == {spec.name: "max_tools" for spec in (READ, LIST, WRITE)[len(stay) :]}


def test_what_is_filtered_out_takes_no_place_under_the_limit() -> None:
    chosen = choose(
        known(tools=True, max_tools=1),
        ALL,
        ToolPreferences(chat=ToolFilter(frozenset({"read_file", "list_directory"}))),
    )
    assert chosen.tools == (WRITE,)


@pytest.mark.parametrize("limit", [None, "many", True])
def test_a_limit_that_is_no_number_is_none(limit: object) -> None:
    assert len(choose(known(tools=True, max_tools=limit), ALL, ToolPreferences()).tools) == len(ALL)


def test_a_text_format_serves_a_model_it_works_for() -> None:  # F2
    chosen = choose(known(tools=False, format="hermes"), ALL, ToolPreferences())
    assert (len(chosen.tools), chosen.format, chosen.format_reason) == (3, "hermes", "Said of format.")
    assert choose(known(tools=False, format="nobody's"), ALL, ToolPreferences()).tools == ()
    assert choose(known(tools=None, format="hermes"), ALL, ToolPreferences()).format == "hermes"
    native = choose(known(tools=True, format="hermes"), ALL, ToolPreferences())
    assert (native.format, native.fallbacks) == ("native", ("hermes",))


@pytest.mark.parametrize(
    ("model", "format_"), [("qwen3:8b", "native"), ("sim-honest", "native"), ("gemma3:1b", ""), ("phi-x:7b", "")]
)
def test_the_family_table_decides_for_a_fresh_model(model: str, format_: str) -> None:
    assert choose(resolve(find(model), [], "now"), ALL, ToolPreferences()).format == format_


def test_a_refusal_in_a_chat_takes_the_tools_away_there() -> None:  # D9
    refused = OverrideRow(1, 1, "tools", False, "runtime_error", session="chat", build_key="now")
    assert choose(resolve(find("qwen3:8b"), [refused], "now", "chat"), ALL, ToolPreferences()).tools == ()
    assert choose(resolve(find("qwen3:8b"), [refused], "now", "other"), ALL, ToolPreferences()).tools != ()


# -- servers of others, search, databases --


def mcp(name: str, relevance: float = 0.0, **facts: Any) -> Candidate:
    given: dict[str, Any] = {"kind": "mcp", "server": "wiki", "materialised": True, "relevance": relevance}
    return Candidate(ToolSpec(name), **given | facts)


SEARCH = Candidate(ToolSpec("tool_search"), kind="search")


@every(
    ("candidate", "preferences", "rule"),
    [
        (mcp("w"), ToolPreferences(), None),
        (mcp("w", connected=False), ToolPreferences(), "server_disabled"),
        (mcp("w", enabled=False), ToolPreferences(), "disabled"),
        (mcp("w", approved=False), ToolPreferences(), "unapproved"),
        (mcp("w", missing="The server does not answer."), ToolPreferences(), "missing"),
        (mcp("w"), ToolPreferences(team=ToolFilter(servers=frozenset({"wiki"}))), "server_filtered"),
        (mcp("w"), ToolPreferences(chat=ToolFilter(servers=frozenset({"wiki"}))), "server_filtered"),
        (mcp("w"), ToolPreferences(team=ToolFilter(tools=frozenset({"w"}))), "filtered"),
        (mcp("w.read"), ToolPreferences(), "format"),
        (mcp("w", materialised=False), ToolPreferences(), "deferred"),
        (Candidate(READ, missing="The sandbox did not start."), ToolPreferences(), "missing"),
        (Candidate(READ, server="wiki"), ToolPreferences(team=ToolFilter(servers=frozenset({"wiki"}))), None),
        (Candidate(ToolSpec("execute_sql"), kind="sql"), ToolPreferences(), None),
        (Candidate(ToolSpec("execute_sql"), kind="sql", connected=False), ToolPreferences(), "no_source"),
        (SEARCH, ToolPreferences(), "nothing_deferred"),
    ],
)
def test_the_first_rule_that_objects_decides(
    candidate: Candidate, preferences: ToolPreferences, rule: str | None
) -> None:  # T1
    verdict = choose(known(tools=True), [candidate], preferences).verdicts[0]
    assert (verdict.included, verdict.rule) == (rule is None, rule or candidate.kind)
    assert verdict.reason.endswith(".")


@pytest.mark.parametrize(
    ("waiting", "offered"),
    [
        (mcp("w", materialised=False), True),
        (mcp("w"), False),
        (mcp("w", materialised=False, approved=False), False),
        (mcp("w", materialised=False, connected=False), False),
    ],
)
def test_searching_is_offered_where_something_waits_to_be_found(waiting: Candidate, offered: bool) -> None:  # T1
    chosen = choose(known(tools=True), [SEARCH, waiting], ToolPreferences())
    assert (SEARCH.spec in chosen.tools) is offered


BILLION = 10**9


@pytest.mark.parametrize(
    ("parameters", "most"),
    [
        (None, 2),
        (6_999_999_999, 2),
        (7 * BILLION, 5),
        (30 * BILLION, 5),
        (30 * BILLION + 1, 10),
        (671 * BILLION, 10),
    ],
)
def test_small_models_get_few_tools_of_servers_and_all_built_in_ones(parameters: int | None, most: int) -> None:  # T1
    found = [mcp(f"w{number}") for number in range(12)]
    chosen = choose(known(tools=True), [*found, *ALL], ToolPreferences(parameters=parameters))
    assert [spec.name for spec in chosen.tools] == [
        *(f"w{number}" for number in range(most)),
        READ.name,
        LIST.name,
        WRITE.name,
    ]
    assert set(rules_of(chosen).values()) == {"mcp_limit"}
    assert f"up to {most} tools" in chosen.excluded[0].reason


def test_the_most_relevant_stay_and_keep_their_order() -> None:  # T1
    found = [mcp("a", 0.1), mcp("b", 0.9), mcp("c", 0.5), mcp("d", 0.2)]
    chosen = choose(known(tools=True), found, ToolPreferences())
    assert [spec.name for spec in chosen.tools] == ["b", "c"]
    assert rules_of(chosen) == {"a": "mcp_limit", "d": "mcp_limit"}


def test_built_in_tools_stay_first_under_a_limit_for_all() -> None:  # T1
    chosen = choose(known(tools=True, max_tools=4), [mcp("a", 0.1), mcp("b", 0.9), *ALL], ToolPreferences())
    assert [spec.name for spec in chosen.tools] == ["b", READ.name, LIST.name, WRITE.name]
    assert rules_of(chosen) == {"a": "max_tools"}


@pytest.mark.parametrize(
    ("source", "parameters", "stay"),
    [
        ("auto_detected", 8 * BILLION, 12),
        ("user_confirmed", None, 12),
        ("profile", 8 * BILLION, 5),
        ("profile", None, 12),  # nobody says how large a hosted model is
    ],
)
def test_what_is_known_of_the_model_itself_beats_the_rule(source: str, parameters: int | None, stay: int) -> None:  # T1
    said = {"tools": Capability("tools", True, source, "Yes."), "max_tools": Capability("max_tools", 64, source, "64.")}
    found = [mcp(f"w{number}") for number in range(12)]
    assert len(choose(Capabilities(said), found, ToolPreferences(parameters=parameters)).tools) == stay


@pytest.mark.parametrize(
    ("code_tool", "preferences", "usable"),
    [
        (Candidate(ToolSpec("python_execution")), ToolPreferences(), True),
        (Candidate(ToolSpec("python_execution"), enabled=False), ToolPreferences(), False),
        (Candidate(ToolSpec("python_execution"), missing="No sandbox."), ToolPreferences(), False),
        (
            Candidate(ToolSpec("python_execution")),
            ToolPreferences(chat=ToolFilter(frozenset({"python_execution"}))),
            False,
        ),
    ],
)
def test_code_is_a_format_where_the_tool_that_runs_it_is_offered(
    code_tool: Candidate, preferences: ToolPreferences, usable: bool
) -> None:  # F2
    preferences = replace(preferences, formats=FormatPreferences(("code_mode",)))
    chosen = choose(known(tools=True), [*ALL, code_tool, mcp("get-page")], preferences)
    assert (chosen.format == "code_mode") is usable
    assert (rules_of(chosen).get("get-page") == "format") is usable


def test_a_model_that_writes_programs_is_offered_what_they_can_call() -> None:  # T9
    cannot = [mcp(name, in_programs=name == "class") for name in ("bash", "wiki__write", "class")]
    code_tool, preferences = mcp("python_execution", in_programs=False), FormatPreferences(("code_mode",))
    chosen = choose(known(tools=True), [*ALL, *cannot, code_tool], ToolPreferences(formats=preferences))
    assert chosen.tools == (READ, LIST, WRITE, code_tool.spec)


def test_where_room_is_lacking_the_least_relevant_go_first_and_one_stays() -> None:  # F9
    found = [replace(mcp(name), relevance=relevance) for name, relevance in (("near", 0.9), ("far", 0.1))]
    chosen = choose(known(tools=True), [*found, *ALL], ToolPreferences(parameters=40 * 10**9))
    ours = [tool.name for tool in chosen.tools if tool.name not in ("near", "far")]
    assert len(ours) > 1 and chosen.spare == ("far", "near", *reversed(ours[1:]))


def test_the_documentation_has_every_rule_in_its_order() -> None:
    documentation = (Path(__file__).parents[3] / "docs/tools.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \|", documentation, re.MULTILINE)
    assert rows == [*BARRIERS, *RULES, "mcp_limit", "max_tools", "translated", "no_room"]


# -- for anything at all --

anything = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.lists(st.integers(), max_size=2)
names = st.text("abc", min_size=1, max_size=3)
left_outs = st.builds(ToolFilter, st.frozensets(names, max_size=4), st.frozensets(st.sampled_from("xy"), max_size=2))
candidate_lists = st.lists(
    st.builds(
        Candidate,
        st.builds(ToolSpec, names | st.just("python_execution")),
        enabled=st.booleans(),
        missing=st.sampled_from(["", "It is broken."]),
        kind=st.sampled_from(["builtin", "mcp", "search", "sql"]),
        server=st.sampled_from("xy"),
        connected=st.booleans(),
        approved=st.booleans(),
        materialised=st.booleans(),
        relevance=st.floats(0, 1),
    ),
    max_size=8,
)
wish_lists = st.builds(
    ToolPreferences,
    tools_on=st.sampled_from([None, True, False]),
    team=left_outs,
    chat=left_outs,
    may_call=st.booleans(),
    parameters=st.none() | st.integers(0, 10**12),
)
capability_maps = st.fixed_dictionaries({"tools": anything, "format": anything, "max_tools": anything})
LIMITS = {"max_tools", "mcp_limit"}


@given(capability_maps, candidate_lists, wish_lists)
def test_tools_never_reach_a_model_without_support(
    values: dict[str, Any], candidates: list[Candidate], preferences: ToolPreferences
) -> None:  # F6
    chosen = choose(known(**values), candidates, preferences)
    if values["tools"] is not True:
        assert chosen.format != "native"
        assert chosen.format in ("", values["format"])
        assert bool(chosen.tools) <= bool(chosen.format)


@given(capability_maps, candidate_lists, wish_lists)
def test_every_candidate_is_in_or_out_with_a_reason(
    values: dict[str, Any], candidates: list[Candidate], preferences: ToolPreferences
) -> None:  # T2
    chosen = choose(known(**values), candidates, preferences)
    assert [verdict.candidate for verdict in chosen.verdicts] == candidates
    assert len(chosen.tools) + len(chosen.excluded) == len(candidates)
    assert all(verdict.reason.endswith(".") for verdict in chosen.verdicts)
    assert {exclusion.rule for exclusion in chosen.excluded} <= {*BARRIERS, *RULES, *LIMITS}


@given(capability_maps, candidate_lists, wish_lists)
def test_a_format_comes_with_tools_and_a_reason_always(
    values: dict[str, Any], candidates: list[Candidate], preferences: ToolPreferences
) -> None:
    chosen = choose(known(**values), candidates, preferences)
    assert bool(chosen.format) is bool(chosen.tools)
    assert chosen.format_reason.endswith(".")


@given(candidate_lists, wish_lists, left_outs)
def test_leaving_out_more_never_lets_anything_in(
    candidates: list[Candidate], preferences: ToolPreferences, more: ToolFilter
) -> None:  # T1
    """Where a limit holds, what was cut may take the place of what is left out: so it is held back here."""
    found = known(tools=True, max_tools=10**6)
    narrower = replace(
        preferences, chat=ToolFilter(preferences.chat.tools | more.tools, preferences.chat.servers | more.servers)
    )
    before, after = choose(found, candidates, preferences), choose(found, candidates, narrower)
    pairs = zip(before.verdicts, after.verdicts, strict=True)
    assert all(one.included for one, other in pairs if other.included)
    assert not {spec.name for spec in after.tools} & narrower.chat.tools


@given(candidate_lists, wish_lists)
def test_nothing_comes_in_that_was_not_enabled_and_allowed(
    candidates: list[Candidate], preferences: ToolPreferences
) -> None:  # T1
    for verdict in choose(known(tools=True), candidates, preferences).verdicts:
        candidate = verdict.candidate
        wanted = candidate.enabled and not candidate.missing
        if candidate.kind == "mcp":
            allowed = candidate.server not in preferences.team.servers | preferences.chat.servers
            wanted = wanted and allowed and candidate.connected and candidate.approved and candidate.materialised
        assert verdict.included <= wanted
        assert verdict.included <= (candidate.spec.name not in preferences.team.tools | preferences.chat.tools)


@given(candidate_lists, st.integers(0, 6), st.none() | st.integers(0, 10**12))
def test_limits_hold_and_built_in_tools_come_first(
    candidates: list[Candidate], most: int, parameters: int | None
) -> None:  # T1
    said = {
        "tools": Capability("tools", True, "profile", ""),
        "max_tools": Capability("max_tools", most, "profile", ""),
    }
    chosen = choose(Capabilities(said), candidates, ToolPreferences(parameters=parameters))
    included = [verdict.rule for verdict in chosen.verdicts if verdict.included]
    assert len(included) <= most
    if parameters is not None:
        assert included.count("mcp") <= (2 if parameters < 7 * BILLION else 5 if parameters <= 30 * BILLION else 10)
    cut = [verdict.candidate.kind for verdict in chosen.verdicts if verdict.rule == "max_tools"]
    assert "mcp" not in included or set(cut) <= {"mcp"}
