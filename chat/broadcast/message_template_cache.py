"""Renders a message from parts of its template that are rendered once for each kind of message.

A template takes longer than the rest of a message. Messages of one kind differ only in values that the template
prints without a test other than whether there is one. The rendered kind has a mark in place of each value.
"""

from __future__ import annotations

import re
import secrets
import uuid
from collections.abc import Mapping
from dataclasses import replace
from functools import cache, lru_cache

from django.template.loader import render_to_string
from django.utils.html import conditional_escape
from django.utils.safestring import mark_safe

from chat.transcript.messages.duration_text import duration
from chat.transcript.messages.view_models import NEARLY_FULL, ShownMessage, ShownUsage
from toolsupport.core.types import Role

TEMPLATE = "chat/message.html"


def _number(digit: int) -> int:
    """Return a random number of sixteen digits, so that no name of a model holds it."""
    return 10**15 * digit + secrets.randbelow(10**15)


ID, PARENT, TURN, TOKENS, LIMIT, CONTEXT = map(_number, (3, 4, 5, 6, 9, 1))
THOUGHT, TOOK, SPEED = _number(7), _number(8), float(_number(2))
TEXT, HTML, THINKING, CHAT = (str(uuid.uuid4()) for _ in range(4))
# A nearly full context is shown with a warning that gives the percentage: one kind of message for each.
FULL = {percent: LIMIT * percent // 100 + 1 for percent in range(NEARLY_FULL, 101)}
MARKS = (
    *(str(number) for number in (ID, PARENT, TURN, SPEED)),
    *(f"{number:,}" for number in (TOKENS, LIMIT, CONTEXT, *FULL.values())),
    *(duration(THOUGHT), duration(TOOK), TEXT, HTML, THINKING, CHAT),
)
NO_USAGE = ShownUsage()
ANY_MARK = re.compile("(" + "|".join(map(re.escape, MARKS)) + ")")


def html_of(shown: ShownMessage) -> str | None:
    """Return the HTML of a message; None for one with values that its template tests."""
    if not _is_plain(shown):
        return None
    values = _values(shown)
    return "".join([values.get(part, part) for part in _parts(_kind(shown))])


def _is_plain(shown: ShownMessage) -> bool:
    """Return whether the template only prints the values of a message, or tests whether there are any."""
    beside = shown.calls or shown.files or shown.images or len(shown.siblings) > 1
    if shown.role == Role.NOTICE or beside or shown.ended:
        return False
    usage = shown.usage
    return usage is None or not (usage.constrained or usage.tokens == 1)


def _values(shown: ShownMessage) -> Mapping[str, str]:
    usage = shown.usage or NO_USAGE
    printed = map(str, (shown.id, shown.parent, shown.turn, usage.speed))
    tokens = [f"{number:,}" for number in (usage.tokens, usage.limit, usage.context)]
    contexts = tokens[-1:] * len(FULL)
    times = duration(shown.thinking_ms), duration(usage.took_ms)
    texts = [conditional_escape(text) if text else "" for text in (shown.text, shown.html, shown.thinking)]
    return dict(zip(MARKS, (*printed, *tokens, *contexts, *times, *texts, shown.conversation), strict=True))


def _kind(shown: ShownMessage) -> ShownMessage:
    """Return the message with marks for its values, and without the parts that are not rendered."""
    return replace(
        shown,
        id=ID,
        parent=PARENT if shown.parent else None,
        turn=TURN if shown.turn is not None else None,
        siblings=(),  # a message that is alone among its siblings is shown as one that has none
        text=TEXT if shown.text else "",
        html=mark_safe(HTML) if shown.html else "",
        thinking=THINKING if shown.thinking else "",
        thinking_ms=THOUGHT if shown.thinking_ms is not None else None,
        usage=_kind_of_usage(shown.usage) if shown.usage else None,
        conversation=CHAT if shown.conversation else "",
        created_at=None,
    )


@cache
def _usage_with(tokens: bool, speed: bool, took: bool, full: int | None) -> ShownUsage:
    """`full` is the percentage of a nearly full context, None where the limit is unknown."""
    context, limit = (0, 0) if full is None else (FULL.get(full, CONTEXT), LIMIT)
    return ShownUsage(TOKENS * tokens, SPEED * speed, context, limit, TOOK * took)


def _kind_of_usage(usage: ShownUsage) -> ShownUsage:
    full = usage.percent if usage.nearly_full else 0
    return _usage_with(usage.tokens > 0, usage.speed > 0, usage.took_ms > 0, full if usage.limit > 0 else None)


@lru_cache(maxsize=256)
def _parts(kind: ShownMessage) -> list[str]:
    """Render a kind of message once. Every second part is a mark."""
    return ANY_MARK.split(render_to_string(TEMPLATE, {"message": kind}).strip())
