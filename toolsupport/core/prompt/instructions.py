"""The system text of a request: what the team wrote, then what holds for tools."""

from __future__ import annotations

from toolsupport.core.words import Brief

# Rules of an Exclusion that say it is the model that stands in the way; the others are people's wishes.
MODEL_CANNOT = frozenset({"unsupported", "unknown", "refused"})

WITH_TOOLS = (
    "You can call the tools that are offered to you. Call one when it helps to answer, and answer directly when it "
    "does not. Only the offered tools exist; use their exact names, and give every required argument. Never make up "
    "what a tool would return. Read a file before you change it, and change only what was asked for."
)
WITHOUT_TOOLS = (
    "You cannot call tools or functions here. When a request would need one, for example to read a file, say that "
    "you cannot do it here and help with what you know. Do not pretend to have called anything."
)


def system(brief: Brief) -> str:
    """The system text, "" where there is nothing to say.

    That the model cannot call functions is said only where tools were wanted: not when none is enabled.
    """
    return "\n\n".join(part for part in (brief.system.strip(), _about_tools(brief)) if part)


def _about_tools(brief: Brief) -> str:
    if brief.format and brief.tools:
        return WITH_TOOLS
    wanted = any(exclusion.rule in MODEL_CANNOT for exclusion in brief.excluded)
    return WITHOUT_TOOLS if wanted else ""
