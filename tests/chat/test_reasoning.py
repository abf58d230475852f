"""A model that thinks in its text: the page, the rows and later requests have its reasoning apart from the answer."""

from __future__ import annotations

import httpx
import pytest

from tests.chat.test_end_to_end import choose
from tests.serving import Site, new_chat, page


@pytest.mark.asyncio
@pytest.mark.parametrize("model", ["sim-thinks-inside", "sim-thinks-aloud"])
async def test_reasoning_is_no_part_of_the_answer(site: Site, ana: httpx.Client, model: str) -> None:  # F3
    async with page(site, ana, new_chat(ana)) as open_page:
        await choose(open_page, f"{model}:latest")
        for number in (0, 1):
            await open_page.send("message.send", text="What is 17*23?")
            assert (await open_page.until("turn.ended"))["reason"] == "done"
            resyncs = open_page.of("resync")
            assert len(resyncs) == (1 if model == "sim-thinks-inside" else 0), number
            assert all(one["text"] == "" and "The person says" in one["thinking"] for one in resyncs)
            message = open_page.of("message.started")[-1]["message"]
            assert "391" in open_page.text(message) and "The person says" not in open_page.text(message)
