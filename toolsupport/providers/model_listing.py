"""Lists the models of a server of any kind, within a time limit."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import TypeVar

from toolsupport.core import name_checks
from toolsupport.core.types import Endpoint
from toolsupport.providers import error_text, http_client, ollama_survey, openai_survey
from toolsupport.providers.server_kinds import provider
from toolsupport.providers.survey_types import ModelDetails, ServerReport

T = TypeVar("T")

log = logging.getLogger(__name__)

LONGEST_NAME = 200
SURVEY_SECONDS = 2.0
DESCRIBE_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class ModelLister:
    survey: Callable[[Endpoint], Awaitable[ServerReport]]
    describe: Callable[[Endpoint, str], Awaitable[ModelDetails]]
    is_loaded: Callable[[Endpoint, str], Awaitable[bool | None]]


SURVEYORS = {  # by Provider.wire
    "ollama": ModelLister(ollama_survey.survey, ollama_survey.describe, ollama_survey.is_loaded),
    "openai": ModelLister(openai_survey.survey, openai_survey.describe, openai_survey.is_loaded),
}


async def survey(endpoint: Endpoint) -> ServerReport:
    """Return the version and the models of a server, within 2 s. Raises core.errors.ProviderError."""
    report = await _in_time(_surveyor(endpoint).survey(endpoint), endpoint, SURVEY_SECONDS)
    return replace(report, models=tuple(model for model in report.models if _is_usable(model.name)))


async def describe(endpoint: Endpoint, name: str) -> ModelDetails:
    """Return the server's details about one model, within 5 s. Raises core.errors.ProviderError."""
    return await _in_time(_surveyor(endpoint).describe(endpoint, name), endpoint, DESCRIBE_SECONDS)


async def is_loaded(endpoint: Endpoint, name: str) -> bool | None:
    """Return whether a model is in memory, within 2 s; None where the server does not show it. Raises ProviderError."""
    return await _in_time(_surveyor(endpoint).is_loaded(endpoint, name), endpoint, SURVEY_SECONDS)


def _is_usable(name: str) -> bool:
    """Return False for a name that people could not see, or that no row takes; the other models stay."""
    if len(name) <= LONGEST_NAME and not name_checks.problem(name):
        return True
    log.warning("left out a model with the name %s", ascii(name[:LONGEST_NAME]))
    return False


def _surveyor(endpoint: Endpoint) -> ModelLister:
    return SURVEYORS[provider(endpoint.kind).wire]


async def _in_time(asked: Awaitable[T], endpoint: Endpoint, seconds: float) -> T:
    try:
        async with asyncio.timeout(seconds):
            return await asked
    except TimeoutError as error:
        raise http_client.raised(error_text.too_late(endpoint, seconds)) from error
