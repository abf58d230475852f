"""Chats whose model is changed at any moment between servers that enforce schemas, ignore, drop and refuse them."""

from __future__ import annotations

import asyncio

import pytest

from tests.forced.chat_campaign import ChatTally, campaign
from tests.forced.moody_server import MoodyServer

BY_DAY, BY_NIGHT = 8, 300


def expect_no_invalid_call(found: tuple[ChatTally, MoodyServer], chats: int) -> None:
    tally, server = found
    print({name: dict(value) for name, value in vars(tally).items() if isinstance(value, dict)}, server.number)
    assert tally.wrong == []
    assert sum(tally.acts.values()) >= 5 * chats and "internal" not in tally.errors
    asked = {what: sum(count for key, count in server.asked.items() if key[2] == what) for what in ("schema", "tools")}
    assert min(asked.values()) >= chats
    assert sum(count for call, count in tally.calls.items() if not call.startswith("rejected")) >= chats


def test_no_invalid_call_is_shown_or_run_in_any_chat() -> None:  # K3, K4, K6
    expect_no_invalid_call(asyncio.run(campaign(BY_DAY)), BY_DAY)


@pytest.mark.nightly
def test_three_hundred_chats() -> None:  # K3, K4, K6
    expect_no_invalid_call(asyncio.run(campaign(BY_NIGHT, first=BY_DAY)), BY_NIGHT)
