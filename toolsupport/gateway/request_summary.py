"""Holds what is known about a request of a program: its headers, and the end of its answer, show it."""

from __future__ import annotations

from dataclasses import dataclass, field

from toolsupport.core.events import SchemaDropped, SchemaRefused, ToolsRefused
from toolsupport.gateway.request_preparation import PreparedRequest
from toolsupport.registry.metrics.call_tally import CallTally


@dataclass(slots=True)
class RequestSummary:
    """The result of a request, sent in headers and in the last chunk of a stream; `counted`: a server counted.

    `cut`: a token limit left its last call incomplete. `forced` is why a reply was constrained: required, retry or
    format; "" if none was. `written` are the characters that models wrote for it, also those not passed on; it is never
    0 if there were any. `begins_inside`: whether the reply showed that it began inside reasoning. `schema_fault`
    shows that its server does not enforce a schema. `first_use`: whether the model was tested first, "" if there was
    no need. `answered_by` is the request to the model that answers, and `fallback` its name if it is not the one that
    was asked for. `format_reason`: why it is not constrained although its format was.
    """

    format: str = ""
    source: str = ""
    repairs: list[str] = field(default_factory=list)
    retries: int = 0
    left_out: str = ""
    first_use: str = ""
    cut: bool = False
    begins_inside: bool | None = None
    schema_fault: SchemaDropped | SchemaRefused | None = None
    written: int = 0
    prompt_tokens: int = 0
    output_tokens: int = 0
    counted: bool = False
    calls: CallTally = field(default_factory=CallTally)
    misconfigured: ToolsRefused | None = None
    forced: str = ""
    answered_by: PreparedRequest | None = None
    fallback: str = ""
    format_reason: str = ""
    settings_left_out: tuple[str, ...] = ()
