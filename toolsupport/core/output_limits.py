"""Lowers the output limit of a request to what its server permits.

Agents ask for as many tokens as the models of their vendor can write, 32,000 or 64,000, and many servers refuse a limit
that is beyond the context or beyond the model. A lower limit permits nothing that was not asked for: an answer that
reaches it ends with that reason, as it would have ended at the end of the context.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from toolsupport.core.prompt.context_fitting import fits

NAMES = ("num_predict", "max_tokens")
LONGEST = 4_000
NUMBER = r"(\d{1,9})"
# The context, and what is in it without the answer: vLLM, OpenAI, DeepSeek, SGLang, OpenRouter.
IN_CONTEXT = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"too large: \d.{{1,40}}maximum context length is {NUMBER} tokens and your request has {NUMBER} input",
        rf"maximum context length of {NUMBER} tokens.{{1,40}}total of \d+ tokens: {NUMBER} tokens from the input",
        rf"must be <= {NUMBER}\. given: {NUMBER} `inputs` tokens",
    )
)
# The context, all that was asked for, and the answer in it: OpenAI and OpenRouter count messages and tools apart.
WITH_ANSWER = re.compile(
    rf"maximum context length is {NUMBER} tokens.{{1,40}}requested (?:about )?{NUMBER} tokens "
    rf"\([^()]{{1,120}}?\b{NUMBER} in the (?:completion|output)",
    re.IGNORECASE,
)
# The same in other orders: Anthropic's API and later versions of vLLM.
TURNED = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"exceed context limit: {NUMBER} \+ \d+ > {NUMBER}\b",
        rf"passed {NUMBER} input tokens and requested [1-9]\d* output tokens.{{1,60}}context length is only {NUMBER}\b",
    )
)
# vLLM since 2026 counts no further than the limit leaves room: how long the prompt is stays open.
UNCOUNTED = re.compile(
    r"maximum context length is \d+ tokens.{1,40}requested \d+ output tokens and your prompt contains at least \d+ in",
    re.IGNORECASE,
)
# The most that a model writes: OpenAI, Groq, DeepSeek, Anthropic, Gemini.
OF_MODEL = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"max_(?:completion_)?tokens is too large: \d+\. this model supports at most {NUMBER} completion",
        rf"max_(?:completion_)?tokens\b.{{0,10}}must be less than or equal to [`'\"]?{NUMBER}\b",
        rf"valid range of max_tokens is \[1, ?{NUMBER}\]",
        rf"max_tokens: \d+ > {NUMBER}, which is the maximum",
    )
)


def lowered(options: Mapping[str, Any], words: str) -> dict[str, Any] | None:
    """Return the options with a limit that these words of a refusal permit, or without one; None if nothing helps."""
    given = [value for name in NAMES if isinstance(value := options.get(name), int) and value > 0]
    if not given:
        return None
    words = words[:LONGEST]
    others = {name: value for name, value in options.items() if name not in NAMES}
    if (most := _permitted(words)) is not None:
        return others | {"num_predict": most} if 0 < most < min(given) else None
    # Without a limit the server takes the rest of its context, which is less than was asked for.
    return others if UNCOUNTED.search(words) else None


def _permitted(words: str) -> int | None:
    """Return the largest limit that a refusal permits, 0 if the prompt leaves no room for an answer."""
    if found := WITH_ANSWER.search(words):
        context, all_, answer = map(int, found.groups())
        return _rest(context, all_ - answer)
    for patterns, first, second in ((IN_CONTEXT, 1, 2), (TURNED, 2, 1)):
        if found := next((match for pattern in patterns if (match := pattern.search(words))), None):
            return _rest(int(found[first]), int(found[second]))
    of_model = next((match for pattern in OF_MODEL if (match := pattern.search(words))), None)
    return int(of_model[1]) if of_model else None


def _rest(context: int, prompt: int) -> int:
    return context - prompt if fits(context, prompt) else 0
