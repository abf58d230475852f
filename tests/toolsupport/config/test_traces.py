"""Spans reach a collector on this machine: their order, their facts, and nothing that people or models wrote."""

from __future__ import annotations

import re
import signal
import time
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import httpx
import pytest
import pytest_asyncio

from tests.chat.test_end_to_end import choose
from tests.installed import needs_package
from tests.serving import PATIENCE, Site, free_port, new_chat, page, serving, sign_in
from tests.span_receiver import ReceivedSpan, span_receiver
from toolsupport import providers
from toolsupport.config import traces
from toolsupport.config.traces import NOTHING
from toolsupport.core.types import ChatMessage, Endpoint, Request, Role

pytestmark = needs_package("opentelemetry.exporter.otlp.proto.http")
QUESTION = "What is in the file notes.md? My secret word is xylophone."
TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
SERVER, CLIENT = 2, 3
STATED = ("", "x", f"00-{'0' * 32}-{PARENT}-01", f"ff-{TRACE}-{PARENT}-01", "00-" + "9" * 9000)


async def answered(site: Site, ana: httpx.Client, question: str) -> str:
    """The id of a chat with an answer that called a tool."""
    conversation = new_chat(ana)
    async with page(site, ana, conversation) as open_page:
        await choose(open_page, "sim-honest:latest")
        await open_page.send("message.send", text=question)
        await open_page.until("turn.ended")
    return conversation


def ask(site: Site, key: str, stream: bool) -> None:
    body = {"model": "Simulator/sim-honest:latest", "messages": [{"role": "user", "content": QUESTION}]}
    headers = {"authorization": f"Bearer {key}", "traceparent": f"00-{TRACE}-{PARENT}-01"}
    answer = httpx.post(
        f"{site.url}/v1/chat/completions", json=body | {"stream": stream}, headers=headers, timeout=PATIENCE
    )
    assert answer.status_code == 200, answer.text


def within(spans: list[ReceivedSpan], one: ReceivedSpan) -> list[str]:
    """The names of a span and of those it is a part of, the outermost one first."""
    above = next((other for other in spans if other.id == one.inside), None)
    return [*(within(spans, above) if above else ()), one.name]


# P7
@pytest.mark.asyncio
async def test_the_parts_of_an_answer_are_spans_without_contents(tmp_path: Path) -> None:
    with span_receiver() as receiver, serving(tmp_path, TOOLSUPPORT_TRACES=receiver.url) as site:
        with closing(sign_in(site)) as ana:
            conversation = await answered(site, ana, QUESTION)
        key = re.findall(r"tsk-\S+", site.manage("create_api_key", "ana"))[0]
        for stream in (False, True):
            ask(site, key, stream)
        site.kill(signal.SIGTERM)
        spans = receiver.spans()
    assert {path for path, _ in receiver.requests} == {"/v1/traces"}
    chat = [one for one in spans if one.facts.get("gen_ai.conversation.id") == conversation]
    [turn] = chat
    assert turn.name == "invoke_agent" and turn.facts["toolsupport.outcome"] == "done" and not turn.inside
    parts = sorted(within(spans, one) for one in spans if one.trace == turn.trace)
    model = "chat sim-honest:latest"
    assert parts == [
        ["invoke_agent"],
        *(["invoke_agent", "round"], ["invoke_agent", "round"]),
        *(["invoke_agent", "round", model], ["invoke_agent", "round", model]),
        ["invoke_agent", "round", "execute_tool read_file"],
    ]
    of_program = sorted(within(spans, one) for one in spans if one.trace == TRACE)
    request = "POST /v1/chat/completions"
    assert of_program == [*[[request]] * 2, *[[request, "invoke_agent"]] * 2, *[[request, "invoke_agent", model]] * 2]
    assert {one.inside for one in spans if one.name == request} == {PARENT}
    [asked, *_] = [one for one in spans if one.name == model]
    assert asked.kind == CLIENT and asked.facts["gen_ai.usage.output_tokens"] > 0
    assert asked.facts["gen_ai.provider.name"] == "simulator" and asked.facts["server.address"] == "127.0.0.1"
    everything = b"".join(receiver.bodies)
    for content in (b"xylophone", b"notes.md", b"passphrase", key.encode(), b"/?", b"ana"):
        assert content not in everything, content


@pytest_asyncio.fixture
async def recording() -> AsyncIterator[None]:
    yield
    await traces.stop()
    await providers.close()


@pytest.mark.asyncio
async def test_without_a_collector_nothing_is_recorded(recording: None) -> None:
    traces.start("")
    assert traces.begin("a") is NOTHING and traces.begin_request("b") is NOTHING and not traces.recording()
    NOTHING.add(model="m")
    NOTHING.fail("busy")
    NOTHING.end()


@pytest.mark.asyncio
async def test_a_collector_that_is_away_delays_no_stop(recording: None) -> None:
    traces.start(f"http://127.0.0.1:{free_port()}")
    traces.begin("a").end()
    began = time.monotonic()
    await traces.stop()
    assert time.monotonic() - began < traces.LONGEST_STOP + 1 and not traces.recording()


@pytest.mark.asyncio
async def test_no_proxy_and_no_redirect_is_followed(recording: None, monkeypatch: pytest.MonkeyPatch) -> None:
    with span_receiver(302) as receiver, span_receiver() as proxy:
        for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.url)
        monkeypatch.setenv("no_proxy", "")
        monkeypatch.setenv("NO_PROXY", "")
        traces.start(receiver.url)
        traces.begin("a").end()
        await traces.stop()
        assert [path for path, _ in receiver.requests] == ["/v1/traces"] and not proxy.requests


@pytest.mark.asyncio
async def test_a_failed_request_has_its_code_and_no_words(recording: None) -> None:
    secret = "tell-no-one"
    with span_receiver() as receiver:
        traces.start(receiver.url)
        endpoint = Endpoint("ollama", f"http://me:{secret}@127.0.0.1:{free_port()}", api_key=secret)
        asked = Request("m", (ChatMessage(Role.USER, secret),))
        assert [batch async for batch in providers.stream(endpoint, asked)]
        await traces.stop()
        [span] = receiver.until("chat m")
    assert span.failed and span.facts["error.type"] == "unreachable" and span.kind == CLIENT
    assert secret.encode() not in b"".join(receiver.bodies)


@pytest.mark.asyncio
async def test_what_outlives_a_request_is_no_part_of_it(recording: None) -> None:
    with span_receiver() as receiver:
        traces.start(receiver.url)
        request = traces.begin_request("", request="1")
        with traces.inside(request):
            traces.begin("during").end()
            request.end()
            traces.begin("after").end()
        traces.begin("outside").end()
        await traces.stop()
        spans = {one.name: one for one in receiver.until("request", "during", "after", "outside")}
    assert spans["request"].kind == SERVER and spans["during"].inside == spans["request"].id
    assert not (spans["after"].inside or spans["outside"].inside)


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "stated", ["", "x", f"00-{'0' * 32}-{PARENT}-01", f"ff-{TRACE}-{PARENT}-01", "00-" + "9" * 9000]
)
async def test_a_trace_that_no_program_can_have_is_ignored(recording: None, stated: str) -> None:
    with span_receiver() as receiver:
        traces.start(receiver.url)
        traces.begin_request(stated).end()
        await traces.stop()
        [span] = receiver.until("request")
    assert not span.inside and span.trace != TRACE
