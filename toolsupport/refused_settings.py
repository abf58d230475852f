"""Repeats a request without the settings that its server refuses, and remembers them for the model.

Hosted models and proxies refuse a whole request for one field: newer models of OpenAI, also on Azure and behind
LiteLLM, take `max_completion_tokens` instead of `max_tokens` and only one temperature; older versions of services know
no `stream_options`. GPT-5.4 and later take tools at this protocol only with `reasoning_effort` none. Only fields that
change how an answer is thought out, sampled or counted are left out, never what it means: a refused `stop`, tool choice
or format stays an error. Models that think also refuse a history without reasoning or signatures, which other models
never gave: it is sent again with placeholders. A history whose roles are refused is rewritten (`refused_history`).
What a server refused counts for an hour, once it has answered. An output limit that is too high for a request is
lowered for that request. An event before the reply names the settings whose absence may change it.
"""

from __future__ import annotations

import re
import time
from collections.abc import AsyncGenerator, Collection, Iterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field, replace

from toolsupport import providers, thinking_setting
from toolsupport.core import output_limits, sanitize
from toolsupport.core.error_body import unwrap
from toolsupport.core.events import Event, Failed, SettingsLeftOut
from toolsupport.core.prompt import refused_history
from toolsupport.core.server_refusals import OTHER, classify
from toolsupport.core.types import Endpoint, Permit, Request
from toolsupport.providers.exchange_recorder import ExchangeRecorder
from toolsupport.providers.openai_request import OPTIONS

# A field of the protocol → its names in errors. Of two that exclude each other the first one is left out.
FIELDS = {
    "top_p": r"top_?p",
    "top_k": r"top_?k",
    "temperature": "temperature",
    "seed": "(?:random_)?seed",
    "presence_penalty": "presence_?penalty",
    "frequency_penalty": "frequency_?penalty",
    "stream_options": "stream_?options",
    "max_tokens": "max_tokens",
}
REFUSES = (
    r"(?:\bunsupported|\bun(?:recogni[sz]ed|known|expected)|\bextra (?:inputs|fields)|\bdeprecated"
    r"|(?:\bnot|n't) (?:be |been |currently )?(?:support\w*|permitted|allowed|recogni[sz]ed|enabled|available|accepted)"
    r"|\bcannot (?:both )?be (?:set|used|specified|combined))\b"
)
BETWEEN = r"(?:[^\n.]|\.(?! )){0,120}"  # within a sentence
# Parameters of tools, and parts of the names of models, may be words like these.
NOT_OTHERS = r"\b(?<!-)(?<!properties\.)(?<!properties', ')"
# Two settings that exclude each other: a request with one of them is in order.
BOTH = re.compile(r"\bboth\b|\btogether\b|\bcombined\b")
REFUSED = {
    field: re.compile(rf"{REFUSES}{BETWEEN}{NOT_OTHERS}{name}(?![\w/-])|{NOT_OTHERS}{name}(?![\w/-]){BETWEEN}{REFUSES}")
    for field, name in FIELDS.items()
}
# Refused as it is, sent or not: the codec then sends "none" beside tools.
REFUSED["reasoning_effort"] = re.compile(
    r"\btools with reasoning_?effort (?:is|are) not supported|\btools\b.{0,120}\bset reasoning_?effort to '?none\b"
)
# Histories without what a model that thinks had in its own reply, also behind proxies: DeepSeek, Kimi, Gemini.
REFUSED["thoughts"] = re.compile(
    r"\breasoning_content\b.{0,60}\b(?:must be passed back|is missing)|\bmissing .{0,30}\breasoning_content\b"
)
REFUSED["signatures"] = re.compile(
    r"\b(?:missing|invalid|corrupted) (?:an? )?[`'\"]?thought[_ ]?signature\b"
    r"|\bthought[_ ]?signature[`'\"]? (?:is|was) (?:not valid|invalid|missing|corrupted)\b"
)
STATUSES = frozenset({400, 422})
# SGLang and llama-cpp-python answer an exception of a template so.
OF_TEMPLATES = STATUSES | {500}
SECONDS, MOST = 3600.0, 500
# These hold for a request that sends nothing of the kind.
OF_EACH = frozenset({"reasoning_effort", "thoughts", "signatures"})
# What people and programs chose, and miss; `max_tokens` is sent under its other name.
CHOSEN = (
    "think",
    "think_off",
    "reasoning_effort",
    "temperature",
    "top_p",
    "top_k",
    "seed",
    "presence_penalty",
    "frequency_penalty",
)

THINKING = frozenset({"think", "think_off"})
THINKS = "think="  # with the value: the key of a refused setting for thinking


@dataclass(frozen=True, slots=True)
class _Refused:
    """What a server refuses for one model: each field with the error. `since` is of the monotonic clock."""

    since: float
    fields: Mapping[str, str]


_refused: dict[tuple[str, str], _Refused] = {}


@dataclass(slots=True)
class _Retries:
    """The retries of a request: errors of the server by setting, and settings refused only beside others (`once`)."""

    asked: Request
    messages: dict[str, str]
    once: set[str] = field(default_factory=set)
    lowered: bool = False

    def after(self, failed: Failed, request: Request) -> Request | None:
        """Return the request that may be accepted after this failure; None after one that nothing here remedies."""
        again = _without_refused(failed, request, self.once)
        if again is not None:
            self.messages |= dict.fromkeys(again.left_out - self.messages.keys() or THINKING, _message(failed))
        elif not self.lowered:
            again = _with_lower_limit(failed, request)
            self.lowered = again is not None
        return again

    def fields(self, sent: Request) -> dict[str, str]:
        """Return what the server refuses, with its errors."""
        fields = {name: error for name, error in self.messages.items() if name.startswith(THINKS)}
        fields |= {name: self.messages[name] for name in sent.left_out - self.once}
        if self.asked.think is not None and sent.think is None:
            fields[_thinking(self.asked)] = self.messages[_name_of_thinking(self.asked)]
        return fields


async def stream(
    endpoint: Endpoint, request: Request, chosen: Collection[str] = (), recorder: ExchangeRecorder | None = None
) -> AsyncGenerator[list[Event], None]:
    """Yield the batches of providers.stream for the request, without what its server refuses.

    SettingsLeftOut comes first, in a batch of its own. It names options that were `chosen`, not those set by default.
    """
    given = () if recorder is None else (recorder,)
    known, asked = _known(endpoint, request), request
    again: Request | None = _without_known(request, known) if known else request
    retries, reported = _Retries(asked, _messages(request, known)), False
    while again is not None:
        request, again = again, None
        async with aclosing(providers.stream(endpoint, _rewritten(request), *given)) as batches:
            async for batch in batches:
                if isinstance(batch[-1], Failed):
                    again = retries.after(batch[-1], request)
                    if again is not None:
                        continue
                elif not reported and request is not asked:
                    reported = True
                    _remember(endpoint, request, retries.fields(request))
                    if missing := _missing(asked, request, chosen):
                        words = dict.fromkeys(retries.messages[name] for name in missing)
                        yield [SettingsLeftOut(missing, "; ".join(words))]
                yield batch


def _rewritten(request: Request) -> Request:
    """Return the request with a history that its server takes."""
    if not request.left_out:
        return request
    return replace(request, messages=refused_history.rewritten(request.messages, request.left_out))


def _without_known(request: Request, known: Mapping[str, str]) -> Request:
    """Return the request without what its server is known to refuse. A probe judges the setting for thinking itself."""
    think = None if _thinking(request) in known and request.permit is not Permit.PROBE else request.think
    fields = frozenset(name for name in known if not name.startswith(THINKS))
    return replace(request, left_out=fields, think=think)


def _messages(request: Request, known: Mapping[str, str]) -> dict[str, str]:
    """Return the errors of the server by the names of the settings."""
    thinking = known.get(_thinking(request))
    return dict(known) if thinking is None else {**known, **dict.fromkeys(THINKING, thinking)}


def _thinking(request: Request) -> str:
    """Return the key of the request's setting for thinking; a server may refuse one level and take others."""
    return f"{THINKS}{request.think}"


def _name_of_thinking(request: Request) -> str:
    return "think" if request.think else "think_off"


def _known(endpoint: Endpoint, request: Request) -> Mapping[str, str]:
    known = _refused.get((endpoint.base_url, request.model))
    return known.fields if known is not None and time.monotonic() - known.since < SECONDS else {}


def _remember(endpoint: Endpoint, request: Request, fields: Mapping[str, str]) -> None:
    if fields and _known(endpoint, request).keys() != fields.keys():
        if len(_refused) >= MOST:
            _refused.clear()
        _refused[endpoint.base_url, request.model] = _Refused(time.monotonic(), fields)


def _missing(asked: Request, sent: Request, chosen: Collection[str]) -> tuple[str, ...]:
    """Return the settings that were chosen and not sent, in the order of CHOSEN."""
    missing = sent.left_out & {OPTIONS.get(name, name) for name in chosen}
    if asked.think is not None and sent.think is None:
        missing |= {_name_of_thinking(asked)}
    if "reasoning_effort" in sent.left_out and asked.tools and asked.think:
        missing |= {"reasoning_effort"}
    return tuple(name for name in CHOSEN if name in missing)


def _without_refused(event: Failed, request: Request, once: set[str]) -> Request | None:
    """Return the request without what this failure refuses; None if it refuses nothing that can be left out.

    What is refused only beside another setting is added to `once`.
    """
    if thinking_setting.is_denied(event, request):
        return replace(request, think=None)
    name = next((each for each in refused_fields(event) if _is_sent(each, request)), "")
    if name and BOTH.search(_words(event)):
        once.add(name)
    name = name or next((each for each in _roles(event) if _helps(each, request)), "")
    return replace(request, left_out=request.left_out | {name}) if name and name not in request.left_out else None


def _is_sent(field: str, request: Request) -> bool:
    if field in request.left_out:
        return False
    sent = {OPTIONS.get(name, name) for name in request.options}
    return field in OF_EACH or field in sent or (field == "stream_options" and request.stream)


def _with_lower_limit(event: Failed, request: Request) -> Request | None:
    """Return the request with the output limit that its server permits; None for any other failure."""
    if event.status not in STATUSES:
        return None
    options = output_limits.lowered(request.options, _words(event))
    return None if options is None else replace(request, options=options)


def _roles(event: Failed) -> Iterator[str]:
    """Yield the reasons for which a server refused the roles of a history, keys of refused_history.REFUSED."""
    if event.status in OF_TEMPLATES:
        words = _words(event)
        yield from (name for name, pattern in refused_history.REFUSED.items() if pattern.search(words))


def _helps(name: str, request: Request) -> bool:
    return refused_history.helps(request.messages, request.left_out, name)


def refused_fields(event: Event) -> list[str]:
    """Return the settings for which a server refused a request, keys of REFUSED."""
    if not isinstance(event, Failed) or event.status not in STATUSES:
        return []
    words = _words(event)
    return [field for field, pattern in REFUSED.items() if pattern.search(words)]


def _message(event: Failed) -> str:
    return sanitize.text(classify(event.status, event.body).message)


def _words(event: Failed) -> str:
    if classify(event.status, event.body).label != OTHER:
        return ""
    return unwrap(event.body).words.lower().replace("’", "'")
