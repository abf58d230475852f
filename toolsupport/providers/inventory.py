"""Asking a server of any kind which models it has, within a time limit."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from toolsupport.core.words import Endpoint
from toolsupport.providers import client, failures, ollama_survey, openai_survey
from toolsupport.providers.reports import ModelDetails, ServerReport
from toolsupport.providers.table import provider

T = TypeVar("T")

SURVEY_SECONDS = 2.0
DESCRIBE_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Surveyor:
    survey: Callable[[Endpoint], Awaitable[ServerReport]]
    describe: Callable[[Endpoint, str], Awaitable[ModelDetails]]


SURVEYORS = {  # by Provider.wire
    "ollama": Surveyor(ollama_survey.survey, ollama_survey.describe),
    "openai": Surveyor(openai_survey.survey, openai_survey.describe),
}


async def survey(endpoint: Endpoint) -> ServerReport:
    """Which version runs there and which models it has, within 2 s. Raises core.errors.ProviderError."""
    return await _in_time(_surveyor(endpoint).survey(endpoint), endpoint, SURVEY_SECONDS)


async def describe(endpoint: Endpoint, name: str) -> ModelDetails:
    """What the server tells about one model, within 5 s. Raises core.errors.ProviderError."""
    return await _in_time(_surveyor(endpoint).describe(endpoint, name), endpoint, DESCRIBE_SECONDS)


def _surveyor(endpoint: Endpoint) -> Surveyor:
    return SURVEYORS[provider(endpoint.kind).wire]


async def _in_time(asked: Awaitable[T], endpoint: Endpoint, seconds: float) -> T:
    try:
        async with asyncio.timeout(seconds):
            return await asked
    except TimeoutError as error:
        raise client.raised(failures.failed(endpoint, "timeout", f"nothing came for {seconds:g} s")) from error
