"""Renders a message from parts of its template that are rendered once for each kind of message.

A template takes longer than the rest of a message. Messages of one kind differ only in values that the template
prints without a test other than whether there is one. The rendered kind has a mark in place of each value.
"""

from __future__ import annotations

import re
import secrets
import uuid
from collections.abc import Mapping
from dataclasses import fields
from functools import cache, lru_cache
from itertools import compress
from operator import attrgetter
from typing import Any

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
# The fields whose values the template prints, with their marks. The template tests only whether there is a value.
PRINTED: dict[str, Any] = {
    "parent": PARENT,
    "turn": TURN,
    "thinking_ms": THOUGHT,
    "text": TEXT,
    "html": mark_safe(HTML),
    "thinking": THINKING,
    "conversation": CHAT,
}
BLANK = {"parent": None, "text": ""}  # of the fields without a default
# `id` and `usage` are handled separately, `siblings` and `created_at` are not rendered. The others decide the kind.
APART = ("id", "usage", "siblings", "created_at")
DECISIVE = tuple(field.name for field in fields(ShownMessage) if field.name not in (*PRINTED, *APART))
printed_values, decisive_values = attrgetter(*PRINTED), attrgetter(*DECISIVE)
ANY_MARK = re.compile("(" + "|".join(map(re.escape, MARKS)) + ")")


def html_of(shown: ShownMessage) -> str | None:
    """Return the HTML of a message; None for one with values that its template tests."""
    if not _is_plain(shown):
        return None
    values, usage = _values(shown), _kind_of_usage(shown.usage) if shown.usage else None
    has = tuple([value is not None and value != "" for value in printed_values(shown)])
    return "".join([values.get(part, part) for part in _parts(decisive_values(shown), has, usage)])


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


@cache
def _usage_with(tokens: bool, speed: bool, took: bool, full: int | None) -> ShownUsage:
    """`full` is the percentage of a nearly full context, None where the limit is unknown."""
    context, limit = (0, 0) if full is None else (FULL.get(full, CONTEXT), LIMIT)
    return ShownUsage(TOKENS * tokens, SPEED * speed, context, limit, TOOK * took)


def _kind_of_usage(usage: ShownUsage) -> ShownUsage:
    full = usage.percent if usage.nearly_full else 0
    return _usage_with(usage.tokens > 0, usage.speed > 0, usage.took_ms > 0, full if usage.limit > 0 else None)


@lru_cache(maxsize=256)
def _parts(decisive: tuple[Any, ...], has: tuple[bool, ...], usage: ShownUsage | None) -> list[str]:
    """Render a kind of message once: these values of DECISIVE, and whether each of PRINTED has one.

    Every second part is a mark. A message that is alone among its siblings is shown as one that has none.
    """
    marks = {name: mark for name, mark in compress(PRINTED.items(), has)}
    kind = ShownMessage(**dict(zip(DECISIVE, decisive, strict=True)), **(BLANK | marks), id=ID, usage=usage)
    return ANY_MARK.split(render_to_string(TEMPLATE, {"message": kind}).strip())
