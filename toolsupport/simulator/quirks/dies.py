"""A model whose server breaks down in the middle of every reply."""

from __future__ import annotations

import re
from dataclasses import replace

from toolsupport.simulator.quirks import honest
from toolsupport.simulator.rules.fixed_texts import FILLER
from toolsupport.simulator.types import ModelInput, ReplyEnding, SimulatedReply

TOKENS = 40


def reply(prompt: ModelInput) -> SimulatedReply:
    """Reply like the honest model, cut off after 40 tokens; "error in mid-stream" selects an error line instead."""
    honest_reply = honest.reply(prompt)
    ending = (
        ReplyEnding.ERROR if re.search(r"\berror\b.*\bmid-?\s?stream", prompt.asked, re.IGNORECASE) else ReplyEnding.CUT
    )
    content = honest_reply.content if honest_reply.calls else honest_reply.content + FILLER
    return replace(honest_reply, content=content, ending=ending, tokens=TOKENS)
