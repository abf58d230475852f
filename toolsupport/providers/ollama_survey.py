"""Reads an Ollama server's description of itself and its models."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Mapping
from typing import Any

from toolsupport import loop_share
from toolsupport.core.errors import ProviderError
from toolsupport.core.reasoning import template_begins_inside
from toolsupport.core.reported_numbers import MOST_BYTES, whole
from toolsupport.core.sentences import sentence
from toolsupport.core.types import JSON, Endpoint
from toolsupport.providers import error_text, http_client
from toolsupport.providers.survey_types import MODEL_SIZE, ModelDetails, ModelReport, ServerReport, mapping_in, text_in

# The error of Llama 3's templates for two calls in one message.
ONE_CALL = "only supports single tool-calls"


async def survey(endpoint: Endpoint) -> ServerReport:
    """Return the version, the models, and which of them are loaded. Raises ProviderError."""
    paths = ("/api/tags", "/api/version", "/api/ps")
    tags, version, running = await asyncio.gather(
        http_client.get_json(endpoint, paths[0]), *(_if_known(endpoint, path) for path in paths[1:])
    )
    loaded = {str(entry.get("name")) for entry in _entries(running)}
    if not isinstance(tags, dict) or "models" not in tags:
        raise http_client.raised(error_text.failed(endpoint, "garbled", sentence("no_list_of_models")))
    entries = _entries(tags)
    models = await loop_share.apart(lambda: _reports(entries, loaded), len(entries) * MODEL_SIZE)
    return ServerReport(text_in(version, "version"), models)


def _reports(entries: list[Mapping[str, Any]], loaded: set[str]) -> tuple[ModelReport, ...]:
    found = {report.name: report for entry in entries if (report := _report(entry, loaded)).name}
    return tuple(found.values())


async def describe(endpoint: Endpoint, name: str) -> ModelDetails:
    """Return the details about one model from /api/show. Raises ProviderError."""
    shown = await http_client.post_json(endpoint, "/api/show", {"model": name})
    if not isinstance(shown, dict):
        raise http_client.raised(error_text.failed(endpoint, "garbled", sentence("no_description")))
    info, details = mapping_in(shown, "model_info"), mapping_in(shown, "details")
    template = text_in(shown, "template")
    return ModelDetails(
        begins_inside=template_begins_inside(template),
        template_hash=hashlib.sha256(template.encode()).hexdigest()[:32] if template else "",
        capabilities=_capabilities(shown),
        context_length=whole(info.get(f"{info.get('general.architecture', '')}.context_length")),
        parameter_count=whole(info.get("general.parameter_count"), MOST_BYTES),
        quantization=text_in(details, "quantization_level"),
        family=text_in(details, "family"),
        system=text_in(shown, "system"),
        parameters=text_in(shown, "parameters"),
        one_call=ONE_CALL in template if template else None,
    )


async def is_loaded(endpoint: Endpoint, name: str) -> bool | None:
    """Return whether an Ollama server has the model in memory. Raises ProviderError."""
    running = await http_client.get_json(endpoint, "/api/ps")
    return bool({name, f"{name}:latest"} & {text_in(entry, "name") for entry in _entries(running)})


async def _if_known(endpoint: Endpoint, path: str) -> JSON:
    """Return nothing if a server lacks the path: only the list of models is indispensable."""
    try:
        answer = await http_client.get_json(endpoint, path)
    except ProviderError as error:
        if error.kind == "unreachable":
            raise
        return {}
    return answer if isinstance(answer, dict) else {}


def _report(entry: Mapping[str, Any], loaded: set[str]) -> ModelReport:
    """Parse a model of the list. Its `capabilities` there are ignored: they omit those known only from the template."""
    details, name = mapping_in(entry, "details"), text_in(entry, "name") or text_in(entry, "model")
    return ModelReport(
        name=name,
        digest=text_in(entry, "digest"),
        size_bytes=whole(entry.get("size"), MOST_BYTES),
        family=text_in(details, "family"),
        quantization=text_in(details, "quantization_level"),
        loaded=name in loaded,
        modified_at=text_in(entry, "modified_at"),
    )


def _entries(answer: Any) -> list[Mapping[str, Any]]:
    models = answer.get("models") if isinstance(answer, dict) else None
    return [entry for entry in models if isinstance(entry, dict)] if isinstance(models, list) else []


def _capabilities(entry: Mapping[str, Any]) -> tuple[str, ...] | None:
    listed = entry.get("capabilities")
    return tuple(str(word) for word in listed) if isinstance(listed, list) else None
