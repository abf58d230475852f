"""What a model gets to read: the system text, the sampling options, the history rendered for it."""

from __future__ import annotations

from collections.abc import Sequence

from toolsupport.core.prompt.history_rendering import RenderTarget, history
from toolsupport.core.prompt.sampling import options
from toolsupport.core.prompt.system_prompt import system
from toolsupport.core.prompt.turn_context import GO_ON, kept
from toolsupport.core.types import ChatMessage, RequestSpec, Role

__all__ = ["GO_ON", "RenderTarget", "history", "messages", "options", "system"]


def messages(brief: RequestSpec, log: Sequence[ChatMessage]) -> tuple[ChatMessage, ...]:
    """The system text and as much of the log as the model is shown, written the way it reads them."""
    return history((ChatMessage(Role.SYSTEM, system(brief)), *kept(brief, log)), _target(brief))


def _target(brief: RequestSpec) -> RenderTarget:
    call_format = brief.capabilities["call_format"].value
    return RenderTarget(
        format=brief.format if brief.offers_tools else "",
        call_format=call_format if isinstance(call_format, str) else "",
        one_call=brief.capabilities["parallel"].value is False,
    )
