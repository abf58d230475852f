"""From a real socket through a real server to a real (simulated) model server and back."""

from __future__ import annotations

import asyncio
import signal
import time
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from tests.markup import flat
from tests.serving import Page, Site, new_chat, page, serving, sign_in


async def choose(open_page: Page, model: str) -> None:
    """Choose a model, whether or not it is the one in use."""
    hello = await open_page.until("hello")
    if hello["model"] is None or hello["model"]["name"] != model:
        await open_page.send("model.select", model=model)
        await open_page.until("notice", code="switched")


# C1 C3 T3
@pytest.mark.asyncio
async def test_a_tool_runs_and_the_answer_uses_its_result(site: Site, ana: httpx.Client) -> None:
    async with page(site, ana, new_chat(ana)) as open_page:
        await choose(open_page, "sim-honest:latest")
        client_id = await open_page.send("message.send", text="What's in this folder?")
        ended = await open_page.until("turn.ended")
        assert ended["reason"] == "done"
        assert open_page.of("message.accepted")[0]["client_id"] == client_id
        started, finished = open_page.of("call.started")[0], open_page.of("call.finished")[0]
        assert started["call"]["name"] == "list_directory" and started["call"]["status"] == "running"
        assert finished["call"]["status"] == "done" and "config.json" in finished["call"]["result"]
        assert "config.json" in open_page.text(open_page.of("message.finished")[-1]["message"])
        seqs = [frame["seq"] for frame in open_page.got if "seq" in frame]
        assert seqs == sorted(set(seqs))


# F6 D4
@pytest.mark.asyncio
async def test_a_model_without_tools_is_said_so_and_answers_without(site: Site, ana: httpx.Client) -> None:
    async with page(site, ana, new_chat(ana)) as open_page:
        await choose(open_page, "sim-refuses:latest")
        notice = open_page.of("notice")[0]
        assert notice["text"] == "Switched to sim-refuses:latest. Tools: Disabled (profile)"
        await open_page.send("message.send", text="What's in this folder?")
        ended = await open_page.until("turn.ended")
        assert ended["reason"] == "done"
        assert open_page.of("turn.started")[0]["tools"] == [] and not open_page.of("call.started")
        assert open_page.text(open_page.of("message.finished")[-1]["message"])


def said(open_page: Page, *codes: str) -> list[str]:
    """The texts of the notices with these codes."""
    return [notice["text"] for notice in open_page.of("notice") if notice["code"] in codes]


# F9
@pytest.mark.asyncio
async def test_a_context_is_raised_before_what_does_not_fit_is_sent(site: Site, ana: httpx.Client) -> None:
    async with page(site, ana, new_chat(ana)) as open_page:
        await choose(open_page, "sim-honest:latest")
        for text in (*["word " * 12_000] * 3, "and now?"):
            await open_page.send("message.send", text=text)
            assert (await open_page.until("turn.ended"))["reason"] == "done"
        raised = said(open_page, "context_raised")
        assert len(raised) == 1 and "8,192 tokens" in raised[0] and "now gets 32,768" in raised[0]
        assert len(said(open_page, "prompt_too_long")) == 1, "it is said once"
    counted = site.rows("SELECT tools_digest, characters, tokens FROM toolsupport_promptcount")
    assert counted and all(tokens > 0 for _, _, tokens in counted)


# F9 M8
@pytest.mark.asyncio
async def test_a_cut_is_cured_and_a_context_that_does_not_load_is_taken_back(site: Site, ana: httpx.Client) -> None:
    async with page(site, ana, new_chat(ana)) as open_page:
        await choose(open_page, "sim-truncates:latest")
        asked = "What's in this folder?"

        async def answers(text: str) -> bool:
            """Whether the model called a tool."""
            before = len(open_page.of("call.finished"))
            await open_page.send("message.send", text=text)
            assert (await open_page.until("turn.ended"))["reason"] == "done"
            return len(open_page.of("call.finished")) > before

        assert not await answers("a " * 10_000 + asked), "its tools were cut away"
        assert "now gets 16,384" in said(open_page, "cut_raised")[0]
        assert await answers(asked)
        assert not said(open_page, "context_taken_back", "prompt_cut")
        assert not await answers("a " * 15_500 + asked)
        assert "now gets 32,768" in said(open_page, "cut_raised")[1]
        await answers(asked)
        back = said(open_page, "context_taken_back")
        assert (
            len(back) == 1 and "Its context is 16,384 again" in back[0] and "more system memory (16.0 GiB)" in back[0]
        )
        await answers(asked)
        assert len(said(open_page, "cut_raised")) == 2 and len(said(open_page, "context_taken_back")) == 1
        assert len(said(open_page, "prompt_cut")) == 1
        assert not said(open_page, "through_bash"), "it never saw the tools it says it lacks"
    sizes = "default_context, context_before, context_failed FROM toolsupport_modelprofile"
    assert site.rows(f"SELECT {sizes} WHERE name = 'sim-truncates:latest'") == [(16_384, 0, 32_768)]


# D4
@pytest.mark.asyncio
async def test_choosing_the_same_model_again_says_nothing(site: Site, ana: httpx.Client) -> None:
    async with page(site, ana, new_chat(ana)) as open_page:
        await choose(open_page, "sim-honest:latest")
        before = len(open_page.of("notice"))
        await open_page.send("model.select", model="sim-honest:latest")
        await open_page.send("ping")
        await open_page.until("pong")
        assert len(open_page.of("notice")) == before


# C5
@pytest.mark.asyncio
async def test_stop_ends_a_long_answer_at_once_and_keeps_its_text(site: Site, ana: httpx.Client) -> None:
    conversation = new_chat(ana)
    async with page(site, ana, conversation) as open_page:
        await choose(open_page, "sim-long:latest")
        await open_page.send("message.send", text="Tell me a long story")
        delta = await open_page.until("text.delta")
        asked = time.monotonic()
        await open_page.send("turn.stop")
        ended = await open_page.until("turn.ended")
        assert ended["reason"] == "stopped" and time.monotonic() - asked < 5
        said = open_page.text(delta["message"])
    shown = flat(ana.get(f"/chat/{conversation}/messages/").text)
    assert said.split()[0] in shown and "Stopped by you" in shown


# C5
@pytest.mark.asyncio
async def test_a_stopped_answer_goes_on_and_can_be_made_anew(site: Site, ana: httpx.Client) -> None:
    conversation = new_chat(ana)
    async with page(site, ana, conversation) as open_page:
        await choose(open_page, "sim-long:latest")
        await open_page.send("message.send", text="Tell me a long story")
        first = (await open_page.until("text.delta"))["message"]
        await open_page.send("turn.stop")
        await open_page.until("turn.ended", reason="stopped")
        await open_page.send("turn.continue")
        second = await open_page.until("message.started", role="assistant")
        assert second["parent"] == first
        await open_page.send("turn.stop")
        await open_page.until("turn.ended", reason="stopped")
        await open_page.send("turn.regenerate", message=second["message"], mode="without_tools", model="sim-honest")
        third = await open_page.until("message.started", role="assistant")
        assert third["parent"] == open_page.of("message.accepted")[0]["message"]
        await open_page.until("turn.ended", reason="done")
        assert open_page.of("turn.started")[-1]["tools"] == []
        tail = open_page.got[-1]["seq"]
        await open_page.send("branch.select", message=first)
        assert (await open_page.until("hello"))["tail"] == tail + 1
        assert len(open_page.of("message.accepted")) == 3
    shown = ana.get(f"/chat/{conversation}/messages/").text
    assert f'id="message-{second["message"]}"' in shown and f'id="message-{third["message"]}"' not in shown


# C5
@pytest.mark.asyncio
async def test_what_cannot_be_answered_again_is_told(site: Site, ana: httpx.Client) -> None:
    async with page(site, ana, new_chat(ana)) as open_page:
        for kind, fields in (
            ("turn.continue", {}),
            ("turn.regenerate", {"message": 1}),
            ("branch.select", {"message": 1}),
        ):
            client_id = await open_page.send(kind, **fields)
            error = await open_page.until("error")
            assert (error["code"], error["client_id"]) == ("not_found", client_id)


# C2
@pytest.mark.asyncio
async def test_a_page_that_comes_late_catches_up_exactly(site: Site, ana: httpx.Client) -> None:
    conversation = new_chat(ana)
    async with page(site, ana, conversation) as first:
        await choose(first, "sim-long:latest")
        await first.send("message.send", text="Tell me a long story")
        message = (await first.until("text.delta"))["message"]
        async with page(site, ana, conversation) as second:
            hello = await second.until("hello")
            assert hello["turn"] == first.of("turn.started")[0]["turn"]
            await second.send("turn.resync", message=message)
            await second.until("resync", message=message)
            del second.got[:-1]
            await second.until("text.delta", message=message)
            await second.until("text.delta", message=message)
            await first.send("turn.stop")
            await asyncio.gather(first.until("turn.ended"), second.until("turn.ended"))
            assert first.text(message) == second.text(message) != ""


# C5
@pytest.mark.asyncio
async def test_the_same_client_id_twice_is_one_turn(site: Site, ana: httpx.Client) -> None:
    conversation = new_chat(ana)
    async with page(site, ana, conversation) as open_page:
        await choose(open_page, "sim-honest:latest")
        await open_page.send("message.send", text="What is 17*23?", client_id="once")
        await open_page.send("message.send", text="What is 17*23?", client_id="once")
        await open_page.until("message.accepted")
        await open_page.until("turn.ended")
        if len(open_page.of("message.accepted")) < 2:
            await open_page.until("message.accepted")
        assert len({(frame["message"], frame["turn"]) for frame in open_page.of("message.accepted")}) == 1
        assert len(open_page.of("turn.started")) == 1


# C9
@pytest.mark.asyncio
async def test_a_second_message_while_one_is_answered_is_busy(site: Site, ana: httpx.Client) -> None:
    async with page(site, ana, new_chat(ana)) as open_page:
        await choose(open_page, "sim-long:latest")
        await open_page.send("message.send", text="Tell me a long story")
        await open_page.until("text.delta")
        client_id = await open_page.send("message.send", text="And another one")
        error = await open_page.until("error")
        assert (error["code"], error["client_id"]) == ("busy", client_id)
        await open_page.send("turn.stop")
        await open_page.until("turn.ended")


# SAFETY 1.2
@pytest.mark.asyncio
async def test_hostile_frames_get_typed_errors_and_the_socket_stays_usable(site: Site, ana: httpx.Client) -> None:
    async with page(site, ana, new_chat(ana)) as open_page:
        await open_page.until("hello")
        hostile = ["", "{", "[]", "null", "NaN", "[" * 5000, '{"type":"x"}', '{"type":"turn.resync","message":"1"}']
        for text in hostile:
            await open_page.ws.send_str(text)
            assert (await open_page.until("error"))["code"] in ("bad_frame", "unknown_type")
        await open_page.ws.send_bytes(b"\x00\xff")
        assert (await open_page.until("error"))["code"] == "bad_frame"
        await open_page.send("ping")
        await open_page.until("pong")


# SAFETY 2 (Web)
@pytest.mark.asyncio
async def test_a_page_of_another_origin_gets_no_socket(site: Site, ana: httpx.Client) -> None:
    conversation = new_chat(ana)
    stranger = Site(site.directory, port=site.port)
    for origin in (
        "http://evil.example",
        f"http://127.0.0.1:{site.port + 1}",
        f"https://127.0.0.1:{site.port}",
        "null",
    ):
        with pytest.raises(Exception, match="403"):
            await _open_from(stranger, ana, conversation, origin)


async def _open_from(site: Site, ana: httpx.Client, conversation: str, origin: str) -> None:
    import aiohttp

    cookies = "; ".join(f"{name}={value}" for name, value in ana.cookies.items())
    headers = {"Origin": origin, "Cookie": cookies}
    async with aiohttp.ClientSession() as session:
        await session.ws_connect(f"{site.url}/ws/chat/{conversation}/", headers=headers)


# C2 O4
@pytest.mark.asyncio
async def test_kill_9_in_the_middle_leaves_it_interrupted_and_loses_nothing_acknowledged(tmp_path: Path) -> None:
    with serving(tmp_path) as site, closing(sign_in(site)) as ana:
        conversation = new_chat(ana)
        async with page(site, ana, conversation) as open_page:
            await choose(open_page, "sim-long:latest")
            await open_page.send("message.send", text="Tell me a long story, please")
            message = (await open_page.until("text.delta"))["message"]
            # Until a tick was written, which a busy machine does late.
            while len(kept := site.rows("SELECT content FROM chat_message WHERE id = ?", message)[0][0]) < 60:
                await open_page.until("text.delta")
            site.kill(signal.SIGKILL)
        site.start()
        async with page(site, ana, conversation) as open_page:
            hello = await open_page.until("hello")
            if "turn" in hello:
                assert (await open_page.until("turn.ended"))["reason"] == "interrupted"
        shown = ana.get(f"/chat/{conversation}/messages/").text
        assert "Tell me a long story, please" in shown
        assert kept.split("\n")[0].lstrip("# ")[:40] in shown
        assert "interrupted" in shown


# O4
@pytest.mark.asyncio
async def test_sigterm_lets_a_running_answer_finish(tmp_path: Path) -> None:
    with serving(tmp_path) as site, closing(sign_in(site)) as ana:
        conversation = new_chat(ana)
        async with page(site, ana, conversation) as open_page:
            await choose(open_page, "sim-honest:latest")
            await open_page.send("message.send", text="What's in this folder?")
            await open_page.until("turn.started")
            assert site.process
            site.process.send_signal(signal.SIGTERM)
            assert (await open_page.until("turn.ended"))["reason"] == "done"
        assert site.process.wait(10) == 0
