"""Renders the HTML of one item of the chat, with the partials that a reload uses."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import Any

from django.template.loader import render_to_string

from chat.broadcast import message_template_cache
from chat.transcript.messages.call_groups import CallGroup
from chat.transcript.messages.view_models import ShownCall, ShownMessage, ShownQuestion
from toolsupport.core.types import Role

log = logging.getLogger(__name__)

# Questions about a model have templates of their own.
TEMPLATES = {
    "unknown_model": "chat/asks.html#unknown_model",
    "runtime_learning": "chat/learning_question.html",
}


def _rendered(template: str, context: dict[str, Any]) -> str:
    """Return the HTML of one item, without the line end after the template's comment."""
    return render_to_string(template, context).strip()


def message(shown: ShownMessage) -> str:
    """Render a bubble or a notice."""
    found = message_template_cache.html_of(shown)
    if found is not None:
        return found
    part = "notice" if shown.role == Role.NOTICE else "message"
    return _rendered(f"chat/{part}.html", {"message": shown})


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
