"""Protocols, codecs and HTTP for each kind of model server."""

from toolsupport.providers.codec import Codec
from toolsupport.providers.embeddings import embed, embed_inputs
from toolsupport.providers.http_client import close, get_json, post_json
from toolsupport.providers.kind_guess import guess
from toolsupport.providers.model_listing import describe, is_loaded, survey
from toolsupport.providers.ollama_models import RunningModel, delete, pull, running, unload
from toolsupport.providers.request_trace import stream
from toolsupport.providers.server_kinds import (
    PROVIDERS,
    VERSIONED,
    Provider,
    codec,
    honours_tool_choice,
    path_at,
    provider,
    switches_thinking,
    takes_format_beside_tools,
)
from toolsupport.providers.server_rendered_prompt import RenderedPrompt, rendered
from toolsupport.providers.survey_types import ModelDetails, ModelReport, ServerReport

__all__ = [
    "PROVIDERS",
    "VERSIONED",
    "Codec",
    "ModelDetails",
    "ModelReport",
    "Provider",
    "RenderedPrompt",
    "RunningModel",
    "ServerReport",
    "close",
    "codec",
    "delete",
    "describe",
    "embed",
    "embed_inputs",
    "get_json",
    "guess",
    "honours_tool_choice",
    "is_loaded",
    "path_at",
    "post_json",
    "provider",
    "pull",
    "rendered",
    "running",
    "stream",
    "survey",
    "switches_thinking",
    "takes_format_beside_tools",
    "unload",
]
