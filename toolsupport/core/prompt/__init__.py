"""Builds the prompt of a model: system prompt, sampling options, rendered history."""

from __future__ import annotations

from collections.abc import Sequence

from toolsupport.core.prompt.history_rendering import RenderTarget, history
from toolsupport.core.prompt.sampling import options
from toolsupport.core.prompt.system_prompt import system
from toolsupport.core.prompt.turn_context import GO_ON, kept, with_notes
from toolsupport.core.types import ChatMessage, RequestSpec, Role

__all__ = ["GO_ON", "RenderTarget", "history", "messages", "options", "system"]


def messages(request_spec: RequestSpec, log: Sequence[ChatMessage]) -> tuple[ChatMessage, ...]:
    """Return the system prompt and the part of the log that the model gets, in the model's format."""
    shown = with_notes(request_spec, kept(request_spec, log))
    return history((ChatMessage(Role.SYSTEM, system(request_spec)), *shown), _target(request_spec))


def _target(request_spec: RequestSpec) -> RenderTarget:
    call_format = request_spec.capabilities["call_format"].value
    return RenderTarget(
        format=request_spec.format if request_spec.offers_tools else "",
        call_format=call_format if isinstance(call_format, str) else "",
        one_call=request_spec.capabilities["parallel"].value is False,
        words_after_results=request_spec.words_after_results,
        images_in_results=request_spec.images_in_results,
    )
