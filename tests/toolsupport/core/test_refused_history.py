"""A history that a server refuses for its roles is rewritten so that the strictest template takes it."""

from __future__ import annotations

import pytest
from hypothesis import given

from tests.tables import every
from tests.toolsupport.core import strict_servers
from tests.toolsupport.core.test_rendering import LOGS, ONE, TARGETS, result, said, user
from toolsupport.core.prompt import GO_ON, RenderTarget, history
from toolsupport.core.prompt.history_rendering import BROKEN_OFF
from toolsupport.core.prompt.refused_history import REFUSED, helps, rewritten
from toolsupport.core.types import ChatMessage, Role

# The words of a server → what it refuses.
WORDS = {
    "System role not supported": ["system"],
    "Template error: invalid operation: System role not supported (in <string>:1)": ["system"],
    "Developer instruction is not enabled for models/gemma-3-27b-it": ["system"],
    "Unsupported value: 'messages[0].role' does not support 'system' with this model.": ["system"],
    "This model doesn't support system messages. Try again without this field.": ["system"],
    "`system` role is not supported by this model": ["system"],
    "Only user and assistant roles are supported!": ["system"],
    "Conversation roles must alternate user/assistant/user/assistant/...": ["system", "order"],
    "After the optional system message, conversation roles must alternate user and assistant roles except for tool "
    "calls and results.": ["order"],
    "After the optional system message, conversation roles must alternate user/assistant/user/assistant/...": ["order"],
    "Unexpected role 'user' after role 'tool'": ["order"],
    "Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant": ["prefill"],
    "Assistant response prefill is incompatible with enable_thinking.": ["prefill"],
    "This model does not support assistant message prefill. The conversation must end with a user message.": [
        "prefill"
    ],
    # Others
    "The operating system does not support this model.": [],
    "System memory is not enough.": [],
    "Unexpected role 'tool' after role 'user'": [],
    "This model does not support tools.": [],
    "Image URLs are only allowed for messages with role 'user'.": [],
}


@every("words", list(WORDS))
def test_what_a_server_refuses(words: str) -> None:
    assert [name for name, pattern in REFUSED.items() if pattern.search(words.lower())] == WORDS[words]


SYSTEM = ChatMessage(Role.SYSTEM, "s")
PICTURE = ChatMessage(Role.USER, "u", images=(b"\x89PNG",))
BROKEN = ChatMessage(Role.ASSISTANT, BROKEN_OFF)
CASES = {
    "the system text is in the first message of a person": (
        "system",
        (SYSTEM, PICTURE, said(), user("b")),
        (ChatMessage(Role.USER, "s\n\nu", images=PICTURE.images), said(), user("b")),
    ),
    "there is none": ("system", (user(), said()), (user(), said())),
    "an answer follows results": (
        "order",
        (user(), said("", ONE), result(ONE), user("b")),
        (user(), said("", ONE), result(ONE), BROKEN, user("b")),
    ),
    "it has one": ("order", (user(), said("", ONE), result(ONE), said()), (user(), said("", ONE), result(ONE), said())),
    "a person asks for the rest": ("prefill", (user(), said("{")), (user(), said("{"), user(GO_ON))),
    "a person is last": ("prefill", (user(), said(), user("b")), (user(), said(), user("b"))),
}


@pytest.mark.parametrize("case", sorted(CASES))
def test_it_is_rewritten(case: str) -> None:
    name, log, wanted = CASES[case]
    assert rewritten(log, {name, "seed"}) == wanted
    assert rewritten(log, {"seed"}) == log
    assert helps(log, set(), name) is (wanted != log)
    assert not helps(log, {name}, name)


@given(LOGS, TARGETS)
def test_the_strictest_template_takes_every_rewritten_log(log: list[ChatMessage], target: RenderTarget) -> None:
    rendered = history([ChatMessage(Role.SYSTEM, "s"), *log], target)
    made = rewritten(rendered, set(REFUSED))
    assert made[0].role is Role.USER and not any(message.role is Role.SYSTEM for message in made)
    assert made[-1].role in (Role.USER, Role.TOOL)
    check = strict_servers.in_order if target.format == "native" else strict_servers.alternating
    assert strict_servers.refusal(made, check) == ""
    words = "\n".join(message.content for message in made)
    assert all(message.content in words for message in rendered)
