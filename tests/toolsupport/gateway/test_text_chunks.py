"""Chunks of later texts are written around the text, and are the same as those of the shapes."""

from __future__ import annotations

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolsupport.core.events import Event, Finished, TextDelta, ThinkingDelta
from toolsupport.gateway.chat_response import PLACE, ChunkEncoder
from toolsupport.gateway.request_summary import RequestSummary

texts = st.lists(st.text() | st.just(PLACE), max_size=5)


def encoder(model: str, include_usage: bool) -> ChunkEncoder:
    return ChunkEncoder(model, RequestSummary(), include_usage, id="chatcmpl-1", created=1)


@pytest.mark.parametrize("include_usage", [False, True])
@given(model=st.text(min_size=1) | st.just(PLACE), words=texts, later=texts)
def test_lines_are_the_chunks(model: str, words: list[str], later: list[str], include_usage: bool) -> None:
    events: list[Event] = [*map(TextDelta, words), ThinkingDelta("hm"), *map(TextDelta, later), Finished("stop")]
    written = encoder(model, include_usage).lines(events)
    shaped = encoder(model, include_usage).take(events)
    lines = written.split(b"\n\n")
    assert [orjson.loads(line.removeprefix(b"data: ")) for line in lines[:-2]] == shaped
    assert lines[-2:] == [b"data: [DONE]", b""]
