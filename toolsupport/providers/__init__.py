"""How to talk to each kind of model server."""

from toolsupport.providers.client import close, get_json, post_json
from toolsupport.providers.codec import Codec
from toolsupport.providers.embedding import embed
from toolsupport.providers.inventory import describe, survey
from toolsupport.providers.rendering import Rendered, rendered
from toolsupport.providers.reports import ModelDetails, ModelReport, ServerReport
from toolsupport.providers.table import PROVIDERS, VERSIONED, Provider, codec, path_at, provider, switches_thinking
from toolsupport.providers.transport import stream

__all__ = [
    "PROVIDERS",
    "VERSIONED",
    "Codec",
    "ModelDetails",
    "ModelReport",
    "Provider",
    "Rendered",
    "ServerReport",
    "close",
    "codec",
    "describe",
    "embed",
    "get_json",
    "path_at",
    "post_json",
    "provider",
    "rendered",
    "stream",
    "survey",
    "switches_thinking",
]
