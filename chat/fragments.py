"""The HTML of one thing of the chat, from the same partials a reload uses."""

from __future__ import annotations

from django.template.loader import render_to_string

from chat.shown import ShownCall, ShownMessage, ShownQuestion

# The partial of a question, by its kind, where it is not that of calls.
PARTS = {"runtime_learning": "learning"}


def message(shown: ShownMessage) -> str:
    """A bubble or a notice."""
    part = "notice" if shown.role == "notice" else "message"
    return render_to_string(f"chat/conversation.html#{part}", {"message": shown})


def question(shown: ShownQuestion) -> str:
    """An open question with its buttons."""
    return render_to_string(f"chat/conversation.html#{PARTS.get(shown.kind, 'question')}", {"question": shown})


def call(shown: ShownCall) -> str:
    """A tool card."""
    return render_to_string("chat/conversation.html#call", {"call": shown})
