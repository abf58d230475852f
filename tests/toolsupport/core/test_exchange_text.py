"""Requests and replies as they are kept: files by size and digest, secrets gone, what is cut is stated."""

from __future__ import annotations

import json
from base64 import b64encode, urlsafe_b64encode
from hashlib import sha256
from typing import Any

import orjson
from hypothesis import given
from hypothesis import strategies as st

from toolsupport.core import exchange_text, redaction
from toolsupport.core.exchange_text import HEAD, LONGEST, readable, reply_text, request_text

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 9
STANDS_FOR = f"[image/png, {len(PNG):,} bytes, SHA-256 {sha256(PNG).hexdigest()}]"
WRITTEN = b64encode(PNG).decode()


def test_images_are_replaced_by_size_and_digest_on_both_wires() -> None:
    for message in (
        {"role": "user", "content": "look", "images": [WRITTEN]},
        {"content": [{"type": "image_url", "image_url": {"url": f"data:image/png;base64,{WRITTEN}"}}]},
        {"content": [{"type": "input_audio", "input_audio": {"data": WRITTEN}}]},
        {"content": [{"file": {"file_data": f"data:image/png;base64,{urlsafe_b64encode(PNG).decode()}"}}]},
    ):
        kept = request_text(json.dumps({"messages": [message]}).encode())
        assert STANDS_FOR in kept and WRITTEN[:40] not in kept
        assert json.loads(kept)["messages"][0].keys() == message.keys()
    assert STANDS_FOR in reply_text(f'{{"image":"{WRITTEN}"}}'.encode(), b"", 0)


def test_everything_else_is_as_it_was_sent() -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": 'a\u2028ü "x"', "images": []}], "stream": True}
    kept = request_text(json.dumps(body).encode())
    assert json.loads(kept) == body == json.loads(readable(kept)) and "\n  " in readable(kept)
    reply = '{"message":{"content":"ü"}}\ndata: [DONE]\n\n'
    assert reply_text(reply.encode(), b"", 0) == reply


def test_secrets_are_gone_from_both() -> None:
    said = {"content": 'my {"password": "hunter2hunter2"}', "arguments": {"api_key": "hunter2hunter2"}}
    assert "hunter2" not in request_text(json.dumps({"messages": [said]}).encode())
    line = json.dumps({"message": said})
    assert "hunter2" not in reply_text(f"{line}\n".encode(), b"", 0)


TOOLS: Any = [
    {"function": {"name": f"tool_{number}", "description": 'Reads "ü" ' * 20, "token": "hunter2hunter2"}}
    for number in range(20)
]


def test_tools_that_requests_repeat_are_kept_as_the_rest_is() -> None:
    written = orjson.dumps(TOOLS)
    quoted = {"role": "user", "content": f'{written.decode()} "tools":[] "tools": 0'}
    nested = {"role": "assistant", "tool_calls": [{"function": {"arguments": {"tools": TOOLS}}}]}
    secret = {"role": "user", "content": "password=hunter2hunter2", "images": [WRITTEN]}
    for more in ({}, {"options": {"tools": TOOLS}}, {"tool_choice": "auto", "think": True}):
        for messages in ([], [quoted], [nested], [secret, quoted], ["word " * LONGEST]):
            body = orjson.dumps({"model": "m", "messages": messages, "tools": TOOLS} | more)
            assert request_text(body, written) == request_text(body)
    kept = request_text(orjson.dumps({"tools": TOOLS, "stream": True}), written)
    assert json.loads(kept)["stream"] is True and "tool_7" in kept and "hunter2" not in kept


def test_repeated_tools_are_redacted_again_after_a_new_secret() -> None:
    secret = f"canary-{redaction.known_secrets()}-of-a-tool"
    tools = [{"function": {"description": f"Asks {secret}."}}]
    body, written = orjson.dumps({"tools": tools}), orjson.dumps(tools)
    assert secret in request_text(body, written)
    redaction.add_secrets(secret)
    assert secret not in request_text(body, written)


def test_tools_that_stand_elsewhere_change_nothing() -> None:
    written = orjson.dumps(TOOLS)
    for body in (orjson.dumps({"other": TOOLS}), b'{"tools": []}', b"no JSON " + written, written, b"[1]", b""):
        assert request_text(body, written) == request_text(body)


def test_what_was_cut_is_stated() -> None:
    kept = request_text(json.dumps({"content": "word " * LONGEST}).encode())
    lost = len(json.dumps({"content": "word " * LONGEST})) - LONGEST
    assert f"[… {lost:,} characters left out …]" in kept and len(kept) < LONGEST + 100
    assert kept.startswith('{"content": "word') and kept.endswith('word "}') and readable(kept) == kept


def test_a_cut_parts_no_secret() -> None:
    head, tail = b"x " * (HEAD // 2) + b"key sk-hunter2hunter2"[:-4], b"ter2hunter2 the end"
    kept = reply_text(head, tail, 100)
    assert "hunter2" not in kept and "ter2" not in kept and kept.endswith("the end")
    assert "[… 126 bytes left out …]" in kept


def test_what_no_database_takes_is_replaced() -> None:
    assert "\x00" not in reply_text(b"a\x00b\xff", b"", 0) + request_text(b'"\\u0000\\ud800"') + request_text(b"{\xff")


PIECES = st.lists(st.tuples(st.sampled_from("A/=\n é"), st.sampled_from([1, 7, 998, 999, 1000, 1001, 1999, 2500])))


@given(PIECES)
def test_a_long_run_is_found_wherever_it_stands(pieces: list[tuple[str, int]]) -> None:
    text = "".join(sign * count for sign, count in pieces)
    assert exchange_text._has_long_run(text) is (exchange_text.LONG_BASE64.search(text) is not None)
