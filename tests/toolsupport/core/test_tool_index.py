"""The tool that fits a description is among the first results."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.data.public_tools import questions, tools
from toolsupport.core.tool_index import IndexEntry, ToolIndex, entry_of, fused
from toolsupport.core.types import ToolSpec

# What docs/tool_search.md says, less a little.
RECALL_AT_5, RECALL_AT_2 = 0.92, 0.84


@pytest.fixture(scope="module")
def index() -> ToolIndex:
    return ToolIndex([entry_of(spec) for spec in tools()])


def test_the_set_is_large_and_every_answer_exists() -> None:
    names = {spec.name for spec in tools()}
    assert len(names) == len(tools()) >= 300
    assert len(questions()) >= 200
    assert all(wanted and wanted <= names for _, wanted in questions())


@pytest.mark.parametrize(("count", "least"), [(5, RECALL_AT_5), (2, RECALL_AT_2)])
def test_most_questions_find_their_tool(index: ToolIndex, count: int, least: float) -> None:  # T5
    hits = [bool(wanted & {found.name for found in index.find(query, count)}) for query, wanted in questions()]
    assert sum(hits) / len(hits) >= least


def test_a_name_is_found_by_the_words_in_it() -> None:
    index = ToolIndex([IndexEntry("deleteBranch", "Of a repository"), IndexEntry("list_files", "What there is")])
    assert [found.name for found in index.find("please delete the branch", 5)] == ["deleteBranch"]


def test_parameters_count() -> None:
    schema = {"type": "object", "properties": {"invoice": {"description": "which bill"}, "odd": True}}
    index = ToolIndex([entry_of(ToolSpec("other")), entry_of(ToolSpec("act", "", schema))])
    assert [found.name for found in index.find("bills", 5)] == ["act"]


def test_nothing_is_found_where_nothing_fits() -> None:
    index = ToolIndex([IndexEntry("list_files", "What there is")])
    assert index.find("quantum chromodynamics", 5) == index.find("", 5) == ToolIndex([]).find("list", 5) == []
    assert ToolIndex([IndexEntry("_", "")]).find("list", 5) == []


def test_meaning_finds_what_shares_no_word() -> None:
    index = ToolIndex([IndexEntry("cat", "purrs"), IndexEntry("dog", "barks")], [[1.0, 0.0], [0.0, 2.0]])
    assert [found.name for found in index.find("feline", 1, [3.0, 0.1])] == ["cat"]
    assert [found.name for found in index.find("bark", 2, [1.0, 0.0])] == ["cat", "dog"]


def test_vectors_that_do_not_fit_are_left_out() -> None:
    entries = [IndexEntry("cat", "purrs"), IndexEntry("dog", "barks")]
    assert ToolIndex(entries, [[1.0]]).find("feline", 1, [1.0]) == []
    assert ToolIndex(entries, [[1.0], [0.0]]).find("feline", 1, [1.0, 2.0]) == []
    assert ToolIndex(entries, [[0.0], [0.0]]).find("feline", 1, [1.0]) == []


@given(st.lists(st.permutations(range(6)), min_size=1, max_size=3))
def test_what_is_first_everywhere_is_first(orders: list[list[int]]) -> None:
    found = fused([[9, *order] for order in orders])
    assert found[0] == 9
    assert sorted(found) == [*range(6), 9]
