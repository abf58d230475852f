"""Another model chosen in mid-answer: the round is completed with the old one, then people decide."""

from __future__ import annotations

import httpx
import pytest

from tests.chat.test_end_to_end import choose
from tests.serving import Site, new_chat, page


# C4
@pytest.mark.asyncio
async def test_the_round_is_completed_and_the_new_model_goes_on(site: Site, ana: httpx.Client) -> None:
    conversation = new_chat(ana)
    async with page(site, ana, conversation) as open_page:
        await choose(open_page, "sim-honest:latest")
        await open_page.send("message.send", text='Write "hello there" to notes.md')
        question = await open_page.until("question.asked")
        await open_page.send("model.select", model="sim-thinks:latest")
        switched = await open_page.until("notice", code="switched")
        finishing = await open_page.until("notice", code="model_changed")
        assert finishing["text"] == "Model changed. Finishing this round…"
        assert finishing["seq"] == switched["seq"] + 1 and not open_page.of("turn.ended"), "it is said at once"
        await open_page.send("question.answer", question=question["question"], answer="once")
        assert (await open_page.until("turn.ended"))["reason"] == "model_changed"
        assert open_page.of("call.finished")[-1]["call"]["status"] == "done"
        assert "Continue with the new model" in open_page.of("message.finished")[-1]["html"]
        await open_page.send("turn.continue")
        assert (await open_page.until("turn.ended"))["reason"] == "done"
        assert open_page.of("turn.started")[-1]["model"].startswith("sim-thinks")
        assert len(open_page.of("call.finished")) == 1
        page_now = ana.get(f"/chat/{conversation}/").text
        assert "The model was changed during this answer." in page_now


# C4: there and back again is no change, and neither is another model for one answer.
@pytest.mark.asyncio
async def test_what_is_no_change_does_not_stop_it(site: Site, ana: httpx.Client) -> None:
    async with page(site, ana, new_chat(ana)) as open_page:
        await choose(open_page, "sim-honest:latest")
        await open_page.send("message.send", text='Write "hello" to notes.md')
        question = await open_page.until("question.asked")
        for model in ("sim-thinks:latest", "sim-honest:latest"):
            await open_page.send("model.select", model=model)
            await open_page.until("notice", code="switched")
        said = [notice["code"] for notice in open_page.of("notice")]
        assert said.count("model_changed") == 1, "back again there is nothing to finish first"
        await open_page.send("question.answer", question=question["question"], answer="once")
        assert (await open_page.until("turn.ended"))["reason"] == "done"
        asked = open_page.of("message.accepted")[0]["message"]
        await open_page.send("turn.regenerate", message=asked, mode="same", model="sim-thinks:latest")
        again = await open_page.until("question.asked")
        await open_page.send("question.answer", question=again["question"], answer="once")
        assert (await open_page.until("turn.ended"))["reason"] == "done"
