"""The remedies for a prompt that does not fit, and that they always end (F9)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tables import every
from toolsupport.core.prompt.context_fitting import ContextWindow, OmitTools, RaiseContext, after_cut, fits, remedy

TOOLS = {"far": 300, "near": 300, "bash": 200}


@pytest.mark.parametrize(
    ("context", "needed", "fit"),
    [(0, 10**9, True), (8192, 7168, True), (8192, 7169, False), (1000, 875, True), (1000, 876, False)],
)
def test_room_for_an_answer_is_part_of_what_has_to_fit(context: int, needed: int, fit: bool) -> None:
    assert fits(context, needed) is fit


@pytest.mark.parametrize(
    ("window", "larger"),
    [
        (ContextWindow(), []),
        (ContextWindow(8192), []),
        (ContextWindow(8192, 8192), []),
        (ContextWindow(8192, 40_960), [16_384, 32_768, 40_960]),
        (ContextWindow(8192, 40_960, failed=32_768), [16_384]),
        (ContextWindow(8192, 40_960, failed=16_384), []),
        (ContextWindow(0, 40_960), []),
    ],
)
def test_what_a_context_can_be_raised_to(window: ContextWindow, larger: list[int]) -> None:
    assert list(window.larger) == larger


@every(
    ("window", "needed", "todo"),
    [
        (ContextWindow(8192, 32_768), 7000, None),
        (ContextWindow(8192, 32_768), 7400, RaiseContext(16_384)),
        (ContextWindow(1000, 32_768), 1700, RaiseContext(2000)),
        (ContextWindow(8192, 10_000), 7400, RaiseContext(10_000)),
        (ContextWindow(8192, 32_768), 9000, RaiseContext(16_384)),
        (ContextWindow(16_384, 32_768), 15_500, OmitTools(("far",))),
        (ContextWindow(16_384, 32_768), 15_900, OmitTools(("far", "near"))),
        (ContextWindow(16_384, 32_768), 16_500, RaiseContext(32_768)),
        (ContextWindow(8192), 7400, OmitTools(("far",))),
        (ContextWindow(8192, 32_768, failed=16_384), 7700, OmitTools(("far", "near"))),
        (ContextWindow(8192, 32_768), 16_000, RaiseContext(32_768)),
        (ContextWindow(8192, 16_384), 16_000, RaiseContext(16_384)),  # and tools are left out after that
        (ContextWindow(8192, 32_768), 40_000, None),
        (ContextWindow(8192, 32_768, failed=16_384), 9000, None),
        (ContextWindow(8192), 9000, None),
        (ContextWindow(), 10**9, None),
    ],
)
def test_the_context_grows_modestly_then_tools_go_then_it_grows_further(
    window: ContextWindow, needed: int, todo: OmitTools | RaiseContext | None
) -> None:
    assert remedy(window, needed, TOOLS) == todo


def test_after_a_cut_the_context_grows_however_little_was_expected() -> None:
    assert after_cut(ContextWindow(8192, 32_768), 100) == RaiseContext(16_384)
    assert after_cut(ContextWindow(8192, 32_768), 20_000) == RaiseContext(32_768)
    assert after_cut(ContextWindow(8192, 8192), 100) is after_cut(ContextWindow(), 100) is None


def test_what_did_not_load_is_taken_back_and_nothing_else_is() -> None:
    raised = ContextWindow(8192, 32_768).raised(32_768)
    assert raised.taken_back() == ContextWindow(8192, 32_768, failed=32_768)
    assert ContextWindow(8192, 32_768).taken_back() is None
    assert ContextWindow(8192, 32_768, before=16_384).taken_back() is None, "it was lowered"
    assert ContextWindow(16_384, 65_536, before=8192, failed=12_000).taken_back() == ContextWindow(
        8192, 65_536, failed=12_000
    )


tokens = st.integers(1, 2**17)
MOST_DOUBLINGS = 18


@given(
    window=st.builds(ContextWindow, given=st.integers(0, 9000), most=tokens),
    asked=st.lists(st.tuples(tokens, st.booleans()), min_size=1, max_size=60),
    memory=st.lists(tokens, min_size=1, max_size=5),
    spare=st.dictionaries(st.text(max_size=3), st.integers(0, 900), max_size=6),
)
def test_every_sequence_ends(
    window: ContextWindow, asked: list[tuple[int, bool]], memory: list[int], spare: dict[str, int]
) -> None:
    """Whatever is asked, cut and refused by a memory that changes: no context is tried again after it failed."""
    raised: list[int] = []
    failed: list[int] = []
    for number, (needed, cut) in enumerate(asked):
        left = dict(spare)
        while (todo := after_cut(window, needed) if cut else remedy(window, needed, left)) is not None:
            cut = False
            if isinstance(todo, OmitTools):
                assert todo.tools and set(todo.tools) <= set(left)
                needed -= sum(left.pop(name) for name in todo.tools)
                continue
            assert window.given < todo.context <= window.most and todo.context not in failed
            raised.append(todo.context)
            window = window.raised(todo.context)
            if window.given > memory[number % len(memory)]:
                failed.append(window.given)
                back = window.taken_back()
                assert back is not None and back.given < window.given
                window = back
    assert len(raised) == len(set(raised)) <= MOST_DOUBLINGS
    assert len(failed) == len(set(failed))
