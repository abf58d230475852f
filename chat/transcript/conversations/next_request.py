"""Explains why a model gets its tools, and builds the request it would get next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from chat.models import Conversation
from chat.transcript.conversations import raw_request
from chat.transcript.conversations.conversations import UNTITLED, Person, choose_first, own, shown_model
from chat.transcript.messages import attachments
from chat.transcript.messages.history import canonical
from chat.transcript.settings import prompt_context, turn_settings
from chat.transcript.settings.prompt_context import PromptContext
from chat.transcript.settings.turn_settings import ChatRequestContext
from toolsupport import exchange, providers
from toolsupport.core import format_choice, prompt, shell_translation, types
from toolsupport.core.errors import ConfigError, NotFound, ToolsupportError
from toolsupport.core.format_choice import FormatDecision
from toolsupport.core.model_fallbacks import FallbackStep
from toolsupport.core.name_order import by_name
from toolsupport.core.prompt import token_counts
from toolsupport.core.remote_tools import RemoteTool
from toolsupport.core.tool_limits import ToolLimit
from toolsupport.core.tool_selection import LIMITS
from toolsupport.core.types import RequestSpec, Role, ToolFilter
from toolsupport.registry.fallbacks import fallback_chain
from toolsupport.registry.models import profile_cache, profiles, prompt_origins
from toolsupport.registry.models.picker_rows import ShownModel
from toolsupport.registry.models.profiles import CapabilityCell
from toolsupport.registry.models.request_context import RequestContext
from toolsupport.services import context_guard

STANDS_IN = "A few simple commands under this name. The file tools run them; there is no shell."
NEXT_MESSAGE = "What is in this folder?"
# Rules that are decided last: the model is offered another tool instead, or there is no room for it.
DECIDED_LATE = ("translated", context_guard.NO_ROOM)


@dataclass(frozen=True, slots=True)
class ExplainedTool:
    """One tool, included or not; `tokens` is 0 if it is not offered, `server` "" for a built-in tool.

    `kept`: this chat does not exclude it. `locked`: it stays excluded, and this chat cannot change that.
    """

    name: str
    server: str
    included: bool
    rule: str
    reason: str
    tokens: int
    kept: bool
    locked: bool


@dataclass(frozen=True, slots=True)
class ExplainedRequest:
    """The next request. `system` is its system text, `body` all of it as JSON; the rest names the sources."""

    message: str
    path: str
    body: str
    system: str
    system_from: str
    temperature: float | None
    temperature_from: str


@dataclass(frozen=True, slots=True)
class TokenCost:
    """Tokens of the tools, of the whole request, and of the context (0: the server decides).

    `measured`: the server counted a request with these tools; otherwise the lengths give an estimate.
    """

    tools: int
    whole: int
    context: int
    measured: bool


@dataclass(frozen=True, slots=True)
class RequestExplanation:
    """The data of the page. `conversation` is "" for a new chat; `running`: an answer in it is not finished."""

    model: ShownModel
    conversation: str
    title: str
    running: bool
    left_out: ToolFilter
    tools: tuple[ExplainedTool, ...]
    format: str
    format_reason: str
    formats: tuple[FormatDecision, ...]
    limits: tuple[ToolLimit, ...]
    cells: tuple[CapabilityCell, ...]
    request: ExplainedRequest
    cost: TokenCost
    fallbacks: tuple[FallbackStep, ...] = ()

    @property
    def included(self) -> int:
        return sum(tool.included for tool in self.tools)

    @property
    def groups(self) -> tuple[tuple[str, tuple[ExplainedTool, ...], int], ...]:
        """Return the tools by server, built-in ones first under "", with the number offered."""
        names = dict.fromkeys(tool.server for tool in self.tools)
        grouped = ((name, tuple(tool for tool in self.tools if tool.server == name)) for name in names)
        return tuple((name, tools, sum(tool.included for tool in tools)) for name, tools in grouped)

    @property
    def cut(self) -> tuple[str, ...]:
        """Return the tools that only a limit excludes."""
        return tuple(tool.name for tool in self.tools if tool.rule in LIMITS)

    @property
    def servers(self) -> tuple[tuple[str, bool], ...]:
        """Return the MCP servers of these tools, and whether this chat includes them."""
        found = sorted({tool.server for tool in self.tools if tool.server}, key=by_name)
        return tuple((name, name not in self.left_out.servers) for name in found)


def of_model(person: Person, profile_id: int, text: str = "") -> RequestExplanation:
    """Explain a person's new chat with a model that begins with this message. Raises NotFound, ConfigError."""
    profile = profile_cache.profile(profile_id)
    if profile is None:
        raise NotFound("This model does not exist.")
    return replace(_explained(Conversation(profile=profile, owner_id=person.pk or 0), text), conversation="")


def of_conversation(person: Person, conversation_id: str, text: str = "") -> RequestExplanation:
    """Explain the person's own conversation if this message came next. Raises NotFound, ConfigError."""
    return of_own(own(person, conversation_id, with_state=True), text)


def of_own(
    conversation: Conversation, text: str = "", remotes: tuple[RemoteTool, ...] | None = None
) -> RequestExplanation:
    """Do the same for a conversation that was read with its state, and with these MCP tools. Raises ConfigError."""
    choose_first(conversation)
    return _explained(conversation, text, remotes)


def _explained(
    conversation: Conversation, text: str, remotes: tuple[RemoteTool, ...] | None = None
) -> RequestExplanation:
    prompt_parts = turn_settings.prepared(conversation, remotes)
    model = shown_model(conversation, prompt_parts.request_spec.capabilities)
    if model is None:
        raise ConfigError("Choose a model first.")
    asked, settings = (
        types.ChatMessage(Role.USER, text or NEXT_MESSAGE),
        turn_settings.chat_settings(conversation.settings),
    )
    new, sees = conversation._state.adding, attachments.sees(prompt_parts.request_spec.capabilities.to_json())
    log = [*(() if new else canonical(conversation, None, sees)), asked]
    fitted = context_guard.planned(
        replace(prompt_parts, request_spec=exchange.admitted(prompt_parts.request_spec)), log
    )
    request_spec = fitted.request_spec
    return RequestExplanation(
        model=model,
        conversation=str(conversation.pk),
        title=conversation.title or UNTITLED,
        running=getattr(conversation, "open_turn", None) is not None,
        left_out=settings.left_out,
        tools=_tools(fitted, settings.left_out, token_counts.cost_of_each(request_spec, fitted.counts)),
        format=format_choice.label(request_spec.format) if request_spec.format else "",
        format_reason=request_spec.format_reason,
        formats=fitted.toolbox.formats,
        limits=fitted.toolbox.limits,
        cells=tuple(profiles.cell(capability) for capability in request_spec.capabilities.values.values()),
        request=_request(conversation, prompt_parts, request_spec, log),
        cost=_cost(fitted, request_spec, log),
        fallbacks=fallback_chain.of(model.id) if prompt_parts.has_fallbacks else (),
    )


def _tools(fitted: RequestContext, left_out: ToolFilter, tokens: dict[str, int]) -> tuple[ExplainedTool, ...]:
    toolbox = fitted.toolbox
    excluded = [one for one in fitted.request_spec.excluded if one.rule in DECIDED_LATE]
    stands_in = shell_translation.BASH if shell_translation.COMMANDS in fitted.request_spec.tools else ""
    rules = {one.tool: (False, one.rule, one.reason) for one in excluded} | {stands_in: (True, "stands_in", STANDS_IN)}
    found = [rules.get(each.name, (each.included, each.rule, each.reason)) for each in toolbox.verdicts]
    return tuple(
        ExplainedTool(
            name=verdict.name,
            server=verdict.candidate.server,
            included=included,
            rule=rule,
            reason=reason,
            tokens=tokens.get(verdict.name, 0),
            kept=verdict.name not in left_out.tools,
            locked=verdict.name not in toolbox.usable | left_out.tools,
        )
        for verdict, (included, rule, reason) in zip(toolbox.verdicts, found, strict=True)
    )


def _request(
    conversation: Conversation,
    prepared: ChatRequestContext,
    request_spec: RequestSpec,
    log: Sequence[types.ChatMessage],
) -> ExplainedRequest:
    """Build the request with the code that builds it for the server; it contains no key."""
    profile, settings = conversation.profile, turn_settings.chat_settings(conversation.settings)
    assert profile is not None
    request, team = exchange.first_request(request_spec, log), prepared.team_settings
    server, system = providers.provider(profile.server.kind), prompt.system(request_spec)
    try:
        body = raw_request.readable(providers.codec(profile.server.kind).encode(request))
    except (ToolsupportError, ValueError) as error:
        body = f"It could not be sent: {error}"
    return ExplainedRequest(
        message=log[-1].content,
        path=providers.path_at(profile.server.base_url, server.chat_path),
        body=body,
        system=system,
        system_from=", then ".join(
            (
                prompt_origins.of_prompt(request_spec, profile, settings, team),
                *_besides(conversation, prepared.prompt_parts, system),
            )
        ),
        temperature=request.options.get("temperature"),
        temperature_from=prompt_origins.of_temperature(request_spec, profile, settings, team),
    )


def _besides(conversation: Conversation, prompt_parts: PromptContext, system: str) -> list[str]:
    """Return the other parts of the system text, after its first part."""
    chosen = zip(
        prompt_context.chosen_names(conversation.settings, prompt_parts.prompts), prompt_parts.chosen, strict=True
    )
    found = [f"the team's prompt {name}" for name, text in chosen if text in system]
    return [*found, *(["what is remembered"] if prompt_parts.memory and prompt_parts.memory in system else [])]


def _cost(fitted: RequestContext, request_spec: RequestSpec, log: Sequence[types.ChatMessage]) -> TokenCost:
    return TokenCost(
        tools=token_counts.tool_tokens(request_spec, fitted.counts),
        whole=token_counts.whole(
            request_spec, fitted.counts, prompt.messages(request_spec, log), token_counts.characters(request_spec, log)
        ),
        context=token_counts.context_tokens(request_spec),
        measured=fitted.counts.with_tools is not None,
    )
