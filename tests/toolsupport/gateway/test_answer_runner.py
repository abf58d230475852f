"""Answers to programs keep to limits, send keep-alive comments, and are counted."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import orjson
import pytest
from channels.db import database_sync_to_async as in_database
from django.conf import settings
from django.db import DatabaseError

from tests.factories import ModelProfileFactory, ServerFactory, UserFactory
from tests.toolsupport.gateway.conftest import LIST, Program, pieces
from tests.toolsupport.providers.scripted import HANG, LAST_CHUNK, Scripted, Step, chunk, scripted
from toolsupport.config import metrics
from toolsupport.core.errors import Busy
from toolsupport.gateway import answer_runner, keep_alive
from toolsupport.gateway.answer_runner import ReplySlots, places
from toolsupport.gateway.request_preparation import Caller
from toolsupport.models import CallMetric, ReplyTime
from toolsupport.registry.knowledge import overrides
from toolsupport.registry.knowledge.overrides import NewOverride
from toolsupport.registry.metrics import call_metrics
from toolsupport.registry.servers import missing_flags
from toolsupport.services import background_jobs

pytestmark = pytest.mark.asyncio
Knows = Callable[..., Any]

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"


def said(**choice: Any) -> bytes:
    return chunk(b"data: " + orjson.dumps({"choices": [{"index": 0, "delta": {}} | choice]}) + b"\n\n")


def called(arguments: str, **more: Any) -> bytes:
    function = {"name": "list_directory", "arguments": arguments}
    return said(delta={"tool_calls": [{"index": 0, "id": "c1", "type": "function", "function": function}]}, **more)


WORD, WRONG, RIGHT = said(delta={"content": "Hi"}), called('{"path": null}'), called('{"path":"."}')
COUNTED = chunk(b'data: {"choices": [], "usage": {"prompt_tokens": 11, "completion_tokens": 5}}\n\n')
ENDED = said(finish_reason="stop")
END = (chunk(b"data: [DONE]\n\n"), LAST_CHUNK)


def server_of(port: int) -> None:
    server = ServerFactory(name="made", kind="openai", base_url=f"http://127.0.0.1:{port}")
    profile = ModelProfileFactory(server=server, name="m")
    overrides.add(NewOverride(profile.pk, "tools", True, actor=UserFactory().pk, reason="tried it"))


async def answering(server: Scripted, *answers: Sequence[Step]) -> None:
    """Let a server give these answers, one after the other."""
    server.answers[:] = answers
    await in_database(server_of)(server.port)


async def leave(answer: Any) -> None:
    """As a program does that goes away in the middle; what Django hands out hides what is to be closed."""
    await answer._iterator.aclose()


def counts() -> set[tuple[Any, ...]]:
    return set(CallMetric.objects.values_list("format", "outcome", "calls"))


async def test_calls_of_programs_are_counted_like_those_of_chats(program: Program, knows: Knows) -> None:  # D15
    profile = await knows("sim-honest", tools=True)
    labels = {"model": str(profile), "format": "native", "outcome": "ready"}
    before = metrics.REGISTRY.get_sample_value("toolsupport_calls_total", labels) or 0
    await program.ask("sim-honest")
    await program.stream("sim-honest")
    assert await in_database(counts)() == {("native", "ready", 2)}
    assert metrics.REGISTRY.get_sample_value("toolsupport_calls_total", labels) == before + 2
    [(tokens, latency)] = await in_database(lambda: list(CallMetric.objects.values_list("tokens", "latency_ms")))()
    assert tokens > 0 and latency >= 0
    timed = await in_database(lambda: list(ReplyTime.objects.values_list("profile", "format", "replies")))()
    assert {(one, name) for one, name, _ in timed} == {(profile, "native")} and sum(one[2] for one in timed) == 2


async def test_an_answer_is_not_lost_where_nothing_can_be_counted(
    program: Program, knows: Knows, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def locked(*_: Any) -> None:
        raise DatabaseError("the database is locked")

    await knows("sim-honest", tools=True)
    monkeypatch.setattr(call_metrics, "add", locked)
    assert (await program.ask("sim-honest")).status_code == 200
    assert pieces(await program.stream("sim-honest"))
    assert "could not write the call counts" in caplog.text


@pytest.mark.parametrize("stream", [False, True])
async def test_a_server_that_lacks_a_flag_answers_without_tools(program: Program, knows: Knows, stream: bool) -> None:
    await knows("sim-misconfigured", tools=True, format=False)
    answer = await (program.stream if stream else program.ask)("sim-misconfigured")
    objects = pieces(answer) if isinstance(answer, list) else [answer.json()]
    (told,) = [one["x_toolsupport"] for one in objects if "x_toolsupport" in one]
    assert (told["format"], told["tools_left_out"]) == (None, "misconfigured")
    assert await in_database(missing_flags.servers)() == 1
    assert not await in_database(counts)()


async def test_an_answer_with_tools_ends_the_mark(program: Program, knows: Knows) -> None:  # P9
    profile = await knows("sim-honest", tools=True)
    await in_database(missing_flags.missing)(profile, "--jinja")
    await program.ask("sim-honest", tools=[])
    assert await in_database(missing_flags.servers)() == 1
    await program.ask("sim-honest")
    assert await in_database(missing_flags.servers)() == 0


async def test_refused_tools_are_counted(program: Program, knows: Knows) -> None:  # D15
    await knows("sim-refuses", tools=True)
    await program.ask("sim-refuses")
    assert ("native", "refused", 1) in await in_database(counts)()


@pytest.mark.parametrize("stream", [False, True])
async def test_arguments_that_do_not_fit_are_asked_for_again(program: Program, stream: bool) -> None:  # F11
    """Of a stream: as long as nothing of the call was sent."""
    wrong = [HEAD, called("{}", finish_reason="tool_calls"), COUNTED, *END]
    right = [HEAD, RIGHT, ENDED, COUNTED, *END]
    async with scripted([b""]) as server:
        await answering(server, wrong, right)
        answer = await program.ask("made/m", stream=stream, tool_choice="required")
        text = b"".join([piece async for piece in answer.streaming_content]) if stream else answer.content
        assert rb"{\"path\":\".\"}" in text and b"error" not in text
        assert len(server.requests) == 2
    assert await in_database(counts)() == {("native", "schema", 1), ("native", "ready", 1)}


async def test_of_a_call_that_may_be_reasoning_nothing_was_sent_so_it_is_asked_for_again(program: Program) -> None:
    async with scripted([b""]) as server:
        await answering(server, [HEAD, WORD, WRONG, ENDED, *END], [HEAD, RIGHT, ENDED, *END])
        text = "".join(await program.stream("made/m"))
    assert len(server.requests) == 2 and "error" not in text and '"no' not in text


DEPTH = {"type": "object", "properties": {"path": {"type": "string"}, "depth": {"type": "integer"}}}
DEEP = {"type": "function", "function": {"name": "list_directory", "parameters": DEPTH}}


@pytest.mark.parametrize("stream", [False, True])
async def test_arguments_of_native_calls_are_repaired_by_their_schema(program: Program, stream: bool) -> None:
    async with scripted([b""]) as server:
        await answering(server, [HEAD, called('{"path":".",'), called('"depth":"3"}'), ENDED, *END])
        answer = await (program.stream if stream else program.ask)("made/m", tools=[DEEP])
        assert len(server.requests) == 1
    objects = pieces(answer) if isinstance(answer, list) else [answer.json()]
    made = [one["choices"][0].get("delta") or one["choices"][0].get("message") or {} for one in objects]
    [call] = [call for message in made for call in message.get("tool_calls", ())]
    assert call["function"] == {"name": "list_directory", "arguments": '{"path":".","depth":3}'}
    assert objects[-1]["x_toolsupport"]["repairs"] == ["depth: read string as integer"]
    assert await in_database(counts)() == {("native", "repaired", 1)}


THOUGHT = said(delta={"reasoning_content": "hm"})
LEARNED = [[HEAD, WORD, ENDED, *END]]  # an answer in words alone: its model does not begin inside reasoning


@pytest.mark.parametrize(
    ("learned", "before"), [([], []), ([], [THOUGHT]), ([], [THOUGHT, WORD]), (LEARNED, [WORD]), (LEARNED, [])]
)
async def test_arguments_are_passed_on_while_they_are_written(
    program: Program, learned: list[Sequence[Step]], before: list[bytes]
) -> None:  # G1
    """The server ends its reply only after the program has read the first half of a call."""
    read = asyncio.Event()

    async def until_read(_: Scripted) -> None:
        await read.wait()

    async with scripted([b""]) as server:
        await answering(server, *learned, [HEAD, *before, called('{"path": "'), until_read, called('."}'), ENDED, *END])
        for _ in learned:
            await program.stream("made/m")
        answer = await program.ask("made/m", stream=True)
        seen = b""
        async with asyncio.timeout(10):
            async for piece in answer.streaming_content:
                seen += piece
                if rb"{\"path\": \"" in seen:
                    read.set()
    assert read.is_set() and b"[DONE]" in seen and b'"finish_reason":"tool_calls"' in seen


async def test_a_call_behind_words_of_an_unknown_model_waits_for_the_end(program: Program) -> None:  # F3
    draft = [HEAD, WORD, called('{"path": "."}'), said(delta={"content": "or not</think>No."}), ENDED, *END]
    async with scripted([b""]) as server:
        await answering(server, draft)
        assert "tool_calls" not in "".join(await program.stream("made/m"))


async def test_a_call_that_turns_out_to_be_reasoning_ends_its_stream_with_an_error(program: Program) -> None:  # F3
    draft = [HEAD, called('{"path": "."}'), said(delta={"content": "or not</think>No."}), ENDED, *END]
    async with scripted([b""]) as server:
        await answering(server, draft)
        lines = await program.stream("made/m")
    assert lines[-2] == "event: error" and "part of the model's reasoning" in lines[-1]
    assert not any("[DONE]" in line or '"finish_reason":"' in line for line in lines)


async def test_tokens_of_all_attempts_are_told(program: Program) -> None:  # G1
    async with scripted([b""]) as server:
        await answering(server, [HEAD, WORD, ENDED, COUNTED, *END], [HEAD, RIGHT, ENDED, COUNTED, *END])
        usage = (await program.ask("made/m", tool_choice="required")).json()["usage"]
    assert usage == {"prompt_tokens": 22, "completion_tokens": 10, "total_tokens": 32}


async def test_no_tokens_are_told_where_the_server_counts_none(program: Program) -> None:
    async with scripted([b""]) as server:
        await answering(server, [HEAD, WORD, ENDED, *END])
        assert (await program.ask("made/m")).json()["usage"] is None
        last = pieces(await program.stream("made/m", stream_options={"include_usage": True}))[-1]
    assert (last["choices"], last["usage"]) == ([], None)


async def test_a_silent_stream_says_that_it_lives(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keep_alive, "SILENCE", 0.02)
    async with scripted([b""]) as server:
        await answering(server, [HANG])
        answer = await program.ask("made/m", stream=True)
        content = aiter(answer.streaming_content)
        assert [(await anext(content))[:1] for _ in range(3)] == [b":", b":", b":"]
        await leave(answer)
        async with asyncio.timeout(1):
            await server.until_open(0)


async def test_a_reader_who_takes_nothing_slows_the_model_down(program: Program) -> None:
    """What the server says waits in its connection, not here."""
    given = []

    async def numbers():
        for number in range(100):
            given.append(number)
            yield [number]

    batches = keep_alive.with_keep_alive(numbers())
    assert await anext(batches) == [0]
    for _ in range(20):
        await asyncio.sleep(0)
    assert len(given) <= 4
    assert [batch async for batch in batches][-1] == [99]


async def test_the_end_is_seen_without_waiting_for_a_silence() -> None:
    async def slow():
        yield [1]
        await asyncio.sleep(0)

    async with asyncio.timeout(keep_alive.SILENCE / 2):
        assert [batch async for batch in keep_alive.with_keep_alive(slow())] == [[1]]


async def test_a_failure_while_reading_reaches_the_reader() -> None:
    async def broken():
        yield [1]
        raise ValueError("broken")

    batches = keep_alive.with_keep_alive(broken())
    assert await anext(batches) == [1]
    with pytest.raises(ValueError, match="broken"):
        await anext(batches)


async def test_a_stream_that_a_stop_cuts_off_says_so(program: Program) -> None:  # G4
    async with scripted([b""]) as server:
        await answering(server, [HEAD, WORD, HANG])
        answer = await program.ask("made/m", stream=True)
        content = aiter(answer.streaming_content)
        assert b"Hi" in await anext(content)
        await background_jobs.shut_down()
        rest = b"".join([piece async for piece in content])
    assert rest.startswith(b"event: error") and b"is stopping" in rest and b"[DONE]" not in rest


async def test_a_stop_waits_for_answers_and_not_for_ever() -> None:  # O4
    places.take(Caller(1))
    await answer_runner.drained(0.01)
    assert not places.empty.is_set()
    asyncio.get_running_loop().call_soon(places.leave, Caller(1))
    await asyncio.wait_for(answer_runner.drained(60), 10)
    assert places.empty.is_set()


@pytest.mark.parametrize(
    ("variable", "limit"), [("TOOLSUPPORT_ANSWERS_PER_KEY", "key"), ("TOOLSUPPORT_RUNNING_TURNS", "process")]
)
async def test_more_than_a_limit_at_once_is_refused(
    program: Program, monkeypatch: pytest.MonkeyPatch, variable: str, limit: str
) -> None:  # SAFETY 3.11
    monkeypatch.setitem(settings.ENV, variable, 1)
    async with scripted([b""]) as server:
        await answering(server, [HEAD, WORD, HANG])
        answer = await program.ask("made/m", stream=True)
        content = aiter(answer.streaming_content)
        await anext(content)
        for stream in (False, True):
            refused = await program.ask("made/m", stream=stream)
            error = refused.json()["error"]
            assert (refused.status_code, error["code"], error["type"]) == (429, "busy", "rate_limit_error")
            assert int(refused.headers["Retry-After"]) > 0
            assert int(refused.headers["X-Toolsupport-Answers-Limit"]) == settings.ENV["TOOLSUPPORT_ANSWERS_PER_KEY"]
        await leave(answer)
        server.answers[:] = [[HEAD, WORD, ENDED, *END]]
        assert (await program.ask("made/m")).status_code == 200
    assert not places._taken


async def test_keys_and_people_have_limits_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:  # P5
    monkeypatch.setitem(settings.ENV, "TOOLSUPPORT_TURNS_PER_PERSON", 1)
    monkeypatch.setitem(settings.ENV, "TOOLSUPPORT_ANSWERS_PER_KEY", 2)
    some = ReplySlots()
    for caller in (Caller(1), Caller(2), Caller(1, key=7), Caller(1, key=7), Caller(1, key=8)):
        some.take(caller)
    for caller, limit in ((Caller(1), "person"), (Caller(1, key=7), "key")):
        with pytest.raises(Busy) as busy:
            some.take(caller)
        assert busy.value.limit == limit
        some.leave(caller)
        some.take(caller)


async def test_one_after_the_other_is_never_too_many(
    program: Program, knows: Knows, monkeypatch: pytest.MonkeyPatch
) -> None:
    await knows("sim-honest", tools=True)
    monkeypatch.setitem(settings.ENV, "TOOLSUPPORT_ANSWERS_PER_KEY", 1)
    for _ in range(3):
        assert pieces(await program.stream("sim-honest", tools=[LIST]))


CALL = '<tool_call>{"name": "list_directory", "arguments": {"path": "."}}</tool_call>'


def writes_hermes(port: int) -> None:
    server = ServerFactory(name="made", kind="openai", base_url=f"http://127.0.0.1:{port}")
    profile = ModelProfileFactory(server=server, name="m")
    for capability, value in {"tools": False, "format": "hermes"}.items():
        overrides.add(NewOverride(profile.pk, capability, value, actor=UserFactory().pk, reason="tried it"))


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    "reply",
    [
        f"You would write `{CALL}` for that.",
        f"{CALL} is how you list a directory.",
        f"Shall I list it?\n{CALL}",
        f"It is written thus.\n{CALL}",
        f"Page 12 reads\n{CALL}",
    ],
)
async def test_a_call_that_is_only_mentioned_stays_text(program: Program, stream: bool, reply: str) -> None:  # F3 F5
    pieces_of_reply = [said(delta={"content": reply[at : at + 7]}) for at in range(0, len(reply), 7)]
    async with scripted([HEAD, *pieces_of_reply, ENDED, COUNTED, *END]) as server:
        await in_database(writes_hermes)(server.port)
        if stream:
            deltas = [one["choices"][0]["delta"] for one in pieces(await program.stream("made/m")) if one["choices"]]
            text, calls = (
                "".join(one.get("content", "") for one in deltas),
                [one for one in deltas if "tool_calls" in one],
            )
        else:
            message = (await program.ask("made/m")).json()["choices"][0]["message"]
            text, calls = message["content"], message.get("tool_calls") or []
        assert (text, calls) == (reply, [])


async def test_a_batch_puts_the_next_comment_off(monkeypatch: pytest.MonkeyPatch) -> None:
    loop, now, due = asyncio.get_running_loop(), [0.0], list[float]()
    queue: asyncio.Queue[list[int] | None] = asyncio.Queue(2)
    with monkeypatch.context() as patched:
        patched.setattr(loop, "time", lambda: now[0])
        patched.setattr(loop, "call_at", lambda moment, _: due.append(moment))
        silence = keep_alive._Silence(queue)
        now[0] = 6.0
        silence.end()
        now[0] = 10.0
        silence._check()
        assert queue.empty()
        now[0] = 16.0
        silence._check()
        assert queue.get_nowait() == [] and queue.empty()
        silence._check()  # for another reason, before the next period is over
        assert queue.empty()
    assert due == [10.0, 16.0, 26.0, 26.0]
