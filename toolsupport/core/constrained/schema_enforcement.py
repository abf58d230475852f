"""Recognises a server that does not enforce the schema of a request: it refuses it, or drops it.

The beginning of a reply shows a dropped schema: a constrained reply can only be an object whose first key is the
decision.

The rest of a reply is checked call by call.
"""

from __future__ import annotations

import re
from typing import Any

from toolsupport.core.constrained.call_schema import ANSWER, CALLS, TOOL
from toolsupport.core.constrained.closed_schema import REPLY
from toolsupport.core.types import JSON

LONGEST = 200  # characters of a reply that are looked at
BEGINNING = re.compile(rf'\{{\s*"(?:{TOOL}|{CALLS}|{ANSWER}|{REPLY})"')
BEGUN = re.compile(r'\{?\s*"?[a-z]{0,6}"?')
# Some servers send the reasoning of a model as text before the constrained part.
THOUGHTS = re.compile(r"<(?:\w{1,9}:)?think|\[THINK\]|<\|?channel|<\|start\|>", re.IGNORECASE)
# Statuses of a refused request; llama.cpp sends 500 for mistakes of clients, too.
REFUSED = frozenset({400, 415, 422, 501})
ABOUT_SCHEMAS = ("schema", "grammar", "response_format", "structured", "json", "pattern", "regex")
# Other parts of a request and of an account, which a request without a schema would meet too.
ABOUT_OTHERS = re.compile(
    r"image|vision|audio|multimodal|context|\btokens?\b|too long|prompt|api.?key|quota|billing|credit|balance"
    r"|licen[cs]e|model.{0,40}(?:not found|not exist|not loaded|unknown)|(?:no such|unknown|unsupported) model"
    r"|tool|role|think",
    re.IGNORECASE,
)
FURTHER = frozenset({"pattern", "multipleOf"})


class ReplyBeginning:
    """The beginning of the text of one reply."""

    def __init__(self) -> None:
        self.text = ""

    def take(self, text: str) -> None:
        if len(self.text) < LONGEST:
            self.text = (self.text + text).lstrip()[:LONGEST]

    @property
    def unconstrained(self) -> bool:
        """Whether no constrained reply begins like this. An empty or very short text proves nothing."""
        if BEGINNING.match(self.text) or BEGUN.fullmatch(self.text):
            return False
        return not THOUGHTS.match(self.text)


def is_refusal(status: int, body: str) -> bool:
    """Return whether a server refused a request with a schema for it: by its words, or if they name nothing else."""
    words = body.lower()
    if any(one in words for one in ABOUT_SCHEMAS):
        return status in REFUSED or status == 500
    return status in REFUSED and not ABOUT_OTHERS.search(body)


def has_further_keywords(schema: JSON | None) -> bool:
    """Return whether a schema has a keyword that not every server supports."""
    waiting: list[Any] = [schema]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            if any(isinstance(node.get(keyword), str | int | float) for keyword in FURTHER):
                return True
            waiting += node.values()
        elif isinstance(node, list):
            waiting += node
    return False
