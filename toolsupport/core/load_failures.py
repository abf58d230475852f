"""Recognises errors of servers that could not load a model, mostly for lack of memory."""

from __future__ import annotations

import re

from toolsupport.core.error_body import unwrap
from toolsupport.core.events import Failed

# Phrases of Ollama, of its runners (which are llama-server processes since 0.33), and of llama-server with many models.
NOT_LOADED = re.compile(
    r"requires more (?:system )?memory|out of memory|(?:not enough|insufficient) (?:\w+ )?memory"
    r"|(?:failed|unable) to (?:allocate|load|create)|error loading model|model failed to load"
    r"|(?:llama runner|llama-server) (?:process )?(?:has )?(?:terminated|exited)|cannot allocate"
    r"|waiting for (?:llama runner|llama-server) to start|llama-server (?:process no longer running|startup failed)"
    r"|^(?:exit status \d{1,3}|signal: \w{1,20})"
    r"|llama-server reported out-of-memory|model runner has unexpectedly stopped|model name=.{1,200} failed to load",
    re.IGNORECASE,
)


# llama-server and its router, llamafile, TabbyAPI and KoboldCpp while the model is read from the disk; Hugging Face
# names it: “Model org/name is currently loading”.
LOADING = re.compile(
    r"\bloading (?:the )?model\b|\bmodel (?:\S{1,200} )?is (?:still |currently )?(?:being )?load(?:ed|ing)\b",
    re.IGNORECASE,
)


def is_loading(body: str) -> bool:
    """Return whether the body of a 503 reports that the model is still loading."""
    return bool(LOADING.search(unwrap(body).message or body[:1000])) and not NOT_LOADED.search(body[:10_000])


def why(failed: Failed) -> str:
    """Return the server's message if it could not load the model, "" for any other error."""
    if failed.status < 500 and failed.kind != "server":
        return ""
    message = unwrap(failed.body).message or failed.message
    return message if NOT_LOADED.search(message) else ""
