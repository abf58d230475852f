"""Renders the HTML of one item of the chat, with the partials that a reload uses."""

from __future__ import annotations

import logging
import re
import secrets
from dataclasses import replace
from functools import lru_cache
from typing import Any

from django.template.loader import render_to_string
from django.utils.html import conditional_escape

from chat.transcript.messages.call_groups import CallGroup
from chat.transcript.messages.view_models import ShownCall, ShownMessage, ShownQuestion
from toolsupport.core.types import Role

log = logging.getLogger(__name__)

# In place of the values of a message; random, so that no name of a model holds one.
ID, PARENT, TEXT = (str(10**15 * digit + secrets.randbelow(10**15)) for digit in (1, 2, 3))
MARKS = re.compile(f"({ID}|{PARENT}|{TEXT})")

# Questions about a model look otherwise than those of calls.
TEMPLATES = {
    "unknown_model": "chat/asks.html#unknown_model",
    "runtime_learning": "chat/learning_question.html",
}


def _rendered(template: str, context: dict[str, Any]) -> str:
    """Return the HTML of one item, without the line end after the template's comment."""
    return render_to_string(template, context).strip()


def message(shown: ShownMessage) -> str:
    """Render a bubble or a notice."""
    if _begins_an_answer(shown):
        values = {ID: str(shown.id), PARENT: str(shown.parent), TEXT: conditional_escape(shown.text)}
        return "".join(values.get(part, part) for part in _parts(_kind(shown)))
    part = "notice" if shown.role == Role.NOTICE else "message"
    return _rendered(f"chat/{part}.html", {"message": shown})


def _begins_an_answer(shown: ShownMessage) -> bool:
    """Return whether it is a person's message, or the empty one of a model, without anything beside its text."""
    fresh = shown.role == Role.USER or (shown.role == Role.ASSISTANT and not shown.finished)
    return fresh and not (shown.calls or shown.siblings or shown.files or shown.images or shown.usage or shown.thinking)


def _kind(shown: ShownMessage) -> ShownMessage:
    """Return the message with marks for what differs from one to the next, and without what is not rendered."""
    text, parent = TEXT if shown.text else "", int(PARENT) if shown.parent else None
    return replace(shown, id=int(ID), parent=parent, text=text, turn=None, conversation="", created_at=None)


@lru_cache(maxsize=256)
def _parts(kind: ShownMessage) -> list[str]:
    """Render a kind of message once, since a template takes longer than all else that such a message needs.

    Every second part is a mark.
    """
    return MARKS.split(_rendered("chat/message.html", {"message": kind}))


def question(shown: ShownQuestion) -> str:
    """Render an open question with its buttons."""
    template = TEMPLATES.get(shown.kind, "chat/approval.html")
    return _rendered(template, {"question": shown})


def call(shown: ShownCall) -> str:
    """Render a tool card. A result that cannot be rendered is left out, so that its turn continues."""
    try:
        return _rendered("chat/call.html", {"call": shown})
    except Exception:
        log.exception("could not render the card of call %s", shown.id)
        plain = replace(shown, result="", error="The result of this call cannot be shown here.")
        return _rendered("chat/call.html", {"call": plain})


def group(shown: CallGroup[Any]) -> str:
    """Render the row of a group without its cards, which the page has."""
    return _rendered("chat/call_group.html", {"group": shown, "bare": True})
