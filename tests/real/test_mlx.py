"""Our client against a real OpenAI-compatible server: alone, and through the whole product."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import httpx
import pytest
import pytest_asyncio

from tests.real.conftest import ARGUMENTS, FINAL, HELLO
from tests.real.servers import Served
from tests.serving import new_chat, page, serving, sign_in
from toolsupport import exchange, providers
from toolsupport.core.events import CallDelta, CallReady, Event, Failed, Finished, TextDelta, Usage
from toolsupport.core.types import Capabilities, Capability, ChatMessage, RequestSpec, Role, ToolSpec

pytestmark = pytest.mark.real_server

PATH = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
TOOL = ToolSpec("list_directory", "Lists the entries of a directory.", PATH)
QUESTION = ChatMessage(Role.USER, "What's in this folder?")


@pytest_asyncio.fixture(autouse=True)
async def _client_ends_with_the_test() -> AsyncIterator[None]:
    yield
    await providers.close()


def request_spec(model: str, *tools: ToolSpec) -> RequestSpec:
    known = Capabilities({"tools": Capability("tools", bool(tools), "user_confirmed", "A person said so.")})
    return RequestSpec(model, known, tools=tools, format="native" if tools else "")


async def ask(server: Served, given: RequestSpec, *messages: ChatMessage) -> list[Event]:
    return [event async for batch in exchange.ask(server.endpoint, given, messages) for event in batch]


def text(events: list[Event]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


@pytest.mark.asyncio
async def test_it_lists_its_model_and_says_nothing_of_tools(real: Served) -> None:  # M1
    report = await providers.survey(real.endpoint)
    [model] = [model for model in report.models if model.name == real.model]
    assert model.capabilities is None


@pytest.mark.asyncio
async def test_a_plain_answer(real: Served) -> None:  # F10
    events = await ask(real, request_spec(real.model), QUESTION)
    assert text(events) == HELLO
    assert events[-1] == Finished("stop")
    [usage] = [event for event in events if isinstance(event, Usage)]
    assert usage.prompt_tokens and usage.output_tokens


@pytest.mark.asyncio
async def test_a_call_and_the_answer_from_its_result(real: Served) -> None:  # F10
    events = await ask(real, request_spec(real.model, TOOL), QUESTION)
    [ready] = [event for event in events if isinstance(event, CallReady)]
    assert (ready.call.name, ready.call.arguments) == ("list_directory", ARGUMENTS)
    assert "".join(event.text for event in events if isinstance(event, CallDelta)) == ready.raw
    assert events[-1] == Finished("tool_calls")
    asked = ChatMessage(Role.ASSISTANT, text(events), calls=(ready.call,))
    result = ChatMessage(Role.TOOL, "config.json", call_id=ready.call.id, name=ready.call.name)
    answer = await ask(real, request_spec(real.model, TOOL), QUESTION, asked, result)
    assert (text(answer), answer[-1]) == (FINAL, Finished("stop"))


@pytest.mark.asyncio
async def test_a_call_that_nobody_can_read_is_said(broken: Served) -> None:
    events = await ask(broken, request_spec(broken.model, TOOL), QUESTION)
    assert isinstance(events[-1], Failed)
    assert events[-1].kind == "garbled" and "sent no call" in events[-1].message


@pytest.mark.asyncio
async def test_an_unknown_model_is_told(real: Served) -> None:
    [failure] = await ask(real, request_spec("no-such-model"), QUESTION)
    assert isinstance(failure, Failed) and failure.status == 404


def confirm_tools(client: httpx.Client, model: str, said: str = "yes") -> str:
    """Decide on its page whether the model has tools; gives the id of its row."""
    listed = client.get("/models/").text
    rows = re.findall(r'href="/models/(\d+)/"[^>]*>\s*([^<]+)', listed)
    [row] = {number for number, name in rows if name.strip() == model}
    sent = {"decision": said, "reason": "", "newest": "0", "csrfmiddlewaretoken": client.cookies["csrftoken"]}
    assert client.post(f"/models/{row}/override/", data=sent).status_code == 200
    return row


# C1 M1 T3
@pytest.mark.asyncio
async def test_the_whole_product_with_a_real_model_server(real: Served, tmp_path: Path) -> None:
    with serving(tmp_path, TOOLSUPPORT_SERVERS=f"mlx=openai+{real.url}/v1") as site, closing(sign_in(site)) as client:
        site.manage("refresh_models", "--server", "mlx")
        row = confirm_tools(client, real.model)
        async with page(site, client, new_chat(client)) as open_page:
            await open_page.until("hello")
            await open_page.send("model.select", model=row)
            await open_page.send("message.send", text="What's in this folder?")
            ended = await open_page.until("turn.ended")
            assert ended["reason"] == "done"
            finished = open_page.of("call.finished")[0]["call"]
            assert (finished["name"], finished["status"]) == ("list_directory", "done")
            assert "config.json" in finished["result"]
            assert open_page.text(open_page.of("message.finished")[-1]["message"]) == FINAL


# F2 F3 F7: in Mistral's words nothing looks to this model like tools or results, so it makes its call again and again.
@pytest.mark.asyncio
async def test_a_model_without_native_tools_calls_in_text(plain: Served, tmp_path: Path) -> None:
    chosen = {"TOOLSUPPORT_SERVERS": f"mlx=openai+{plain.url}/v1", "TOOLSUPPORT_TEXT_FORMATS": "all"}
    with serving(tmp_path, **chosen) as site, closing(sign_in(site)) as client:
        site.manage("refresh_models", "--server", "mlx")
        row = confirm_tools(client, plain.model, "no")
        conversation = new_chat(client)
        headers = {"X-CSRFToken": client.cookies["csrftoken"]}
        client.post(f"/chat/{conversation}/settings/", data={"format": "mistral"}, headers=headers).raise_for_status()
        async with page(site, client, conversation) as open_page:
            await open_page.until("hello")
            await open_page.send("model.select", model=row)
            await open_page.send("message.send", text="What's in this folder?")
            assert (await open_page.until("turn.ended"))["reason"] == "limit"
            assert open_page.of("turn.started")[0]["format"] == "mistral"
            calls = [frame["call"] for frame in open_page.of("call.finished")]
            assert {(call["name"], call["status"], call["format"]) for call in calls} == {
                ("list_directory", "done", "mistral")
            }
            assert len(calls) == 3 and "config.json" in calls[0]["result"]
