"""Only a batch that is one text of the answer passes without a look at its events."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from toolsupport.core.events import CallDelta, Event, Failed, Finished, TextDelta, ThinkingDelta, ToolsRefused, is_text

TEXT = TextDelta("a")


@pytest.mark.parametrize(
    ("batch", "passes"),
    [
        ([TEXT], True),
        ([], False),
        ([ThinkingDelta("a")], False),
        ([CallDelta("1", "read_file", "{}")], False),
        ([TEXT, TEXT], False),
        ([TEXT, Finished("stop")], False),
        ([TEXT, Failed("cut", "It was cut off.")], False),
        ([TEXT, ToolsRefused("no tools", "rule")], False),
        ([ToolsRefused("no tools", "rule"), TEXT], False),
    ],
)
def test_only_one_text_is_not_looked_through(batch: Sequence[Event], passes: bool) -> None:
    assert is_text(batch) is passes
