"""The tool memory_dump: its arguments, its preview, its refusals."""

from __future__ import annotations

from dataclasses import replace

import pytest

from chat.tools import memory_dump
from chat.tools.diff_preview import basis_of
from chat.tools.memory_dump import MOST_BYTES
from chat.tools.tool import ToolContext
from toolsupport.core.errors import ToolError
from toolsupport.core.text_diff import TextChange


class Kept:
    """A memory that is kept in the test."""

    def __init__(self, text: str = "") -> None:
        self.text = text

    async def write(self, text: str, basis: str) -> None:
        if basis != basis_of(self.text):
            raise ToolError("changed meanwhile")
        self.text = text


# T3
@pytest.mark.asyncio
async def test_the_text_takes_the_place_of_what_was_remembered(context: ToolContext) -> None:
    memory = Kept("The user likes tea.")
    result = await memory_dump.run(replace(context, memory=memory), {"text": "The user likes tea.\nMaria is 40."})
    assert (memory.text, result.content) == ("The user likes tea.\nMaria is 40.", "Remembered 2 lines.")
    result = await memory_dump.run(replace(context, memory=memory), {"text": " "})
    assert result.content == "The memory is empty now."


def test_a_person_sees_what_would_change(context: ToolContext) -> None:
    shown = memory_dump.preview(replace(context, memory=Kept("one\ntwo")), {"text": "one\nthree"})
    assert shown.question == "Remember 2 lines in this chat?"
    assert shown.change == TextChange("memory", "one\ntwo", "one\nthree") and shown.basis == basis_of("one\ntwo")
    assert "Forget" in memory_dump.preview(replace(context, memory=Kept("one")), {"text": ""}).question


@pytest.mark.asyncio
async def test_what_was_allowed_is_not_written_over_something_newer(context: ToolContext) -> None:
    memory = Kept("newer")
    with pytest.raises(ToolError, match="meanwhile"):
        await memory_dump.run(replace(context, memory=memory, basis=basis_of("seen")), {"text": "x"})
    assert memory.text == "newer"


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("arguments", "why"),
    [({}, "is needed"), ({"text": 1}, "is needed"), ({"text": "ä" * (MOST_BYTES // 2 + 1)}, "16,384 bytes at most")],
)
async def test_what_cannot_be_kept_is_refused(context: ToolContext, arguments: dict[str, object], why: str) -> None:
    for act in (memory_dump.preview, memory_dump.run):
        with pytest.raises(ToolError, match=why):
            await act(replace(context, memory=Kept()), arguments)  # type: ignore[misc]


@pytest.mark.asyncio
async def test_there_must_be_a_conversation(context: ToolContext) -> None:
    with pytest.raises(ToolError, match="outside a conversation"):
        await memory_dump.run(context, {"text": "x"})
