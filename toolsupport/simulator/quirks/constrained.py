"""Models that are useful only if their server enforces a JSON schema."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from random import Random

from toolsupport.simulator.fitting import scalars
from toolsupport.simulator.quirks import honest, thinks
from toolsupport.simulator.reading import text_prompt
from toolsupport.simulator.types import ModelInput, SimulatedReply

# None is a call in any format: a name that was not offered, half an object, markers in the wrong order.
MALFORMED = (
    '<tool_call>\n{{"name": , {{"arguments": [}}: {}\n</tool_call>',
    '[TOOL_CALLS]{{"name" "{}", "arguments"',
    "{}[ARGS]<tool_call>(((",
    '```json\n{{"tool": {}, "arguments": }}\n```',
)
PIECES = 40


def reply(prompt: ModelInput) -> SimulatedReply:
    """Intend the honest calls; without a schema, write malformed ones."""
    honest_reply = honest.reply(text_prompt.prompt(prompt))
    if prompt.constraint is not None or not honest_reply.calls:
        return honest_reply
    return SimulatedReply("\n".join(_malformed(prompt).format(call.name) for call in honest_reply.calls))


def thinking(prompt: ModelInput) -> SimulatedReply:
    """Reply in the same way, after thoughts that no schema limits."""
    read = replace(text_prompt.prompt(prompt), think=prompt.think)
    return replace(reply(prompt), thinking=thinks.thoughts(read, honest.reply(read)) if prompt.think else "")


def noise(prompt: ModelInput) -> SimulatedReply:
    """Write noise; only an enforced schema gives it a form."""
    return SimulatedReply("" if prompt.constraint is not None else scalars.noise(_chance(prompt), PIECES))


def _malformed(prompt: ModelInput) -> str:
    return _chance(prompt).choice(MALFORMED)


def _chance(prompt: ModelInput) -> Random:
    return Random(hashlib.sha256(repr(prompt).encode("utf-8", "replace")).digest())
