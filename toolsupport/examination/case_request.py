"""Builds the request of a case: as a chat with the model would send it, with fixed sampling."""

from __future__ import annotations

from dataclasses import replace

from toolsupport.core.exams.cases import ExamCase
from toolsupport.core.types import Permit, RequestSpec, Role
from toolsupport.registry.models.request_context import RequestContext

OUTPUT_TOKENS = 2048
THINKING_TOKENS = 8192


def of_case(prepared: RequestContext, case: ExamCase, asked_format: str = "") -> RequestSpec:
    """Return the request, in the format that is in force or in the one that is asked for."""
    spec = prepared.request_spec
    if asked_format:
        spec = replace(spec, tools=case.tools, excluded=(), hidden=(), format=asked_format)
    brings_its_own = any(message.role is Role.SYSTEM for message in case.messages)
    tokens = THINKING_TOKENS if spec.capabilities["thinking"].value else OUTPUT_TOKENS
    return replace(
        spec,
        fallbacks=(),
        if_refused="",
        system="" if brings_its_own else prepared.modelfile_prompt,
        options={**spec.options, "num_predict": tokens, "temperature": 0.0},
        permit=Permit.PROBE,
    )
