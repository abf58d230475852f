"""Lists the APIs for programs, each with its reader of requests and its writer of answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol

from toolsupport.core.events import Event, Failed
from toolsupport.core.types import JSON
from toolsupport.gateway import chat_request
from toolsupport.gateway.chat_response import ChunkEncoder
from toolsupport.gateway.messages import request as messages_request
from toolsupport.gateway.messages.response import MessageEncoder
from toolsupport.gateway.parsed_request import GatewayRequest
from toolsupport.gateway.request_preparation import PreparedRequest
from toolsupport.gateway.request_summary import RequestSummary
from toolsupport.gateway.responses import request as responses_request
from toolsupport.gateway.responses.response import ResponseEncoder


class ReplyEncoder(Protocol):
    """Turns the events of a reply into the bytes for a program. After a failure or the end no more events come."""

    @property
    def failed(self) -> Failed | None: ...

    @property
    def ended(self) -> bool: ...

    def lines(self, events: Iterable[Event]) -> bytes:
        """Return the bytes of the stream for these events."""

    def silence(self) -> bytes:
        """Return the bytes that keep a silent stream open."""

    def whole(self, events: Iterable[Event]) -> JSON:
        """Return the answer as one object, from events that end with Finished."""


@dataclass(frozen=True, slots=True)
class Api:
    """The two sides of one API. `read` raises InvalidField."""

    read: Callable[[bytes], GatewayRequest]
    encoder: Callable[[PreparedRequest, RequestSummary], ReplyEncoder]


def _chunks(prepared: PreparedRequest, tally: RequestSummary) -> ReplyEncoder:
    return ChunkEncoder(prepared.model, tally, prepared.asked.include_usage, prepared.asked.custom)


CHAT_COMPLETIONS = Api(chat_request.read, _chunks)
RESPONSES = Api(responses_request.read, ResponseEncoder)
MESSAGES = Api(messages_request.read, MessageEncoder)
