"""Runs a file tool for a shell command with the same effect, and can offer the model a shell in place of file tools.

A call of a file tool is never turned into a shell command.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from toolsupport.core.formats.code_mode import FORMAT as CODE_MODE
from toolsupport.core.shell_equivalents import understood
from toolsupport.core.types import Capabilities, Exclusion, RequestSpec, ToolCall, ToolSpec

BASH = "bash"
# The stand-in for file tools without a real shell: the file tools themselves do its work.
COMMANDS = ToolSpec(
    BASH,
    "Work with the files of the workspace by one simple command: cat FILE, head -n 20 FILE, tail -n 20 FILE, "
    "ls [-R] [DIRECTORY], printf 'TEXT\\n' > FILE, echo TEXT >> FILE, cat > FILE <<'EOF' with the text under it, "
    "sed -i 's/old/new/' FILE. Paths start in the workspace, without a slash. There are no other commands here, "
    "no pipes, variables or patterns.",
    {
        "type": "object",
        "properties": {"command": {"type": "string", "description": "The command, for example: cat src/app.py"}},
        "required": ["command"],
        "additionalProperties": False,
    },
)
# File tool → the capability with its evidence.
KNOWN_BY: Mapping[str, str] = MappingProxyType(
    {
        "read_file": "tool:read_file",
        "list_directory": "tool:list_directory",
        "write_file": "tool:write_file",
        "edit_file": "tool:edit_file",
    }
)
REFUSES = ("via_bash", "refused")


@dataclass(frozen=True, slots=True)
class TranslatedCall:
    """`call` is the call that runs; `reason` explains a difference from the requested call, "" if there is none."""

    call: ToolCall
    reason: str = ""


def serve(call: ToolCall, request_spec: RequestSpec) -> TranslatedCall:
    """Return the call to run: of a tool that this model may use, whether or not it was offered."""
    if not request_spec.translates:
        return TranslatedCall(call)
    same = equivalent(call)
    if same is not None and any(spec.name == same.name for spec in request_spec.callable):
        return TranslatedCall(same, f"called as {BASH}, run by {same.name}")
    if any(spec.name == call.name for spec in request_spec.hidden) and call.name != BASH:
        return TranslatedCall(call, f"{call.name} was not offered, but was served")
    return TranslatedCall(call)


def equivalent(call: ToolCall) -> ToolCall | None:
    """Return the call of a file tool with the effect of this shell command; None if there is none."""
    command = call.arguments.get("command")
    found = understood(command) if call.name == BASH and isinstance(command, str) else None
    return replace(call, name=found[0], arguments=found[1]) if found else None


def rerouted(request_spec: RequestSpec) -> RequestSpec:
    """Return the request with a shell in place of tools that the model cannot call, if it can call the shell.

    Tools without any measurement stay as they are. A command for files is understood with any offer.
    """
    if not request_spec.offers_tools:
        return request_spec
    request_spec = replace(request_spec, translates=True)
    gone = {name for name in KNOWN_BY if _taken(request_spec.capabilities, name) in REFUSES}
    # Programs have no shell: their functions stay, independent of the model's native calls.
    if gone and request_spec.format != CODE_MODE.name and _can_use_bash(request_spec.capabilities):
        return through_bash(request_spec, gone)
    offered = {spec.name for spec in request_spec.tools}
    understands = BASH not in offered and offered & set(KNOWN_BY)
    return replace(request_spec, hidden=(*request_spec.hidden, COMMANDS)) if understands else request_spec


LEFT_OUT_BY_PEOPLE = frozenset({"disabled", "filtered"})


def after_refusal(request_spec: RequestSpec) -> RequestSpec | None:
    """Return the request to retry with after a model denied access to files; None if a retry is useless.

    If people excluded a file tool, the model's answer may simply be true.
    """
    offered = {spec.name for spec in request_spec.tools}
    if (
        not request_spec.translates
        or request_spec.format == CODE_MODE.name
        or BASH in offered
        or not offered & set(KNOWN_BY)
    ):
        return None
    if any(out.tool in KNOWN_BY and out.rule in LEFT_OUT_BY_PEOPLE for out in request_spec.excluded):
        return None
    return through_bash(request_spec, set(KNOWN_BY))


def through_bash(request_spec: RequestSpec, gone: set[str]) -> RequestSpec:
    """Return the request with a shell in place of those tools; they still do its work."""
    behind = tuple(spec for spec in request_spec.tools if spec.name in gone)
    stated = tuple(spec for spec in request_spec.tools if spec.name not in gone)
    shell = () if any(spec.name == BASH for spec in stated) else (COMMANDS,)
    left_out = tuple(Exclusion(spec.name, "translated", INSTEAD) for spec in behind)
    hidden = tuple(spec for spec in request_spec.hidden if spec.name != BASH)
    if not behind:
        return request_spec
    return replace(
        request_spec, tools=(*stated, *shell), hidden=(*hidden, *behind), excluded=(*request_spec.excluded, *left_out)
    )


def only_commands(request_spec: RequestSpec) -> bool:
    """Return whether a call of the shell may only mean file tools: no shell may run for this model."""
    return COMMANDS in request_spec.callable


def _taken(capabilities: Capabilities, tool: str) -> Any:
    """Return how a model uses a tool; an unknown `edit_file` is treated like `write_file`."""
    known = capabilities[KNOWN_BY[tool]].value
    return capabilities["tool:write_file"].value if known is None and tool == "edit_file" else known


def _can_use_bash(capabilities: Capabilities) -> bool:
    stated = {capabilities[name].value for name in KNOWN_BY.values()}
    return "via_bash" in stated or capabilities["tool:bash"].value == "native"


INSTEAD = "This model refuses it, so it is offered bash instead."
