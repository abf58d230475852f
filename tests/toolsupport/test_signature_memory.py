"""Signatures of calls are found again under other ids, while there is room for them."""

from __future__ import annotations

import pytest

from toolsupport import signature_memory
from toolsupport.core.types import JSON, Signature, ToolCall
from toolsupport.signature_memory import SignatureMemory


@pytest.fixture
def memory() -> SignatureMemory:
    return SignatureMemory()


def call(name: str, *blocks: JSON, text: str = "") -> ToolCall:
    return ToolCall(name, "f", {}, signature=Signature("m", text, blocks))


def found(memory: SignatureMemory, *ids: str) -> list[Signature | None]:
    return [one.signature for one in memory.signed(tuple(ToolCall(id, "f", {}) for id in ids), lambda one: one.id)]


def test_blocks_name_the_calls_by_their_new_ids(memory: SignatureMemory) -> None:
    blocks = ({"type": "a", "id": "theirs 1"}, {"type": "b", "id": "theirs 2"}, {"type": "c", "id": "?"}, {"type": "d"})
    memory.keep("ours 1", call("theirs 1", *blocks))
    memory.keep("ours 2", call("theirs 2", text="x"))
    first, second, third = found(memory, "ours 1", "ours 2", "ours 3")
    assert first and [block.get("id") for block in first.blocks] == ["ours 1", "ours 2", "?", None]
    assert second == Signature("m", "x") and third is None


def test_a_call_without_a_signature_takes_no_room(memory: SignatureMemory) -> None:
    memory.keep("ours", ToolCall("theirs", "f", {}))
    assert found(memory, "ours") == [None] and memory._size == 0


def test_the_oldest_make_room(memory: SignatureMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signature_memory, "MOST", 10_000)
    for number in range(20):
        memory.keep(f"ours {number}", call("theirs", text="x" * 1_000))
    kept = [one is not None for one in found(memory, *(f"ours {number}" for number in range(20)))]
    assert kept == [False] * 14 + [True] * 6
    assert memory._size == sum(one.size for one in memory._kept.values()) <= 10_000
    memory.keep("ours 19", call("theirs", text="y"))
    assert memory._size == sum(one.size for one in memory._kept.values())
    memory.keep("large", call("theirs", {"type": "a", "data": "x" * 20_000}))
    assert found(memory, "large", "ours 19") == [None, None] and memory._size == 0
