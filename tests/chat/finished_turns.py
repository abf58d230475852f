"""Finished turns as rows, with calls and their results."""

from __future__ import annotations

from typing import Any

from chat.models import Conversation, Turn

Called = tuple[str, dict[str, Any], str, str]  # name, arguments, result, status


def asked(chat: Conversation, text: str, calls: tuple[Called, ...] = ()) -> Turn:
    """A finished turn after those before: a question, an answer with calls, and the last answer."""
    turn: Turn = chat.turns.create(client_id=text, profile_id=chat.profile_id or 0, status="done", format="native")
    question = chat.messages.create(role="user", content=text, turn=turn, parent_id=chat.leaf_id)
    answer = chat.messages.create(role="assistant", content="Let me see.", turn=turn, parent=question)
    for number, (name, arguments, result, status) in enumerate(calls, 1):
        fields = {"arguments": arguments, "result": result, "status": status, "format": "native"}
        answer.tool_runs.create(turn=turn, call_id=str(number), name=name, **fields)
    chat.leaf = chat.messages.create(role="assistant", content=f"Done: {text}", turn=turn, parent=answer)
    chat.save()
    return turn
