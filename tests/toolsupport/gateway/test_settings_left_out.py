"""Programs read which of their settings the server of a model refuses, with the answer that was made without them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from channels.db import database_sync_to_async as in_database

from tests.toolsupport.gateway.conftest import Program
from tests.toolsupport.gateway.test_constrained import row, says
from tests.toolsupport.providers.scripted import answer, scripted
from toolsupport import refused_settings

HEAT = answer(
    400, b'{"error": {"message": "Unsupported value: \'temperature\' does not support 0.5 with this model."}}'
)
FIELD = "settings_left_out"


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refused_settings, "_refused", {})


def facts_of(text: str) -> dict[str, Any]:
    [line] = [line for line in text.split("\n") if "x_toolsupport" in line]
    found: dict[str, Any] = json.loads(line.removeprefix("data: "))["x_toolsupport"]
    return found


@pytest.mark.asyncio
@pytest.mark.parametrize("stream", [False, True])
async def test_the_answer_names_them(program: Program, stream: bool) -> None:
    async with scripted(HEAT, says({"content": "Fine."}), says({"content": "Fine."})) as server:
        await in_database(row)(server, "openai", {"tools": True})
        for given, named in ({"temperature": 0.5, "seed": 1}, ["temperature"]), ({"seed": 1}, []):
            reply = await program.ask("made/m", stream=stream, **given)
            parts = [part async for part in reply.streaming_content] if reply.streaming else [reply.content]
            assert facts_of(b"".join(parts).decode())[FIELD] == named
            if not stream:
                assert reply.headers.get("X-Toolsupport-Settings-Left-Out", "") == ",".join(named)
        assert ["temperature" in body for body in server.bodies] == [True, False, False]
