"""Builds the system prompt of a request: the team's prompt, then instructions for tools."""

from __future__ import annotations

from toolsupport.core.formats import FORMATS
from toolsupport.core.prompt import tool_styles
from toolsupport.core.prompt.turn_context import context_of
from toolsupport.core.types import RequestSpec

# Rules of an Exclusion because of the model; the other rules are people's choices.
MODEL_CANNOT = frozenset({"unsupported", "unknown", "refused"})

WITHOUT_TOOLS = (
    "You cannot call tools or functions here. When a request would need one, for example to read a file, say that "
    "you cannot do it here and help with what you know. Do not pretend to have called anything."
)
SHORT = "You are an assistant that works with tools. Answer in the language of the person who asks."
ALL_AT_ONCE = "You see only the latest request. Make all the calls it needs at once, in one reply."
ONE_CALL = "Make one call in a reply, and wait for its result before the next."
EXAMPLE = "For example:"


def system(request_spec: RequestSpec) -> str:
    """Return the system prompt, "" if it is empty.

    It mentions that the model cannot call functions only if tools were requested: not if none is enabled.
    """
    if not request_spec.offers_tools:
        return paragraphs(request_spec.system.strip(), _without_tools(request_spec))
    if context_of(request_spec) == "minimal_system":
        return paragraphs(f"{SHORT} {tool_styles.NUDGE}", *_documents(request_spec), _how_to_call(request_spec))
    return paragraphs(request_spec.system.strip(), _how_to_call(request_spec), _about_tools(request_spec))


def _without_tools(request_spec: RequestSpec) -> str:
    wanted = any(exclusion.rule in MODEL_CANNOT for exclusion in request_spec.excluded)
    return WITHOUT_TOOLS if wanted else ""


def _documents(request_spec: RequestSpec) -> list[str]:
    return [f"From {name}:\n{text.strip()}" for name, text in request_spec.documents.items() if text.strip()]


def _how_to_call(request_spec: RequestSpec) -> str:
    """Return the tools and the syntax of a call, for a model with a text format."""
    format_ = FORMATS.get(request_spec.format)
    if format_ is None:
        return ""
    instructions = format_.instructions(request_spec.tools)
    offered = {tool.name for tool in request_spec.tools}
    proven = [call for call in request_spec.examples if call.name in offered]
    return paragraphs(instructions, f"{EXAMPLE}\n{format_.write_calls(proven[:1])}" if proven else "")


def _about_tools(request_spec: RequestSpec) -> str:
    nudge = tool_styles.STRONG_NUDGE if request_spec.strong_nudge else tool_styles.NUDGE
    style = tool_styles.about(request_spec.capabilities["prompt_style"].value, request_spec.tools)
    return paragraphs(f"{style} {nudge}", _how_many_calls(request_spec))


def _how_many_calls(request_spec: RequestSpec) -> str:
    if request_spec.capabilities["parallel"].value is False:
        return ONE_CALL
    return ALL_AT_ONCE if context_of(request_spec) == "minimal" else ""


def paragraphs(*texts: str) -> str:
    return "\n\n".join(text for text in texts if text)
