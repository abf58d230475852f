"""The same client_id twice is one act, where no row remembers it too."""

from __future__ import annotations

from contextlib import closing

import pytest

from chat.broadcast import client_frames
from chat.websocket import idempotency
from tests.serving import Site, new_chat, page, sign_in


@pytest.mark.asyncio
async def test_a_model_is_chosen_once_for_each_client_id(site: Site) -> None:  # D4
    with closing(sign_in(site)) as client:
        async with page(site, client, new_chat(client)) as open_page:
            for client_id, model in (("a", "sim-refuses"), ("b", "Simulator/sim-thinks"), ("a", "sim-refuses")):
                await open_page.send("model.select", model=model, client_id=client_id)
            await open_page.send("model.select", model="nothing", client_id="c")
            await open_page.until("error", client_id="c")
            chosen = [notice["model"]["name"] for notice in open_page.of("notice")]
            assert chosen == ["sim-refuses:latest", "sim-thinks:latest"]
            await open_page.send("model.select", model="sim-honest", client_id="c")
            assert (await open_page.until("notice"))["model"]["name"] == "sim-honest:latest", "an error is no act"


def test_what_rows_remember_and_what_only_asks_is_obeyed_each_time() -> None:
    for frame in (client_frames.MessageSend("x", "hi"), client_frames.TurnResync(1, "x"), client_frames.TurnStop()):
        idempotency.keep("chat", frame)
        assert not idempotency.known("chat", frame)


def test_one_id_counts_in_its_own_conversation_and_the_oldest_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(idempotency, "MOST", 2)
    monkeypatch.setattr(idempotency, "_handled", type(idempotency._handled)())
    for name in "abc":
        idempotency.keep(name, client_frames.TurnStop("x"))
    assert [idempotency.known(name, client_frames.TurnStop("x")) for name in "abcd"] == [False, True, True, False]
