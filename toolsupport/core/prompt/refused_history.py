"""Rewrites a history for servers and templates that refuse a role, or the place of a message.

Each rewriting keeps all words, and is used only after a server refused the history as it was.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from types import MappingProxyType

from toolsupport.core.prompt.history_rendering import BROKEN_OFF
from toolsupport.core.prompt.system_prompt import paragraphs
from toolsupport.core.prompt.turn_context import GO_ON
from toolsupport.core.types import ChatMessage, Role

Messages = tuple[ChatMessage, ...]

# What was refused → its words in errors, in lower case. Roles that do not alternate have several causes.
REFUSED: Mapping[str, re.Pattern[str]] = MappingProxyType(
    {
        # Templates of Gemma 2 and early Mistral models, Gemma in Google's API, o1-mini, Titan on Bedrock.
        "system": re.compile(
            r"\bsystem['`\"]? (?:role|messages?|prompts?|instructions?)\b.{0,40}(?:\bnot|n't) (?:be )?"
            r"(?:supported|allowed|enabled)\b|\bdeveloper instructions? (?:is|are) not enabled\b"
            r"|(?:\bnot|n't) support (?:the )?['`\"]?(?:system|developer)['`\"]?(?: role| messages?| prompts?| with)"
            r"|\bonly user(?:,| and) (?:model|assistant)\b.{0,20}\broles are supported\b"
            r"|(?<!optional system message, )\bconversation roles must alternate user/"
        ),
        # Mistral's service and templates, also behind a name that does not show the family.
        "order": re.compile(r"\bunexpected role 'user' after role 'tool'|\bconversation roles must alternate\b"),
        # Claude since 4.6, llama.cpp with a model that thinks, Mistral's service: also behind proxies.
        "prefill": re.compile(
            r"\bassistant (?:message |response )?prefill\b.{0,40}\b(?:incompatible|not (?:be )?supported|unsupported)\b"
            r"|(?:\bnot|n't) support assistant (?:message |response )?prefill|\bmust end with a user message\b"
            r"|\bexpected last role user or tool\b"
        ),
    }
)


def rewritten(messages: Messages, refused: Collection[str]) -> Messages:
    """Return the history without what was refused: keys of REFUSED; others change nothing."""
    for name, rewrite in REWRITES.items():
        if name in refused:
            messages = rewrite(messages)
    return messages


def _without_system(messages: Messages) -> Messages:
    """Put the system text before the first message of a person."""
    system = paragraphs(*(message.content for message in messages if message.role is Role.SYSTEM))
    spoken = tuple(message for message in messages if message.role is not Role.SYSTEM)
    first = next((number for number, message in enumerate(spoken) if message.role is Role.USER), None)
    if not system or first is None:
        return messages
    asked = replace(spoken[first], content=paragraphs(system, spoken[first].content))
    return (*spoken[:first], asked, *spoken[first + 1 :])


def _with_answers(messages: Messages) -> Messages:
    """Put an answer between results and the message of a person."""
    made: list[ChatMessage] = []
    for message in messages:
        if made and made[-1].role is Role.TOOL and message.role is Role.USER:
            made.append(ChatMessage(Role.ASSISTANT, BROKEN_OFF))
        made.append(message)
    return tuple(made)


def _ending_with_a_person(messages: Messages) -> Messages:
    """Ask in words for the rest of an answer."""
    if not messages or messages[-1].role is not Role.ASSISTANT:
        return messages
    return (*messages, ChatMessage(Role.USER, GO_ON))


REWRITES: Mapping[str, Callable[[Messages], Messages]] = MappingProxyType(
    {"system": _without_system, "order": _with_answers, "prefill": _ending_with_a_person}
)


def helps(messages: Messages, refused: Collection[str], name: str) -> bool:
    """Return whether a rewriting changes a history beyond those that were used already."""
    return rewritten(messages, {*refused, name}) != rewritten(messages, refused)
