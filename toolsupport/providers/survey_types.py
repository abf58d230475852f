"""The description that a server gives of itself and its models."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ModelDetails:
    """What a server tells about one model when it is asked for it by name.

    `template_hash` is 32 hex characters of sha256 over the prompt template, "" without one. `capabilities` is None
    where the key is missing (Ollama before 0.6.4); what it leaves out is denied, except for the words in `unsaid`, of
    which this server never speaks. `context_length` is in tokens: the trained context, or the one that the server was
    started with. `parameters` is the text of the model file's parameters, as the server gives it. `one_call` says that
    its template fails with two calls in one message; None where the server does not speak of it. `begins_inside`: its
    template ends the prompt with a mark that opens reasoning (None: that does not show).
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
    """One model as a server lists it.

    `digest` is "" and `size_bytes` None where the server does not say. `capabilities` is None where the list is
    missing, which is not the same as an empty list: a server that says nothing has denied nothing.
    `modified_at` is the server's own text (ISO 8601) or "". `details` is None where the model has to be asked for by
    name, and says everything where the list holds all there is.
    """

    name: str
    digest: str = ""
    size_bytes: int | None = None
    family: str = ""
    quantization: str = ""
    loaded: bool = False
    capabilities: tuple[str, ...] | None = None
    modified_at: str = ""
    details: ModelDetails | None = None


@dataclass(frozen=True, slots=True)
class ServerReport:
    """A server that answered: `version` is "" where it has none; each model name stands once."""

    version: str
    models: tuple[ModelReport, ...] = ()
