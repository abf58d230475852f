"""Lists the models of a server of any kind, within a time limit."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from toolsupport import loop_share
from toolsupport.core import name_checks
from toolsupport.core.types import Endpoint
from toolsupport.providers import error_text, http_client, ollama_survey, openai_survey
from toolsupport.providers.server_kinds import provider
from toolsupport.providers.survey_types import MODEL_SIZE, ModelDetails, ModelReport, ServerReport

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
    models = await loop_share.apart(lambda: _usable(report.models), len(report.models) * MODEL_SIZE)
    return replace(report, models=models)


async def describe(endpoint: Endpoint, name: str) -> ModelDetails:
    """Return the server's details about one model, within 5 s. Raises core.errors.ProviderError."""
    return await _in_time(_surveyor(endpoint).describe(endpoint, name), endpoint, DESCRIBE_SECONDS)


async def is_loaded(endpoint: Endpoint, name: str) -> bool | None:
    """Return whether a model is in memory, within 2 s; None where the server does not show it. Raises ProviderError."""
    return await _in_time(_surveyor(endpoint).is_loaded(endpoint, name), endpoint, SURVEY_SECONDS)


def _usable(models: Sequence[ModelReport]) -> tuple[ModelReport, ...]:
    """Leave out names that people could not see, or that no row takes; the log has the first of them."""
    usable = tuple(model for model in models if _is_usable(model.name))
    if len(usable) < len(models):
        first = next(model.name for model in models if not _is_usable(model.name))
        log.warning("left out %d models with names like %s", len(models) - len(usable), ascii(first[:LONGEST_NAME]))
    return usable


def _is_usable(name: str) -> bool:
    return len(name) <= LONGEST_NAME and not name_checks.problem(name)


def _surveyor(endpoint: Endpoint) -> ModelLister:
    return SURVEYORS[provider(endpoint.kind).wire]


async def _in_time(asked: Awaitable[T], endpoint: Endpoint, seconds: float) -> T:
    try:
        async with asyncio.timeout(seconds):
            return await asked
    except TimeoutError as error:
        raise http_client.raised(error_text.too_late(endpoint, seconds)) from error
