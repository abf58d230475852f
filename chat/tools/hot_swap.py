"""Defines the tool `hot_swap`, which changes the prompts of a conversation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from chat.sentences import sentence
from chat.tools.stores import NamedPrompt, PromptStore
from chat.tools.tool import Preview, Tool, ToolContext
from toolsupport.core.errors import ToolError
from toolsupport.core.types import JSON, ToolResult, ToolSpec

SPEC = ToolSpec(
    "hot_swap",
    "Choose which of the team's prepared prompts guide you from now on in this conversation. Those you name take the "
    "place of those chosen before; with an empty list none is used.",
    {
        "type": "object",
        "properties": {
            "prompts": {
                "type": "array",
                "items": {"type": "string"},
                "description": "The names of the prompts, the most important first",
            },
        },
        "required": ["prompts"],
        "additionalProperties": False,
    },
)


async def run(context: ToolContext, arguments: JSON) -> ToolResult:
    """Select the prompts, all or none of them."""
    prompts, wanted = _prompts(context), arguments.get("prompts")
    if not isinstance(wanted, list) or not all(isinstance(name, str) for name in wanted):
        raise ToolError("The argument 'prompts' is needed, as a list of names.")
    names = [_name(given, prompts.offered) for given in wanted]
    await prompts.choose(names)
    return ToolResult(f"From now on: {', '.join(names)}." if names else "None of the prepared prompts is in use now.")


def preview(context: ToolContext, arguments: JSON) -> Preview:
    """Name the prompts."""
    names = [_name(str(given), _prompts(context).offered) for given in arguments.get("prompts") or ()]
    return Preview(sentence("use_prompts", names=names) if names else sentence("stop_prompts"))


def _name(given: str, offered: Sequence[NamedPrompt]) -> str:
    """Return the name as it is in the team's list. Raises ToolError for an unknown name."""
    by_name = {prompt.name.casefold(): prompt.name for prompt in offered}
    found = by_name.get("-".join(given.casefold().split()))
    if found is None:
        raise ToolError(f"There is no prompt named {given!r}. There are: {', '.join(by_name.values()) or 'none'}.")
    return found


def _prompts(context: ToolContext) -> PromptStore:
    if context.prompts is None:
        raise ToolError("Prompts can be chosen in a conversation only.")
    return context.prompts


def with_prompts(spec: ToolSpec, offered: Sequence[NamedPrompt]) -> ToolSpec:
    """Return the tool's spec for the model, with the available prompts."""
    parameters = spec.parameters
    listed = {"type": "string", "enum": [prompt.name for prompt in offered]}
    prompts = parameters["properties"]["prompts"] | {"items": listed}
    described = "; ".join(
        f"{prompt.name}: {prompt.description}" if prompt.description else prompt.name for prompt in offered
    )
    description = f"{spec.description} There are: {described}."
    return replace(spec, description=description, parameters=parameters | {"properties": {"prompts": prompts}})


TOOL = Tool(SPEC, run, level="A0", phrase="Swap prompts", target="prompts", preview=preview, steers=True, retold=True)
