"""One request to one model: the body, the events, and that tools never reach a model without support."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.tables import every
from tests.toolsupport.providers.scripted import (
    DONE,
    FINE,
    HEAD,
    LAST_CHUNK,
    answer,
    chunk,
    said,
    scripted,
)
from toolsupport import exchange, providers, stepwise_reader
from toolsupport.core.errors import ToolsupportError
from toolsupport.core.events import (
    CallReady,
    CallRejected,
    Event,
    Failed,
    Finished,
    ReasoningSeen,
    TextDelta,
    ThinkingDelta,
    ToolsRefused,
    Usage,
)
from toolsupport.core.prompt.system_prompt import WITHOUT_TOOLS
from toolsupport.core.prompt.tool_styles import STANDARD, STYLES
from toolsupport.core.types import (
    Capabilities,
    Capability,
    ChatMessage,
    Endpoint,
    Permit,
    Request,
    RequestSpec,
    Role,
    ToolCall,
    ToolSpec,
)
from toolsupport.simulator.server import Simulator

PATH = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
TOOLS = (ToolSpec("list_directory", "Lists the entries of a directory.", PATH),)
QUESTION = (ChatMessage(Role.USER, "What's in this folder?"),)
REFUSED = answer(400, b'{"error":"registry.ollama.ai/library/m does not support tools"}')
SERVER = Endpoint("ollama", "http://127.0.0.1:1")


def knows(tools: object) -> Capabilities:
    return Capabilities({"tools": Capability("tools", tools, "declared", "The server says so.")})


def request_spec(model: str = "m", tools: object = True, **given: object) -> RequestSpec:
    return RequestSpec(model, knows(tools), **({"tools": TOOLS, "format": "native"} | given))  # type: ignore[arg-type]


async def ask(endpoint: Endpoint, given: RequestSpec, messages: Sequence[ChatMessage] = QUESTION) -> list[Event]:
    return [event async for batch in exchange.ask(endpoint, given, messages) for event in batch]


class Recorder:
    """A provider that takes down every request and answers with prepared events."""

    def __init__(self, *replies: list[list[Event]]) -> None:
        self.replies = list(replies)
        self.requests: list[Request] = []
        self.closed = 0

    async def stream(self, endpoint: Endpoint, request: Request) -> AsyncGenerator[list[Event], None]:
        self.requests.append(request)
        try:
            for batch in self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]:
                yield batch
        finally:
            self.closed += 1


HI: list[Event] = [TextDelta("Hi"), Usage(), Finished("stop")]
REFUSAL = Failed("refused", "The server refused the request.", 400, '{"error":"m does not support tools"}')
LACKS = Failed("server", "", 500, '{"error":"tools param requires --jinja flag"}')


@pytest.fixture
def recorder(monkeypatch: pytest.MonkeyPatch):
    def use(*replies: list[list[Event]]) -> Recorder:
        made = Recorder(*replies)
        monkeypatch.setattr(providers, "stream", made.stream)
        return made

    return use


# -- tools never reach a model without support: three guards, each for itself --

VALUES = st.sampled_from([True, False, None, 1, "yes", "True", [True]])
FORMATS = st.sampled_from(["native", "", "hermes"])
PERMITS = st.sampled_from(list(Permit))


@given(VALUES, FORMATS, PERMITS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@pytest.mark.asyncio
async def test_the_exchange_looks_for_itself(recorder, value: object, format_: str, permit: Permit) -> None:
    """Whatever a mistaken registry put into the request."""
    made = recorder([HI])
    await ask(SERVER, request_spec(tools=value, format=format_, permit=permit))
    [request] = made.requests
    may = format_ == "native" and (value is True or permit is Permit.PROBE)
    assert request.tools == (TOOLS if may else ())
    told = request.messages[0].content
    assert (STYLES[STANDARD] if may or format_ == "hermes" else WITHOUT_TOOLS) in told


@given(VALUES, PERMITS, st.sampled_from(sorted(providers.PROVIDERS)))
def test_the_codec_refuses_for_itself(value: object, permit: Permit, kind: str) -> None:
    """Whatever a mistaken exchange put into the request."""
    request = Request("m", QUESTION, TOOLS, supports_tools=value, permit=permit)  # type: ignore[arg-type]
    if value is True or permit is Permit.PROBE:
        assert b'"tools":[' in providers.codec(kind).encode(request)
    else:
        with pytest.raises(ToolsupportError):
            providers.codec(kind).encode(request)


@pytest.mark.asyncio
@every("kind", providers.PROVIDERS)
@every("value", [True, False, None])
@every("format_", ["native", ""])
async def test_what_really_leaves_the_house(kind: str, value: bool | None, format_: str) -> None:
    async with scripted(FINE) as server:
        await ask(server.endpoint(kind=kind), request_spec(tools=value, format=format_))
        await ask(server.endpoint(kind=kind), without_any())
        with_tools = value is True and format_ == "native"
        assert ("tools" in server.bodies[0]) is with_tools
        assert "tools" not in server.bodies[1]  # never an empty list


def without_any() -> RequestSpec:
    return RequestSpec("m", knows(True), format="native")


# -- a refusal --


@pytest.mark.asyncio
async def test_a_refusal_is_told_and_the_question_put_again_without_tools() -> None:
    async with scripted(REFUSED, FINE) as server:
        events = await ask(server.endpoint(), request_spec())
        message = "registry.ollama.ai/library/m does not support tools"
        assert events == [ToolsRefused(message, "does-not-support", 400), *HI]
        first, second = server.bodies
        assert "tools" in first and "tools" not in second
        assert first["messages"][-1] == second["messages"][-1]
        assert WITHOUT_TOOLS in second["messages"][0]["content"]
        assert first["options"]["num_ctx"] == second["options"]["num_ctx"]


@pytest.mark.asyncio
async def test_a_refusal_inside_of_a_200() -> None:
    line = b'{"error":"m does not support tools"}\n'
    async with scripted((HEAD, chunk(line), LAST_CHUNK), FINE) as server:
        events = await ask(server.endpoint(), request_spec())
        assert isinstance(events[0], ToolsRefused)
        assert events[1:] == HI


@pytest.mark.asyncio
async def test_once_and_no_more() -> None:
    async with scripted(REFUSED) as server:
        events = await ask(server.endpoint(), request_spec())
        assert [type(event) for event in events] == [ToolsRefused, Failed]
        assert len(server.requests) == 2


@pytest.mark.asyncio
async def test_a_probe_is_told_and_gets_the_failure() -> None:
    async with scripted(REFUSED, FINE) as server:
        events = await ask(server.endpoint(), request_spec(tools=None, permit=Permit.PROBE))
        assert [type(event) for event in events] == [ToolsRefused, Failed]
        assert isinstance(events[1], Failed) and events[1].status == 400 and "does not support" in events[1].body
        assert len(server.requests) == 1


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "batches",
    [
        [[TextDelta("Hi")], [REFUSAL]],
        [[TextDelta("Hi"), REFUSAL]],
        [[ThinkingDelta("Hm")], [REFUSAL]],
        [[CallReady(ToolCall("1", "list_directory", {"path": "."}))], [REFUSAL]],
    ],
)
async def test_after_the_first_word_nothing_is_taken_back(recorder, batches: list[list[Event]]) -> None:
    made = recorder(batches)
    events = await ask(SERVER, request_spec())
    assert events[-1] == REFUSAL
    assert not any(isinstance(event, ToolsRefused) for event in events)
    assert len(made.requests) == 1


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "failed",
    [
        Failed("refused", "", 400, '{"error":"m does not support thinking"}'),
        Failed("busy", "", 429, '{"error":"m does not support tools"}'),
        Failed("unreachable", "m does not support tools"),
        Failed("cut", ""),
    ],
)
async def test_other_failures_teach_nothing(recorder, failed: Failed) -> None:
    made = recorder([[failed]])
    assert await ask(SERVER, request_spec()) == [failed]
    assert len(made.requests) == 1


@pytest.mark.asyncio
async def test_a_server_that_lacks_a_flag_is_asked_again_without_tools(recorder) -> None:
    made = recorder([[LACKS]], [[Finished("stop")]], [[LACKS]])
    told, *answer = await ask(SERVER, request_spec())
    assert isinstance(told, ToolsRefused) and told.misconfigured and "--jinja" in told.message
    assert answer == [Finished("stop")]
    assert await ask(SERVER, request_spec(permit=Permit.PROBE)) == [LACKS], "a probe judges by itself"
    assert [bool(request.tools) for request in made.requests] == [True, False, True]


@pytest.mark.asyncio
async def test_without_tools_there_is_nothing_to_refuse(recorder) -> None:
    made = recorder([[REFUSAL]])
    assert await ask(SERVER, request_spec(tools=False, format="")) == [REFUSAL]
    assert len(made.requests) == 1


# -- calls --


@pytest.mark.asyncio
async def test_calls_are_checked(recorder) -> None:
    right = ToolCall("1", "list_directory", {"path": "."})
    recorder(
        [
            [CallReady(right, '{"path":"."}'), CallReady(ToolCall("2", "List_Directory", {"path": "."}), "raw")],
            [CallReady(ToolCall("3", "list_directory", {}), "{}"), CallReady(ToolCall("4", "rm", {}))],
            [CallRejected("x", "broken", "raw", "5"), Usage(), Finished("stop")],
        ]
    )
    events = await ask(SERVER, request_spec())
    assert events[0] == CallReady(right, '{"path":"."}')
    corrected, no_path, unknown, broken = events[1:5]
    assert isinstance(corrected, CallReady) and corrected.call.name == "list_directory" and corrected.call.repairs
    assert corrected.raw == "raw"
    assert isinstance(no_path, CallRejected) and "path" in no_path.reason and no_path.raw == "{}"
    assert isinstance(unknown, CallRejected) and "no tool" in unknown.reason
    assert broken == CallRejected("x", "broken", "raw", "5")
    assert events[5:] == [Usage(), Finished("stop")]


@pytest.mark.asyncio
async def test_a_call_nobody_offered_is_rejected(recorder) -> None:
    recorder([[CallReady(ToolCall("1", "list_directory", {"path": "."})), Finished("stop")]])
    assert isinstance((await ask(SERVER, request_spec(tools=False)))[0], CallRejected)


# -- what is sent, how it ends --


@pytest.mark.asyncio
async def test_history_is_rendered_for_what_the_model_may_see(recorder) -> None:
    made = recorder([HI])
    log = (
        QUESTION[0],
        ChatMessage(Role.ASSISTANT, "", calls=(ToolCall("1", "list_directory", {"path": "."}),)),
        ChatMessage(Role.TOOL, "a.txt", call_id="1", name="list_directory"),
        ChatMessage(Role.NOTICE, "Switched to m."),
    )
    await ask(SERVER, request_spec(system="Be kind."), log)
    await ask(SERVER, request_spec(tools=False, system="Be kind."), log)
    native, plain = (request.messages for request in made.requests)
    assert [message.role.value for message in native] == ["system", "user", "assistant", "tool"]
    assert [message.role.value for message in plain] == ["system", "user", "assistant", "user"]
    assert native[0].content.startswith("Be kind.") and plain[0].content.startswith("Be kind.")


@pytest.mark.asyncio
async def test_the_brief_reaches_the_request(recorder) -> None:
    made = recorder([HI])
    await ask(SERVER, request_spec(think=False, keep_alive="5m", options={"seed": 7}))
    [request] = made.requests
    assert (request.think, request.keep_alive) == (False, "5m")
    assert request.options == {"num_ctx": 8192, "temperature": 0.3, "seed": 7}


@pytest.mark.asyncio
async def test_leaving_early_closes_the_provider(recorder) -> None:
    made = recorder([[TextDelta("Hi")], [TextDelta("!")]])
    answer_ = exchange.ask(SERVER, request_spec(), QUESTION)
    assert await anext(answer_) == [TextDelta("Hi")]
    await answer_.aclose()
    assert made.closed == 1


@pytest.mark.asyncio
async def test_batches_stay_as_they_were_read() -> None:
    async with scripted((HEAD, said("a"), DONE, LAST_CHUNK)) as server:
        batches = [batch async for batch in exchange.ask(server.endpoint(), request_spec(), QUESTION)]
        assert [event for batch in batches for event in batch] == [
            TextDelta("a"),
            Usage(),
            ReasoningSeen(False),
            Finished("stop"),
        ]
        assert all(batches)


# -- the built-in simulator, over the wire --


@pytest.mark.asyncio
@every(
    ("model", "tools", "first", "last"),
    [
        ("sim-honest", True, CallReady, Finished),
        ("sim-honest", False, TextDelta, Finished),
        ("sim-refuses", True, ToolsRefused, Finished),
        ("sim-refuses", False, TextDelta, Finished),
        ("sim-ignores", True, TextDelta, Finished),
        ("sim-thinks", True, ThinkingDelta, Finished),
        ("sim-dies", False, TextDelta, Failed),
        ("no-such-model", True, Failed, Failed),
    ],
)
async def test_simulated_models(model: str, tools: bool, first: type, last: type) -> None:
    simulator = Simulator("127.0.0.1", 0, pace_ms=0)
    await simulator.start()
    try:
        endpoint = Endpoint("simulator", f"http://127.0.0.1:{simulator.port}")
        messages = QUESTION if model != "sim-dies" else (ChatMessage(Role.USER, "Tell me a long story."),)
        events = await ask(endpoint, request_spec(model, tools), messages)
        assert isinstance(events[0], first)
        assert isinstance(events[-1], last)
        if model == "sim-honest" and tools:
            assert isinstance(events[0], CallReady) and events[0].call.name == "list_directory"
    finally:
        await providers.close()
        await simulator.stop()


@pytest.mark.asyncio
async def test_a_loop_of_calls_with_the_simulator() -> None:
    simulator = Simulator("127.0.0.1", 0, pace_ms=0)
    await simulator.start()
    try:
        endpoint = Endpoint("simulator", f"http://127.0.0.1:{simulator.port}")
        [ready, *_] = await ask(endpoint, request_spec("sim-honest"))
        assert isinstance(ready, CallReady)
        log = (
            *QUESTION,
            ChatMessage(Role.ASSISTANT, calls=(ready.call,)),
            ChatMessage(Role.TOOL, "notes.md\nconfig.json", call_id=ready.call.id, name=ready.call.name),
        )
        events = await ask(endpoint, request_spec("sim-honest"), log)
        text = "".join(event.text for event in events if isinstance(event, TextDelta))
        assert "notes.md" in text
        assert not any(isinstance(event, CallReady) for event in events)
    finally:
        await providers.close()
        await simulator.stop()


def test_in_a_text_format_tools_stand_in_the_text_only() -> None:  # F6 F7
    request = exchange.make_request(request_spec(tools=False, format="hermes", think=True), QUESTION)
    assert (request.tools, request.think) == ((), True)
    assert all(tool.name in request.messages[0].content for tool in TOOLS)


def test_definitions_are_completed() -> None:  # F6
    given = RequestSpec("m", knows(True), (ToolSpec("f", parameters={}),), format="native")
    [tool] = exchange.make_request(given, QUESTION).tools
    assert tool.parameters == {"type": "object", "properties": {}, "required": []}


def test_texts_of_one_read_are_joined() -> None:
    thought, word = ThinkingDelta("hm"), TextDelta("a" * 90)
    batch: list[Event] = [thought, thought, *[word] * 5, Usage(), word, Finished("stop")]
    assert [*stepwise_reader.pieces(batch)] == [
        ThinkingDelta("hmhm"),
        *(TextDelta("a" * 180), TextDelta("a" * 180), TextDelta("a" * 90)),
        *(Usage(), word, Finished("stop")),
    ]
