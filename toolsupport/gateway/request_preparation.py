"""Finds the model that a program requests, and prepares the request to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from toolsupport.core.types import ChatMessage, ChatSettings, Endpoint, RequestSpec, Role
from toolsupport.gateway.field_errors import ToolChoiceNotMet
from toolsupport.gateway.gateway_request import GatewayRequest
from toolsupport.registry.models import api_catalogue, picker, request_context
from toolsupport.registry.servers.reachability import WatchedModel
from toolsupport.services import context_guard

MUST_CALL = "required"


@dataclass(frozen=True, slots=True)
class Caller:
    """The person who sends a request, and the id of their key, 0 for a session."""

    person: int
    key: int = 0


@dataclass(frozen=True, slots=True)
class PreparedRequest:
    """One request, ready to send. `model` is its full name, `source` the source of its tool support.

    `lacks_flag`: its server lacked a setting for tools so far. `watch`: whose status the answer shows.
    """

    caller: Caller
    profile: int
    model: str
    endpoint: Endpoint
    request_spec: RequestSpec
    log: tuple[ChatMessage, ...]
    asked: GatewayRequest
    must_call: bool = False
    one_call: bool = False
    build: str = ""
    lacks_flag: bool = False
    watch: WatchedModel | None = None

    @property
    def stream(self) -> bool:
        return self.asked.stream

    @property
    def source(self) -> str:
        return self.request_spec.capabilities["tools"].source

    @property
    def left_out(self) -> str:
        """The rule that excluded all tools; "" if they are offered, or none was requested."""
        rules = [] if self.request_spec.offers_tools else [exclusion.rule for exclusion in self.request_spec.excluded]
        return rules[0] if rules else ""


def count(asked: GatewayRequest) -> int:
    """Estimate the tokens of a request. Raises NotFound (the model), ConfigError (the server's key)."""
    prepared = request_context.request_spec(picker.find(asked.model), asked.tools, ChatSettings())
    return context_guard.needed(prepared, asked.log)


def prepare(asked: GatewayRequest, caller: Caller) -> PreparedRequest:
    """Prepare a program's request. Raises NotFound (the model), ToolChoiceNotMet, ConfigError (the server's key)."""
    profile = picker.find(asked.model)
    prepared = request_context.request_spec(
        profile, asked.tools, ChatSettings(tools_on=False if asked.choice == "none" else None)
    )
    must_call = asked.choice == MUST_CALL
    if must_call and not prepared.request_spec.offers_tools:
        raise ToolChoiceNotMet(
            f"This model cannot be made to call a tool. {prepared.request_spec.format_reason}", "tool_choice"
        )
    return PreparedRequest(
        caller=caller,
        profile=profile,
        model=api_catalogue.full_name(profile),
        endpoint=prepared.endpoint,
        request_spec=replace(
            prepared.request_spec,
            system=_system(asked, prepared),
            options={**prepared.request_spec.options, **_options(asked)},
        ),
        log=asked.log,
        must_call=must_call,
        one_call=asked.parallel is False,
        asked=asked,
        build=prepared.build,
        lacks_flag=prepared.lacks_flag,
        watch=prepared.watch,
    )


def _system(asked: GatewayRequest, prepared: request_context.RequestContext) -> str:
    """Return the text before the instructions for tools, which are a system message too.

    The team's prompt is for its chats. Without a system message of the program the Modelfile's SYSTEM holds, as it does
    if a program asks the server itself.
    """
    brings_its_own = any(message.role is Role.SYSTEM for message in asked.log)
    return "" if brings_its_own else prepared.modelfile_prompt


def _options(asked: GatewayRequest) -> Mapping[str, Any]:
    choices: dict[str, Any] = {}
    if asked.tools:
        choices = {"tool_choice": asked.choice, "parallel_tool_calls": asked.parallel}
    return {name: value for name, value in {**asked.options, **choices}.items() if value is not None}
