"""Reads an OpenAI-compatible server's description of itself and its models.

The list of models is the same request everywhere; most servers return only names. Further facts are in the list
(OpenRouter, Mistral, vLLM, Groq, llama.cpp, Fireworks, Hugging Face) or at the path of `Provider.about`. A server that
does not mention an ability has not denied it. llama.cpp imitates Ollama's list with `capabilities` "completion" for
every model; these are ignored.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from toolsupport import loop_share
from toolsupport.core import load_failures
from toolsupport.core.errors import ProviderError
from toolsupport.core.reasoning import template_begins_inside
from toolsupport.core.reported_numbers import MOST_BYTES, whole
from toolsupport.core.sentences import sentence
from toolsupport.core.types import JSON, Endpoint
from toolsupport.providers import error_text, http_client
from toolsupport.providers.server_kinds import provider
from toolsupport.providers.survey_types import MODEL_SIZE, ModelDetails, ModelReport, ServerReport, mapping_in, text_in

LIST = "/v1/models"
HEALTH = "/health"
ABILITIES = ("tools", "thinking", "vision")
# Owner of the first model → path with more details.
OWNERS = {"llamacpp": "/props", "koboldcpp": "/props", "vllm": "/version"}
SETTINGS = "default_generation_settings"  # /props of llama-server, also before its builds of 2026, and of KoboldCpp
# What llama.cpp reports of a template: the tools of a request, and the calls of its history. Some only have the second.
TEMPLATE_TAKES = ("supports_tools", "supports_tool_calls")
ABSENT = (401, 403, 404, 405, 501)  # of a path that a server does not have, or not for this site
# LM Studio reports the context with which a model is loaded beside the longest that it was built for.
CONTEXTS = ("loaded_context_length", "context_length", "max_model_len", "context_window", "max_context_length")

ModelData = Mapping[str, Any]


async def survey(endpoint: Endpoint) -> ServerReport:
    """Return the models with all reported facts, and the version if there is one. Raises ProviderError."""
    entries = _entries(await http_client.get_json(endpoint, LIST))
    if entries is None:
        raise http_client.raised(error_text.failed(endpoint, "garbled", sentence("no_list_of_models")))
    answer = await _about(endpoint, entries)
    about = answer or {}
    extras = {text_in(extra, "id"): extra for extra in _entries(about) or []}
    if SETTINGS in about and len(entries) == 1:
        extras = {text_in(entries[0], "id"): about}  # with more models, /props describes only the server
    models = await loop_share.apart(lambda: _reports(entries, extras, unread=answer is None), len(entries) * MODEL_SIZE)
    return ServerReport(text_in(about, "build_info") or text_in(about, "version"), models)


def _reports(entries: list[ModelData], extras: Mapping[str, ModelData], *, unread: bool) -> tuple[ModelReport, ...]:
    """Return the reports; what is `unread` might hold the digests of those that have none."""
    found = {
        name: _report(name, {**entry, **extras.get(name, {})}) for entry in entries if (name := text_in(entry, "id"))
    }
    return tuple(replace(one, digest=one.digest or None) if unread else one for one in found.values())


async def describe(endpoint: Endpoint, name: str) -> ModelDetails:
    """Return the details about one model from the list. Raises ProviderError."""
    report = await survey(endpoint)
    found = next((model.details for model in report.models if model.name == name), None)
    if found is None:
        raise http_client.raised(error_text.answered(endpoint, 404, f'{{"error":"model {name} is not in its list"}}'))
    return found


async def is_loaded(endpoint: Endpoint, name: str) -> bool | None:
    """Return whether the server has the model in memory; None where it does not show that. Raises ProviderError."""
    try:
        await http_client.get_json(endpoint, HEALTH)
    except ProviderError as error:
        # llama-server lists its model, and answers everything else, /health too, with this while it loads it.
        if error.status == 503 and load_failures.is_loading(error.body):
            return False
    entries = _entries(await http_client.get_json(endpoint, LIST)) or []
    row = [*entries, *(_entries(await _about(endpoint, entries)) or [])]
    states = [state for entry in row if text_in(entry, "id") == name and (state := _state(entry))]
    return states[-1] == "loaded" if states else None


async def _about(endpoint: Endpoint, entries: list[ModelData]) -> JSON | None:
    """Return the further answer, {} if the server has none, None if it could not be read: the list is enough."""
    owner = text_in(entries[0], "owned_by") if entries else ""
    path = provider(endpoint.kind).about or OWNERS.get(owner, "")
    if not path:
        return {}
    try:
        answer = await http_client.get_json(endpoint, path)
    except ProviderError as error:
        if error.kind == "unreachable":
            raise
        return {} if error.status in ABSENT else None
    return answer if isinstance(answer, dict) else {}


def _entries(answer: Any) -> list[ModelData] | None:
    """Return the models of a list, None if it is not a list. Some servers omit the envelope."""
    listed = answer.get("data") if isinstance(answer, dict) else answer
    if listed is None and isinstance(answer, dict) and answer.get("object") == "list":
        return []  # an Ollama without models
    if not isinstance(listed, list):
        return None
    return [entry for entry in listed if isinstance(entry, dict)]


def _report(name: str, row: ModelData) -> ModelReport:
    details = _details(row)
    return ModelReport(
        name=name,
        digest=_digest(name, row),
        size_bytes=whole(mapping_in(row, "meta").get("size"), MOST_BYTES),
        quantization=details.quantization,
        loaded=_state(row) == "loaded",
        capabilities=details.capabilities,
        details=details,
    )


def _digest(name: str, row: ModelData) -> str:
    """Return a digest of the facts by which a server shows which model is behind a name, "" if there are none.

    Only facts that a server has whether or not it has loaded the model, so that loading makes no other build.
    """
    meta, path = mapping_in(row, "meta"), text_in(row, "model_path")
    facts = {
        "vllm": [text_in(row, "root"), text_in(row, "parent")] if text_in(row, "root") not in ("", name) else [],
        "llamacpp": [path, meta.get("n_params"), meta["size"]] if path and meta.get("size") and not _state(row) else [],
        "lmstudio": [text_in(row, key) for key in ("arch", "quantization") if row.get(key)],
    }
    known = json.dumps({server: shown for server, shown in facts.items() if shown})
    return hashlib.sha256(known.encode()).hexdigest()[:32] if any(facts.values()) else ""


def _state(row: ModelData) -> str:
    """LM Studio's word for whether a model is loaded, or that of a llama-server with several models."""
    return text_in(row, "state") or text_in(mapping_in(row, "status"), "value")


def _details(row: ModelData) -> ModelDetails:
    meta, running = mapping_in(row, "meta"), mapping_in(row, SETTINGS)
    if row.get("type") == "embeddings":  # LM Studio
        return ModelDetails(capabilities=("embedding",))
    known = {word: value for word in ABILITIES if (value := READERS[word](row)) is not None}
    contexts = (whole(running.get("n_ctx")), whole(meta.get("n_ctx")), *(whole(row.get(name)) for name in CONTEXTS))
    template = text_in(row, "chat_template")
    return ModelDetails(
        begins_inside=template_begins_inside(template),
        template_hash=hashlib.sha256(template.encode()).hexdigest()[:32] if template else "",
        capabilities=("completion", *(word for word, value in known.items() if value)) if known else None,
        unsaid=tuple(word for word in ABILITIES if word not in known),
        context_length=next((context for context in contexts if context), None),
        parameter_count=whole(meta.get("n_params"), MOST_BYTES),
        one_call=_one_call(mapping_in(row, "chat_template_caps")),
        quantization=text_in(row, "quantization") or text_in(meta, "ftype") or text_in(row, "model_ftype"),
    )


def _one_call(caps: ModelData) -> bool | None:
    """Return whether the template takes one call per message; llama.cpp also reports that for one without tools."""
    parallel = _flag(caps, "supports_parallel_tool_calls")
    return None if parallel is None or not caps.get("supports_tool_calls") else not parallel


def _tools(row: ModelData) -> bool | None:
    parameters, caps = row.get("supported_parameters"), mapping_in(row, "chat_template_caps")
    if isinstance(parameters, list):
        return "tools" in parameters
    reported = [value for key in TEMPLATE_TAKES if (value := _flag(caps, key)) is not None]
    if reported:
        return all(reported)
    capabilities = row.get("capabilities")
    if isinstance(capabilities, list):  # LM Studio: models trained for tools; others may still accept them
        return True if "tool_use" in capabilities else None
    stated = (_flag(mapping_in(row, "capabilities"), "function_calling"), _flag(row, "supports_tools"))
    return next((value for value in (*stated, _of_providers(row)) if value is not None), None)


def _of_providers(row: ModelData) -> bool | None:
    """Return what all providers behind a model have in common; None if they differ, or report nothing."""
    listed = row.get("providers")
    entries = [entry for entry in listed if isinstance(entry, dict)] if isinstance(listed, list) else []
    offered = {value for entry in entries if (value := _flag(entry, "supports_tools")) is not None}
    return offered.pop() if len(offered) == 1 else None


def _thinking(row: ModelData) -> bool | None:
    parameters = row.get("supported_parameters")
    if isinstance(parameters, list):
        return "reasoning" in parameters
    return _flag(mapping_in(row, "capabilities"), "reasoning")


def _vision(row: ModelData) -> bool | None:
    modalities = mapping_in(row, "architecture").get("input_modalities")
    if isinstance(modalities, list):
        return "image" in modalities
    if text_in(row, "type") in ("llm", "vlm"):
        return text_in(row, "type") == "vlm"
    seen = _flag(mapping_in(row, "modalities"), "vision")
    return _flag(mapping_in(row, "capabilities"), "vision") if seen is None else seen


READERS: dict[str, Callable[[ModelData], bool | None]] = {"tools": _tools, "thinking": _thinking, "vision": _vision}


def _flag(row: ModelData, key: str) -> bool | None:
    value = row.get(key)
    return value if isinstance(value, bool) else None
