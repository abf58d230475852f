"""Reads the progress of a download from the lines of an Ollama server, and states its errors in words."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field

from toolsupport.core.quote_foreign_text import quoted
from toolsupport.core.reported_numbers import MOST_BYTES, whole
from toolsupport.core.sentences import sentence

STEPS = {
    "": "Waiting",
    "manifest": "Reading the manifest",
    "downloading": "Downloading",
    "verifying": "Verifying",
    "writing": "Saving",
}
MOST_LAYERS = 1_000
BROKEN_OFF = sentence("pull_broken_off")

# Ollama's error → the sentence with the remedy; the first row that fits counts.
ERRORS = (
    (r"no space left|not enough space|disk quota", "pull_disk_full"),
    (r"newer version of ollama|\b412\b", "pull_needs_newer"),
    (r"file does not exist|manifest unknown|\b404\b", "pull_not_found"),
    (r"invalid model name|invalid model path|name \S{1,200} is invalid", "pull_bad_name"),
    (r"digest mismatch", "pull_damaged"),
    (r"unauthorized|access denied|denied|\b40[13]\b", "pull_denied"),
    (
        r"no such host|dial tcp|i/o timeout|connection re|network is unreachable|tls|max retries|proxy|unexpected eof",
        "pull_no_registry",
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
    found = (code for pattern, code in ERRORS if re.search(pattern, plain))
    return sentence(next(found, "pull_failed"), text=quoted(words))
