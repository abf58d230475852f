"""Reads the progress of a download from the lines of an Ollama server, and states its errors in words."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field

from toolsupport.core.quotation import quoted
from toolsupport.core.reported_numbers import MOST_BYTES, whole

STEPS = {
    "": "Waiting",
    "manifest": "Reading the manifest",
    "downloading": "Downloading",
    "verifying": "Verifying",
    "writing": "Saving",
}
MOST_LAYERS = 1_000
BROKEN_OFF = "The connection to the server was lost. Resume to continue."

# What Ollama writes, with what a person can do about it; the first row that fits counts.
ERRORS = (
    (r"no space left|not enough space|disk quota", "The disk of the server is full. Make room, then resume."),
    (r"newer version of ollama|\b412\b", "This model needs a newer version of Ollama."),
    (r"file does not exist|manifest unknown|\b404\b", "The registry has no model of this name. Check name and tag."),
    (r"invalid model name|invalid model path|name \S{1,200} is invalid", "This is not a valid model name."),
    (r"digest mismatch", "The downloaded data was damaged. Resume to download them again."),
    (r"unauthorized|access denied|denied|\b40[13]\b", "The registry denies access to this model."),
    (
        r"no such host|dial tcp|i/o timeout|connection re|network is unreachable|tls|max retries|proxy|unexpected eof",
        "The server cannot reach the registry. Check its network, then resume.",
    ),
)


@dataclass(slots=True)
class PullReader:
    """One download. `completed` and `total` are the bytes of all layers seen so far; Ollama names each layer."""

    step: str = ""
    done: bool = False
    error: str = ""
    _layers: dict[str, tuple[int, int]] = field(default_factory=dict)

    @property
    def completed(self) -> int:
        return sum(completed for completed, _ in self._layers.values())

    @property
    def total(self) -> int:
        return sum(total for _, total in self._layers.values())

    def feed(self, line: bytes) -> None:
        """Read one line; a line that is no object of a download changes nothing."""
        try:
            update = json.loads(line)
        except (ValueError, RecursionError):
            return
        if not isinstance(update, dict):
            return
        if update.get("error"):
            self.error = explained(str(update["error"]))
            return
        self._status(str(update.get("status") or ""))
        digest, total = update.get("digest"), whole(update.get("total"), MOST_BYTES)
        if isinstance(digest, str) and total and (digest[:100] in self._layers or len(self._layers) < MOST_LAYERS):
            # A layer that is there already comes once, complete.
            self._layers[digest[:100]] = (min(whole(update.get("completed"), MOST_BYTES) or 0, total), total)

    def _status(self, status: str) -> None:
        self.done = self.done or status == "success"
        if status == "pulling manifest":
            self.step = "manifest"
        elif status.startswith("pulling "):
            self.step = "downloading"
        elif status.startswith("verifying"):
            self.step = "verifying"
        elif status.startswith(("writing", "removing")):
            self.step = "writing"


def explained(words: str) -> str:
    """Return what a person can do about an error, with the server's own words quoted."""
    plain = words[:1000].lower()
    found = (advice for pattern, advice in ERRORS if re.search(pattern, plain))
    advice = next(found, "The server could not download it.")
    return f"{advice} Server: {quoted(words)}."
