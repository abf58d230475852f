"""Finished blocks are formatted while the rest streams in, and joined they are the HTML of the whole text."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from chat.transcript.messages import formatted
from chat.turns import live_blocks
from chat.turns.live_blocks import FormattedBlock, LiveBlocks, html_of
from tests.toolsupport.rendering.test_markdown import HOSTILE, inspected
from toolsupport.core.markdown_blocks import split
from toolsupport.rendering import messages
from toolsupport.work_pool.types import WorkRefused

pytestmark = pytest.mark.asyncio
TEXT = (
    "# A😀\n\nSee [one] and **two**.\n\n- [x] a\n\n- b\n\n```py\nx = 1\n\ny = 2\n```\n\n"
    "## B\n\n|a|\n|-|\n|1|\n\n[c](http://c.example) end"
)


@pytest.fixture(autouse=True)
def workers(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Workers of this process; gives the blocks of each task."""
    given: list[list[str]] = []

    async def blocks(_: object, blocks: Sequence[str], progress: dict[str, Any]) -> tuple[list[str], dict[str, Any]]:
        given.append(list(blocks))
        await asyncio.sleep(0)
        made = messages.render_blocks(blocks, dict(progress))
        return made["html"], made["progress"]

    async def whole(_: object, text: str) -> str:
        given.append([text])
        return messages.render(text)

    monkeypatch.setattr(formatted, "formatted_blocks", blocks)
    monkeypatch.setattr(formatted, "formatted", whole)
    monkeypatch.setattr(live_blocks, "EVERY", 0.0)
    return given


async def streamed(text: str, size: int) -> tuple[str | None, list[FormattedBlock]]:
    """The HTML at the end, and the blocks that were shown before it."""
    shown: list[FormattedBlock] = []
    blocks = LiveBlocks(1, shown.append)
    for start in range(0, len(text), size):
        blocks.feed(text[start : start + size], asyncio.get_running_loop().create_task)
        for _ in range(4):
            await asyncio.sleep(0)
    return await html_of(1, text, blocks), shown


@pytest.mark.parametrize("size", [1, 7, 1000])
async def test_streamed_blocks_are_the_html_of_the_whole(size: int, workers: list[list[str]]) -> None:
    html, shown = await streamed(TEXT, size)
    assert html == messages.render(TEXT)
    assert [block for task in workers for block in task] == split(TEXT)
    assert "".join(block.html for block in shown) == html[: sum(len(block.html) for block in shown)]
    if size == 1:
        assert (shown[0].start, shown[0].end, shown[1].start) == (0, 7, 7)
        assert len(shown) == len(split(TEXT)) - 1


async def test_a_definition_at_the_end_counts_for_what_stands_before(workers: list[list[str]]) -> None:
    text = TEXT + "\n\n[one]: http://one.example\n"
    html, shown = await streamed(text, 5)
    assert html == messages.render(text)
    assert 'href="http://one.example"' in html and "one.example" not in "".join(block.html for block in shown)
    assert workers[-1] == [text]


async def test_hostile_texts_do_nothing_in_any_block() -> None:
    text = "\n\n".join(HOSTILE)
    html, shown = await streamed(text, 11)
    assert html == messages.render(text)
    assert [block.html for block in shown if inspected(block.html).sins] == []


async def test_without_workers_the_whole_text_is_tried_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    async def refuse(*_: object) -> None:
        raise WorkRefused("too much work is waiting")

    monkeypatch.setattr(formatted, "formatted_blocks", refuse)
    html, shown = await streamed(TEXT, 5)
    assert html == messages.render(TEXT) and shown == []


async def test_a_closed_text_shows_nothing_more() -> None:
    shown: list[FormattedBlock] = []
    blocks = LiveBlocks(1, shown.append)
    blocks.feed(TEXT, asyncio.get_running_loop().create_task)
    blocks.close()
    assert await blocks.html() == messages.render(TEXT) and shown == []


async def test_a_batch_is_not_sent_for_each_block(monkeypatch: pytest.MonkeyPatch, workers: list[list[str]]) -> None:
    monkeypatch.setattr(live_blocks, "EVERY", 60.0)
    await streamed("a\n\n" * 400, 3)
    assert [len(task) for task in workers] == [1, 399]
