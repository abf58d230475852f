"""Defines the description of a server and its models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

# Reading a model of a list takes as long as other work on so many characters.
MODEL_SIZE = 1000


@dataclass(frozen=True, slots=True)
class ModelDetails:
    """A server's details about one model.

    `template_hash` is 32 hex characters of sha256 over the prompt template, "" without one. `capabilities` is None if
    the key is missing (Ollama before 0.6.4); missing capabilities are denied, except those in `unsaid`, which this
    server never reports. `context_length` is in tokens: the trained context, or the one the server was started with.
    `parameters` is the text of the model file's parameters. `one_call`: its template fails with two calls in one
    message; None if not reported. `begins_inside`: its template ends the prompt with a mark that opens reasoning (None:
    unknown).
    """

    template_hash: str = ""
    capabilities: tuple[str, ...] | None = None
    unsaid: tuple[str, ...] = ()
    context_length: int | None = None
    parameter_count: int | None = None
    quantization: str = ""
    family: str = ""
    system: str = ""
    parameters: str = ""
    begins_inside: bool | None = None
    one_call: bool | None = None


@dataclass(frozen=True, slots=True)
class ModelReport:
    """One model of a server's list.

    `digest` is "" if the server shows none, None if a further answer that may hold one failed, and `size_bytes` None if
    not reported. `capabilities` is None if the list is missing, which differs
    from an empty list: a missing list denies nothing. `modified_at` is the server's own text (ISO 8601) or "".
    `details` is None if they need a separate request, and complete if the list holds everything.
    """

    name: str
    digest: str | None = ""
    size_bytes: int | None = None
    family: str = ""
    quantization: str = ""
    loaded: bool = False
    capabilities: tuple[str, ...] | None = None
    modified_at: str = ""
    details: ModelDetails | None = None


@dataclass(frozen=True, slots=True)
class ServerReport:
    """The answer of a server: `version` is "" if it has none; each model name occurs once."""

    version: str
    models: tuple[ModelReport, ...] = ()


def mapping_in(reported: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """Return the object under a key, an empty one for everything else."""
    value = reported.get(key)
    return value if isinstance(value, dict) else {}


def text_in(reported: Mapping[str, Any], key: str) -> str:
    """Return the text under a key, "" for everything else."""
    value = reported.get(key)
    return value if isinstance(value, str) else ""
