"""Offers and applies the one click that could give a chat its tools."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from django.db import transaction

from chat.models import Conversation, Message
from chat.transcript.announcements import AddedNotice, Announcement
from chat.transcript.conversations.conversations import Person, own
from chat.transcript.messages.view_models import ShownQuestion
from chat.transcript.questions import server_refusal_question, unknown_model
from chat.transcript.settings import chat_settings
from toolsupport.core import tools_remedy
from toolsupport.core.sentences import sentence
from toolsupport.core.tools_remedy import SWITCH_ON, TEST, USE_AGAIN, ChatToolState, ToolsRemedy
from toolsupport.core.types import Role
from toolsupport.registry.knowledge import effective_values, overrides
from toolsupport.registry.knowledge.overrides import NewOverride
from toolsupport.registry.models import picker
from toolsupport.registry.settings import switches
from toolsupport.registry.testing import detection_reports
from toolsupport.registry.testing.detection_reports import ShownDetection

Notice = Announcement[AddedNotice]
# Notices of an answer for which the server refused tools.
REFUSED = ("tools_refused", "tools_need_setting")


@dataclass(frozen=True, slots=True)
class OfferedRemedy:
    """A remedy with the expected duration of the test in seconds."""

    remedy: ToolsRemedy
    seconds: int


@dataclass(frozen=True, slots=True)
class ComposerAsks:
    """The content above the composer: a question about the model, its open tests, or else a remedy."""

    question: ShownQuestion | None
    tests: list[ShownDetection]
    offered: OfferedRemedy | None


def asks(person: Person, conversation_id: str) -> ComposerAsks:
    """Return the content above the composer. Raises NotFound."""
    conversation = own(person, conversation_id)
    question, tests = unknown_model.pending_in(conversation)
    return ComposerAsks(question, tests, None if question or tests else _offered(conversation))


def _offered(conversation: Conversation) -> OfferedRemedy | None:
    profile = conversation.profile
    open_card = conversation.questions.filter(kind=server_refusal_question.KIND, answer="")
    if profile is None or open_card.exists():
        return None
    team = switches.in_force()
    known = effective_values.known(profile, str(conversation.pk))
    state = ChatToolState(
        model=profile.name,
        switched_on=conversation.settings.get("tools_on") is not False,
        refused=known["tools"].value is True and _refused(conversation) and not overrides.tested(profile, "tools"),
        may_test=team.detects and not picker.why_not(profile),
        in_text=team.allows_text_format(works=True),
    )
    found = tools_remedy.remedy(known, state)
    return OfferedRemedy(found, detection_reports.expected_seconds(profile)) if found else None


@transaction.atomic
def apply(person: Person, conversation_id: str, act: str) -> Notice | None:
    """Do what was clicked; return its notice, if any. Raises NotFound, ValueError and the errors of a test."""
    conversation = own(person, conversation_id, lock=True)
    if act not in ACTS or conversation.profile_id is None:
        raise ValueError(f"Choose one of {', '.join(ACTS)}.")
    return ACTS[act](person, conversation)


def _test(person: Person, conversation: Conversation) -> Notice | None:
    return unknown_model.begin_test(person, conversation, conversation.profile_id or 0)


def _switch_on(_: Person, conversation: Conversation) -> None:
    chat_settings.change(conversation.pk, tools_on=True)


def _use_again(person: Person, conversation: Conversation) -> None:
    """Withdraw the decision about native tools for this chat only."""
    assert conversation.profile is not None
    here = NewOverride(
        conversation.profile.pk, "tools", actor=person.pk, reason=sentence("use_again"), session=str(conversation.pk)
    )
    for claim in overrides.in_force(conversation.profile, here):
        overrides.withdraw(claim.id, here)


ACTS: Mapping[str, Callable[[Person, Conversation], Notice | None]] = MappingProxyType(
    {TEST: _test, SWITCH_ON: _switch_on, USE_AGAIN: _use_again}
)


def _refused(conversation: Conversation) -> bool:
    """Return whether the server refused tools in the last answer."""
    rows = Message.objects.filter(conversation=conversation).order_by("-pk")
    last = rows.filter(role=Role.NOTICE, code__in=REFUSED).values_list("pk", flat=True).first()
    return last is not None and not rows.filter(role=Role.USER, pk__gt=last).exists()
