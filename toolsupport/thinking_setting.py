"""Decides whether a request has its model think, not where a server or model cannot, and whether replies begin so."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from toolsupport import providers
from toolsupport.core.error_body import unwrap
from toolsupport.core.events import Event, Failed, ReasoningSeen
from toolsupport.core.format_choice import FORCED, NATIVE
from toolsupport.core.types import ChatMessage, Endpoint, Permit, Request, RequestSpec, Role

# Ollama: “"gemma:2b" does not support thinking”. Others name the field: OpenAI “Unrecognized request argument supplied:
# reasoning_effort”, xAI “does not support parameter reasoningEffort”, Groq “`reasoning_effort` is not supported”.
FIELD = r"(?:['\"`]?(?:reasoning_?effort|chat_template_kwargs)\b['\"`]?|['\"`]reasoning['\"`])"
NO_THINKING = re.compile(
    r"\bdoes not support (?:thinking|reasoning)\b"
    r"|\b(?:un(?:supported|recogni[sz]ed|known)|not support(?:ed)?)"
    r"(?: request)?(?: (?:param(?:eter)?|argument|field|name)s?)?"
    rf"(?: supplied| on this model)?:? {FIELD}(?! (?:does|value))|(?:^|[.:] ?){FIELD} is not supported\b"
    rf"|{FIELD} must be one of ['\"`]none['\"`] or ['\"`]default\b",  # Groq: a model without levels
    re.IGNORECASE,
)
# Models that always think, in the words of OpenRouter, Gemini and DashScope.
ALWAYS = re.compile(
    r"\b(?:reasoning|thinking)(?: mode)? (?:is (?:mandatory|required|always (?:on|enabled))"
    r"|(?:cannot|can[’']t) be (?:disabled|(?:turned|switched) off))\b"
    r"|\bonly (?:works|supports|runs)(?: in)? (?:thinking|reasoning)(?: mode)?\b"
    r"|\benable_thinking\b.{0,40}\b(?:restricted to|must be(?: set to)?) ['\"`]?true\b",
    re.IGNORECASE,
)
# What else refuses the word that we write for on or off. A level stays an error: it was chosen, and the server names
# those that it takes.
OURS: dict[bool | str, re.Pattern[str]] = {
    think: re.compile(rf"{FIELD} (?:does not support ['\"`]{word}\b|must be one of\b)", re.IGNORECASE)
    for think, word in ((True, "medium"), (False, "none"))
}


def as_possible(endpoint: Endpoint, request_spec: RequestSpec, messages: Sequence[ChatMessage] = ()) -> RequestSpec:
    """Turn thinking off where it is impossible.

    The server would force the schema of a constrained reply on the thoughts, or it refuses to continue an answer, which
    a program sends as the last message.
    """
    server = providers.provider(endpoint.kind)
    constrained = _is_constrained(request_spec) and not server.thinks_first
    continued = server.continues_unthinking and bool(messages) and messages[-1].role is Role.ASSISTANT
    if not (constrained or continued):
        return request_spec
    return replace(request_spec, think=False) if providers.switches_thinking(endpoint.kind) else request_spec


def _is_constrained(request_spec: RequestSpec) -> bool:
    """Return whether a schema is sent: ours, or a program's, which native tools exclude."""
    form = request_spec.options.get("response_format") or {}
    programs = form.get("type") == "json_schema" and not (request_spec.tools and request_spec.format == NATIVE)
    return programs or request_spec.schema is not None or request_spec.format == FORCED


def sent(request_spec: RequestSpec) -> bool | str | None:
    """Return the setting to send. Ollama refuses `think` for a model without that ability."""
    lacks = request_spec.capabilities["thinking"].value is False and request_spec.permit is not Permit.PROBE
    return None if request_spec.think and lacks else request_spec.think


def begins_inside(request_spec: RequestSpec, request: Request) -> bool | None:
    """Return whether the reply will begin inside reasoning, if known. With thinking off a template closes it at once.

    A server that enforces a schema leaves no room for it; one that ignores a schema shows the mark at its end.
    """
    if request.schema is not None:
        return None
    if request_spec.think is False:
        return None if request_spec.begins_inside else False
    thinks_never = request_spec.begins_inside is None and request_spec.capabilities["thinking"].value is False
    return False if thinks_never else request_spec.begins_inside


def shows_others(seen: ReasoningSeen, request_spec: RequestSpec, request: Request) -> bool:
    """Return whether the beginning of this reply shows how other replies begin.

    With thinking off it does not, and one that had to be JSON has no room for reasoning.
    """
    form = request.options.get("response_format") or {}
    must_be_json = request.schema is not None or form.get("type", "text") != "text"
    return request_spec.think is not False and (seen.begins_inside or not must_be_json)


def is_denied(event: Event, request: Request) -> bool:
    """Return whether the server refused the setting for thinking, on or off. A probe judges that itself."""
    if not isinstance(event, Failed) or event.status != 400 or request.think is None or request.permit is Permit.PROBE:
        return False
    words = unwrap(event.body).words
    refused = [NO_THINKING, *([ALWAYS] if request.think is False else ()), OURS.get(request.think, NO_THINKING)]
    return any(pattern.search(words) for pattern in refused)
