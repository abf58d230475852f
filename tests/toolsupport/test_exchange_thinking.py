"""A request to think reaches only models that can."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.toolsupport.test_exchange import SERVER, ask, recorder, request_spec  # noqa: F401
from toolsupport.core.events import Failed, Finished
from toolsupport.core.types import Capabilities, Capability, Permit

DENIED = Failed("refused", "No.", 400, '{"error":"\\"m\\" does not support thinking"}')


@pytest.mark.asyncio
async def test_a_model_without_thinking_is_not_asked_to_think(recorder) -> None:  # noqa: F811
    made = recorder([[DENIED]], [[Finished("stop")]])
    assert await ask(SERVER, request_spec(think=True)) == [Finished("stop")], (
        "not known before: asked once more without it"
    )
    known = {name: Capability(name, True, "declared", "") for name in ("tools",)}
    cannot = Capabilities(known | {"thinking": Capability("thinking", False, "declared", "The server says so.")})
    for think in (True, "high", False):
        await ask(SERVER, replace(request_spec(think=think), capabilities=cannot))
    assert [request.think for request in made.requests] == [True, None, None, None, False]
    probe = recorder([[DENIED]])
    assert await ask(SERVER, request_spec(think=True, permit=Permit.PROBE)) == [DENIED], "a probe judges by itself"
    assert len(probe.requests) == 1
