"""Which formats read a reply of a tested model is found beside the event loop, and once."""

from __future__ import annotations

import asyncio
import time

from toolsupport.core.format_choice import FORCED
from toolsupport.core.formats import FORMATS
from toolsupport.detection import text_formats
from toolsupport.detection.probe_prompts import TICKET

LONGEST_STEP = 0.05  # seconds of the processor
# Opens a call again and again, in the marks of many formats.
WORST = f"{TICKET.name} " + "<tool_call>[TOOL_CALLS]<|tool_call|>functools[{" * 200


def test_a_reply_is_read_by_all_formats_beside_the_loop() -> None:  # S1, S2
    async def run() -> float:
        looking, longest = asyncio.create_task(text_formats.look_at(WORST)), 0.0
        while not looking.done():
            began = time.thread_time()
            await asyncio.sleep(0.001)
            longest = max(longest, time.thread_time() - began)
        return longest

    text_formats._written_in.cache_clear()
    assert asyncio.run(run()) < LONGEST_STEP
    assert text_formats._written_in.cache_info().misses == 1
    text_formats.written_in(WORST)
    assert text_formats._written_in.cache_info() == (1, 1, 256, 1)
    assert len(FORMATS) > 40 and FORCED in FORMATS
