"""Which formats read a reply of a tested model is found beside the event loop, and once."""

from __future__ import annotations

import asyncio

from tests.processor_time import LONGEST_STEP, with_longest_step
from toolsupport.core.format_choice import FORCED
from toolsupport.core.formats import FORMATS
from toolsupport.detection import text_formats
from toolsupport.detection.probe_prompts import TICKET

# Opens a call again and again, in the marks of many formats.
WORST = f"{TICKET.name} " + "<tool_call>[TOOL_CALLS]<|tool_call|>functools[{" * 200


def test_a_reply_is_read_by_all_formats_beside_the_loop() -> None:  # S1, S2
    text_formats._written_in.cache_clear()
    _, longest = asyncio.run(with_longest_step(text_formats.look_at(WORST)))
    assert longest < LONGEST_STEP
    assert text_formats._written_in.cache_info().misses == 1
    text_formats.written_in(WORST)
    assert text_formats._written_in.cache_info() == (1, 1, 256, 1)
    assert len(FORMATS) > 40 and FORCED in FORMATS
