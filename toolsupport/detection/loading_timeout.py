"""Decides how long to wait for the first answer of a model, by the loading state that its server shows."""

from __future__ import annotations

from toolsupport import providers
from toolsupport.core import load_failures
from toolsupport.core.errors import ProviderError
from toolsupport.core.types import Endpoint
from toolsupport.detection.probe_limits import ProbeLimits
from toolsupport.detection.probe_reply import ProbeReply


async def patience(endpoint: Endpoint, model: str, limits: ProbeLimits) -> float:
    """Return the seconds until the first token. Servers that load a model still answer other requests.

    Some list the loaded models (Ollama, LM Studio, llama-server with several models); for others it is unknown.
    """
    try:
        report = await providers.survey(endpoint)
    except ProviderError as error:
        return limits.silent if error.kind == "timeout" else limits.first
    shown = {found.name: found.loaded for found in report.models}
    lists = providers.provider(endpoint.kind).wire == "ollama" or any(shown.values())
    return limits.load if lists and shown.get(model) is False else limits.first


def is_loading(reply: ProbeReply) -> bool:
    """Return whether the server reports that it is loading the model, as llama-server does with status 503."""
    failed = reply.failed
    return failed is not None and failed.status == 503 and load_failures.is_loading(failed.body)
