"""Compiles a JSON schema as constrained decoding does (llguidance), and checks which texts it admits."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from time import perf_counter
from typing import Any

from llguidance import LLMatcher, LLTokenizer


@cache
def _bytes() -> LLTokenizer:
    """A tokenizer whose tokens are single bytes."""
    return LLTokenizer("byte")


@dataclass(frozen=True, slots=True)
class Compiled:
    """A compiled schema: its `error`, "" for none, and how long that took."""

    matcher: LLMatcher
    error: str
    seconds: float

    def blocked_at(self, text: str) -> int:
        """Return where the grammar blocks a text, -1 if it admits all of it and an end there."""
        data = text.encode()
        self.matcher.reset()
        admitted = self.matcher.validate_tokens(list(data))
        if admitted < len(data):
            return admitted
        self.matcher.consume_tokens(list(data))
        return -1 if self.matcher.is_accepting() else len(data)


def compiled(schema: Any) -> Compiled:
    began = perf_counter()
    matcher = LLMatcher(_bytes(), LLMatcher.grammar_from_json_schema(json.dumps(schema)))
    return Compiled(matcher, matcher.get_error() if matcher.is_error() else "", perf_counter() - began)
