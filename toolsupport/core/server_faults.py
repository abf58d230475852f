"""Classifies why a model server could not be asked: the word on its badge, and whether a retry may help."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from toolsupport.core import load_failures
from toolsupport.core.error_body import unwrap

UNREACHABLE, STARTING, BUSY, FAILING = "unreachable", "starting", "busy", "failing"
WRONG_KEY, WRONG_API = "wrong_key", "wrong_api"


@dataclass(frozen=True, slots=True)
class ServerFault:
    """`words` has a place for the kind of server. `passes`: it may end on its own, so the server is asked again soon.

    `hint` is the advice if that of the kind of server does not fit.
    """

    words: str
    tone: str = "off"
    passes: bool = True
    hint: str = ""


FAULTS: Mapping[str, ServerFault] = MappingProxyType(
    {
        UNREACHABLE: ServerFault("Offline"),
        STARTING: ServerFault("Starting", "ask", hint="It is loading its model."),
        BUSY: ServerFault("Busy", "ask", hint="Try again later."),
        FAILING: ServerFault("Fails", hint="Its log has the reason."),
        # Only a person can correct these: asking every few seconds with a wrong key can lock an account.
        WRONG_KEY: ServerFault("Wrong key", passes=False, hint="Enter its API key."),
        WRONG_API: ServerFault(
            "Not {article} {title} server", passes=False, hint="Correct the address or the kind of the server."
        ),
    }
)

MISSING = re.compile(
    r"\bmodel\b.{0,300}?\b(?:not found|does not exist|doesn't exist)|\b(?:unknown|no such) model\b", re.IGNORECASE
)

_BY_KIND = {
    "unauthorized": WRONG_KEY,
    "garbled": WRONG_API,
    "refused": WRONG_API,
    "too_large": WRONG_API,
    "model_missing": WRONG_API,
    "busy": BUSY,
    "server": FAILING,
}


def fault_of(kind: str, status: int, body: str) -> str:
    """A key of FAULTS, from the error with which a list of models failed (`kind` as in events.FAILURES)."""
    if status == 503 and load_failures.is_loading(body):
        return STARTING
    return _BY_KIND.get(kind, UNREACHABLE)


def model_missing(status: int, body: str) -> bool:
    """Whether the server denies in its own words that it has the model; llama-server's router does so with 400.

    Other answers of this status are about an address, a right or tools (OpenRouter: “No endpoints found that support
    tool use”), and prove nothing about the model.
    """
    return status in (400, 404) and bool(MISSING.search(unwrap(body).message[:1000]))


def badge(fault: str, title: str) -> tuple[str, str]:
    """The words and the tone of a server's badge; `title` is what its kind is called."""
    found = FAULTS.get(fault, FAULTS[UNREACHABLE])
    # An “LM Studio” is spoken with a vowel too.
    article = "an" if title[:1] in "AEIOUaeiou" or title.startswith(("LM", "SG")) else "a"
    return found.words.format(article=article, title=title), found.tone


def hint(fault: str) -> str:
    """Return the advice, "" if it depends on the kind of server."""
    return FAULTS[fault].hint if fault in FAULTS else ""


def passes(fault: str) -> bool:
    """Whether the server is asked again soon without a person."""
    return FAULTS.get(fault, FAULTS[UNREACHABLE]).passes
