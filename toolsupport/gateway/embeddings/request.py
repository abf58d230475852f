"""Reads the body of a request to /v1/embeddings; fields that are not in its schema are ignored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from toolsupport.core.prompt import token_counts
from toolsupport.core.types import JSON
from toolsupport.gateway.embeddings.schemas import CHECK
from toolsupport.gateway.parsed_request import parsed


@dataclass(frozen=True, slots=True)
class EmbeddingRequest:
    """A parsed request. `inputs` are texts, or lists of tokens; `base64`: vectors are wanted as bytes of floats."""

    model: str
    inputs: tuple[Any, ...]
    base64: bool = False
    dimensions: int | None = None

    @property
    def tokens(self) -> bool:
        """Whether the inputs are lists of tokens."""
        return not isinstance(self.inputs[0], str)

    @property
    def estimated(self) -> int:
        """The tokens of all inputs, for a server that does not count them."""
        lengths = sum(map(len, self.inputs))
        return lengths if self.tokens else token_counts.of_characters(lengths)


def read(body: bytes) -> EmbeddingRequest:
    """Parse the body. Raises InvalidField with the name of the wrong field."""
    given = parsed(body)
    CHECK.check(given)
    return asked(given)


def asked(given: JSON) -> EmbeddingRequest:
    """Parse a body that fits the schema."""
    wanted = given["input"]
    several = isinstance(wanted, list) and not isinstance(wanted[0], int | float)
    inputs = tuple(wanted) if several else (wanted,)
    return EmbeddingRequest(given["model"], inputs, given.get("encoding_format") == "base64", given.get("dimensions"))
