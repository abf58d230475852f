"""Finds the model that a program requests, and prepares the request to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from toolsupport import providers
from toolsupport.core import first_use_rules, forced_calls
from toolsupport.core.format_choice import NATIVE
from toolsupport.core.types import CallConstraint, ChatMessage, ChatSettings, Endpoint, RequestSpec, Role
from toolsupport.gateway.parsed_request import GatewayRequest
from toolsupport.gateway.request_errors import ToolChoiceNotMet, UntestedModel
from toolsupport.registry import row_cache
from toolsupport.registry.models import api_catalogue, picker, request_context
from toolsupport.registry.people import quotas
from toolsupport.registry.people.quotas import QuotaHolder
from toolsupport.registry.servers.reachability import WatchedModel
from toolsupport.services import context_guard

MUST_CALL = "required"
# The handling of a `response_format` beside tools: it is sent with them, or in a request of its own for an answer
# without a call, or the server has no field for it.
SENT, SEPARATE, LEFT_OUT = "sent", "separate", "left_out"
NOT_TESTED = "This model was never tested with tools, and this site refuses tools until it is. Test it on its page."


@dataclass(frozen=True, slots=True)
class Caller:
    """The person who sends a request, and the id of their key, 0 for a session."""

    person: int
    key: int = 0


@dataclass(frozen=True, slots=True)
class PreparedRequest:
    """One request, ready to send. `model` is its full name, `source` the source of its tool support.

    `lacks_flag`: its server lacked a setting for tools so far. `watch`: whose status the answer shows. `untested`: the
    model is tested before its answer. `notice`: the answer begins with a sentence if the tools were left out.
    `forces`: replies may be constrained here, if the server can. `has_fallbacks`: another model may answer instead.
    `limited`: whose quota it counts for.
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
    untested: bool = False
    notice: bool = False
    forces: bool = False
    has_fallbacks: bool = False
    limited: tuple[QuotaHolder, ...] = ()

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

    @property
    def response_format(self) -> str:
        """The handling of the requested format of the answer; "" without tools."""
        form, kind = self.asked.options.get("response_format") or {"type": "text"}, self.endpoint.kind
        if form["type"] == "text" or not self.request_spec.offers_tools:
            return ""
        if self.request_spec.format == NATIVE and providers.takes_format_beside_tools(kind):
            return SENT
        has_field = form["type"] == "json_object" or bool(providers.provider(kind).constrains)
        return SEPARATE if has_field and form["type"] != "structural_tag" else LEFT_OUT


def count(asked: GatewayRequest) -> int:
    """Estimate the tokens of a request. Raises NotFound (the model), ConfigError (the server's key)."""
    prepared = request_context.request_spec(picker.find(asked.model), asked.tools, ChatSettings())
    return context_guard.needed(prepared, asked.log)


def prepare(asked: GatewayRequest, caller: Caller, tested: bool = False) -> PreparedRequest:
    """Prepare a program's request; `tested`: the model was tested for it just now.

    Raises NotFound (the model), ToolChoiceNotMet, UntestedModel, ConfigError (the server's key).
    """
    with row_cache.held():
        return _prepared(asked, caller, tested)


def _prepared(asked: GatewayRequest, caller: Caller, tested: bool) -> PreparedRequest:
    profile = picker.find(asked.model)
    prepared = request_context.request_spec(
        profile, asked.tools, ChatSettings(tools_on=False if asked.choice == "none" else None)
    )
    untested = not tested and _untested(asked, prepared)
    must_call = asked.choice == MUST_CALL
    if must_call and not untested:
        prepared = _able_to_call(prepared, asked)
    if must_call and not untested and not prepared.request_spec.offers_tools:
        raise ToolChoiceNotMet(
            f"This model cannot be required to call a tool. {prepared.request_spec.format_reason}", "tool_choice"
        )
    return PreparedRequest(
        caller=caller,
        profile=profile,
        model=api_catalogue.full_name(profile),
        endpoint=prepared.endpoint,
        request_spec=_for_program(prepared, asked),
        log=asked.log,
        must_call=must_call,
        one_call=asked.parallel is False,
        asked=asked,
        build=prepared.build,
        lacks_flag=prepared.lacks_flag,
        watch=prepared.watch,
        untested=untested,
        notice=prepared.switches.tools_notice and _may_have_notice(asked),
        limited=quotas.limited(caller.person, caller.key),
        forces=prepared.switches.forces and bool(providers.provider(prepared.endpoint.kind).constrains),
        has_fallbacks=prepared.has_fallbacks,
    )


def _for_program(prepared: request_context.RequestContext, asked: GatewayRequest) -> RequestSpec:
    """Return the parameters with the program's choices. Mistral's service takes no message after results."""
    return replace(
        prepared.request_spec,
        system=_system(asked, prepared),
        options={**prepared.request_spec.options, **_options(asked)},
        words_after_results=prepared.endpoint.kind != "mistral",
        images_in_results=providers.provider(prepared.endpoint.kind).images_in_results,
    )


def _able_to_call(prepared: request_context.RequestContext, asked: GatewayRequest) -> request_context.RequestContext:
    """Return the context in which a required call can be made: constrained, if nothing else is known to work."""
    request_spec = prepared.request_spec
    left_out = any(exclusion.rule in first_use_rules.RULES for exclusion in request_spec.excluded)
    if request_spec.offers_tools or not (request_spec.may_force and left_out):
        return prepared
    offered = replace(request_spec, tools=asked.tools, excluded=())
    able = forced_calls.constrained(offered, forced_calls.CALL_REQUIRED, CallConstraint(answer=False))
    return replace(prepared, request_spec=able)


def _untested(asked: GatewayRequest, prepared: request_context.RequestContext) -> bool:
    """Return whether the model is tested first. Raises UntestedModel where the team refuses tools for it."""
    wanted = prepared.switches.on_first_use
    if wanted == "leave_out" or not asked.tools or not first_use_rules.worth_testing(prepared.request_spec):
        return False
    if wanted == "refuse":
        raise UntestedModel(NOT_TESTED)
    return True


def _may_have_notice(asked: GatewayRequest) -> bool:
    """Return whether words before the answer break nothing: no program parses the answer, none requires a call."""
    form = asked.options.get("response_format") or {"type": "text"}
    strict = any(tool.strict for tool in asked.tools)
    return bool(asked.tools) and asked.choice == "auto" and form["type"] == "text" and not strict


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
