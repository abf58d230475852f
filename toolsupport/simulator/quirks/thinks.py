"""A model that thinks before it answers or calls."""

from __future__ import annotations

import json
from dataclasses import replace

from toolsupport.simulator.quirks import honest
from toolsupport.simulator.types import ModelInput, SimulatedReply


def reply(prompt: ModelInput) -> SimulatedReply:
    """Reply like the honest model, after thoughts about it unless thinking is off."""
    honest_reply = honest.reply(prompt)
    return replace(honest_reply, thinking=thoughts(prompt, honest_reply)) if prompt.think else honest_reply


def thoughts(prompt: ModelInput, honest_reply: SimulatedReply) -> str:
    asked = prompt.asked if len(prompt.asked) < 200 else f"{prompt.asked[:200]}…"
    offered = ", ".join(tool.name for tool in prompt.tools) or "none"
    steps = [f"The person says: {json.dumps(asked, ensure_ascii=False)}.", f"Tools I may use: {offered}."]
    steps += [
        f"I call {call.name} with {json.dumps(call.arguments, ensure_ascii=False)}." for call in honest_reply.calls
    ]
    if prompt.results:
        steps.append(f"I have {len(prompt.results)} result(s) to answer from.")
    return "\n".join(steps if honest_reply.calls else [*steps, "No call is needed now, so I answer."])
