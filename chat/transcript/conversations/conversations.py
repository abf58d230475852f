"""A person's conversations: created, shown, configured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import AnonymousUser, User
from django.db import transaction
from django.db.models import Exists, OuterRef

from chat.models import Conversation, Message, Turn
from chat.sentences import sentence
from chat.statuses import OPEN
from chat.tools.files.example_workspace import fill
from chat.tools.files.workspace import Workspace
from chat.transcript import sql
from chat.transcript.announcements import AddedNotice, Announcement, announce
from chat.transcript.locks import leaf_of
from chat.transcript.messages import present
from chat.transcript.messages.view_models import ShownConversation
from chat.transcript.messages.windows import MessageWindow
from chat.transcript.settings import chat_settings, turn_settings
from toolsupport.core import format_choice
from toolsupport.core.errors import NotFound
from toolsupport.core.types import Capabilities, Role
from toolsupport.registry.exams import exam_gate
from toolsupport.registry.exams.exam_gate import ExamGate
from toolsupport.registry.knowledge import effective_values, model_evidence
from toolsupport.registry.models import picker, picker_groups, profile_cache
from toolsupport.registry.models.picker_groups import ModelChoices
from toolsupport.registry.models.picker_rows import ShownModel

Person = User | AnonymousUser
SYSTEM_LENGTH = 20_000
TEMPERATURE = "The temperature must be a number from 0 to 2."
UNTITLED = "New chat"
# The state of a required exam that is not passed → the end of its notice.
GATES = {"failed": "exam_failed", "waits": "exam_waits", "other_format": "exam_in_other_format"}
# A person's last chats that count for the picker, and how many of their models come first.
LAST_CHATS, RECENT = 30, 4


@dataclass(frozen=True, slots=True)
class ConversationState:
    """The state of a conversation; `capabilities` in the format of the frames."""

    tail: int
    turn: int | None
    model: ShownModel | None
    capabilities: dict[str, Any]


def own(person: Person, conversation_id: str, lock: bool = False, with_state: bool = False) -> Conversation:
    """Return the person's conversation. Raises NotFound, also for another person's one or a malformed id.

    With `lock` no other writer can change it until the transaction ends. `with_state`: see `sql.conversation_of`.
    """
    conversation = own_row(person, conversation_id, lock, with_state)
    if conversation.profile_id is not None:
        conversation.profile = profile_cache.profile(conversation.profile_id)
    return conversation


def own_row(person: Person, conversation_id: str, lock: bool = False, with_state: bool = False) -> Conversation:
    """Return the same without its model. Raises NotFound."""
    conversation = sql.conversation_of(person.pk, conversation_id, lock, with_state)
    if conversation is None:
        raise NotFound("This chat does not exist.")
    return conversation


def latest(person: Person) -> str | None:
    """Return the id of the conversation that the person used last."""
    found = Conversation.objects.filter(owner_id=person.pk, archived=False).order_by("-updated_at").first()
    return str(found.pk) if found else None


def create(person: Person, profile: int | None = None) -> str:
    """Create a conversation with an example workspace.

    Its model is `profile`, else the person's last one, else the team's default.
    """
    if profile is None:
        last = Conversation.objects.filter(owner_id=person.pk, profile__isnull=False).order_by("-updated_at").first()
        profile = picker.first_choice(last.profile_id if last else None)
    conversation = Conversation.objects.create(owner_id=person.pk or 0, profile_id=profile)
    fill(turn_settings.workspace(str(conversation.pk)))
    return str(conversation.pk)


def empty(person: Person) -> str | None:
    """Return the id of the person's newest conversation without a message, a name or settings of its own."""
    said = Message.objects.filter(conversation=OuterRef("pk")).exclude(role=Role.NOTICE)
    rows = Conversation.objects.filter(
        ~Exists(said), owner_id=person.pk, archived=False, title="", settings={}, pending=[]
    )
    found = rows.order_by("-updated_at").values_list("pk", flat=True).first()
    return str(found) if found else None


def show(person: Person, conversation_id: str, wanted: MessageWindow | None = None) -> ShownConversation:
    """Return all data of the page, with a part of its messages (None: all). Raises NotFound.

    It uses no transaction, since on SQLite that would wait for writers: `tail` is read first, so that later
    announcements are fetched again rather than missed.
    """
    conversation: Any = own(person, conversation_id, with_state=True)
    choose_first(conversation)
    messages, earlier = present.window(conversation, wanted)
    return ShownConversation(
        id=str(conversation.pk),
        title=conversation.title or UNTITLED,
        tail=conversation.tail,
        model=shown_model(conversation),
        messages=messages,
        earlier=earlier,
        turn=conversation.open_turn,
        settings=conversation.settings,
        questions=present.questions(conversation),
        pending=tuple(conversation.pending),
    )


def choose_first(conversation: Conversation) -> bool:
    """Set the default model on a conversation created before any model existed; return True if there is one.

    The row is not stored: a read must not change it.
    """
    if conversation.profile_id is None:
        conversation.profile = profile_cache.profile(picker.first_choice() or 0)
        return conversation.profile is not None
    return False


def keep_first_choice(conversation: Conversation) -> None:
    """Do the same and store it. Must run in a transaction that holds the conversation."""
    if choose_first(conversation):
        Conversation.objects.filter(pk=conversation.pk, profile=None).update(profile=conversation.profile_id)


def choices(person: Person, simulated: bool = False) -> ModelChoices:
    """Return the model picker, with the person's last models first."""
    used = Conversation.objects.filter(owner_id=person.pk).exclude(profile=None).order_by("-updated_at")
    last = used.values_list("profile_id", flat=True)[:LAST_CHATS]
    return picker_groups.grouped([*dict.fromkeys(last)][:RECENT], simulated)


@dataclass(frozen=True, slots=True)
class FormSettings:
    """The fields of a chat's settings form; "" means the team's default."""

    system: str = ""
    temperature: str = ""
    format: str = ""

    def checked(self) -> dict[str, Any]:
        """Return the settings to store. Raises ValueError with a message for people; then nothing may be stored."""
        if len(self.system) > SYSTEM_LENGTH:
            raise ValueError(f"The system prompt can have up to {SYSTEM_LENGTH:,} characters.")
        if self.format and self.format not in format_choice.names():
            raise ValueError("This call format does not exist.")
        return {"system": self.system.strip(), "temperature": _degree(self.temperature), "format": self.format}


def _degree(temperature: str) -> float | None:
    try:
        degree = float(temperature) if temperature.strip() else None
    except ValueError as error:
        raise ValueError(TEMPERATURE) from error
    if degree is not None and not 0 <= degree <= 2:
        raise ValueError(TEMPERATURE)
    return degree


@transaction.atomic
def save_settings(person: Person, conversation_id: str, form: FormSettings) -> dict[str, Any]:
    """Store the whole form or nothing. Raises NotFound, ValueError (see FormSettings.checked)."""
    return chat_settings.changed(own(person, conversation_id, lock=True), **form.checked())


@transaction.atomic
def switch_tools(person: Person, conversation_id: str, on: bool) -> dict[str, Any]:
    """Set the conversation's own tools switch. Raises NotFound."""
    return chat_settings.changed(own(person, conversation_id, lock=True), tools_on=on)


@transaction.atomic
def select_model(person: Person, conversation_id: str, wanted: str) -> tuple[Announcement[AddedNotice], ...]:
    """Choose a model by profile id, `server/name` or a unique name; return its notices, none if unchanged.

    A second notice is added if another model is still writing an answer. Raises NotFound.
    """
    conversation = own(person, conversation_id, lock=True)
    profile_id = picker.find(wanted)
    model = picker.shown(profile_id, str(conversation.pk))
    if model is None:
        raise NotFound(f"There is no model {wanted!r}.")
    if profile_id == conversation.profile_id:
        return ()
    Conversation.objects.filter(pk=conversation.pk).update(profile=profile_id)
    facts = {"model": model.name, "state": model.tools_word, "source": model.source}
    switched = [say(conversation, "switched", facts, model)]
    profile = profile_cache.profile(profile_id)
    required = exam_gate.gate(profile) if profile is not None else ExamGate()
    if required.open:
        waits = {"model": model.name, "exam": required.suite, "state": sentence(GATES[required.state])}
        switched.append(say(conversation, "exam_missing", waits))
    others = Turn.objects.filter(conversation=conversation, status__in=OPEN).exclude(profile_id=profile_id)
    return (*switched, say(conversation, "model_changed", {})) if others.exists() else (*switched,)


def say(
    conversation: Conversation, code: str, facts: dict[str, str], about: Turn | ShownModel | None = None
) -> Announcement[AddedNotice]:
    """Add a notice to the transcript (no model reads it). Must run in a transaction.

    A notice about a turn links to the settings of that turn's model; one about the conversation's model updates its
    display.
    """
    leaf = leaf_of(conversation.pk)
    row = Message.objects.create(
        conversation=conversation,
        parent_id=leaf,
        role=Role.NOTICE,
        code=code,
        facts=facts,
        turn=about if isinstance(about, Turn) else None,
    )
    Conversation.objects.filter(pk=conversation.pk).update(leaf=row)
    return announce(
        conversation.pk, AddedNotice(present.message(row), about if isinstance(about, ShownModel) else None)
    )


def workspace_of(person: Person, conversation_id: str) -> Workspace:
    """Return the files of the person's conversation. Raises NotFound, also for another person's one."""
    return turn_settings.workspace(str(own(person, conversation_id).pk))


def demand_row(conversation_id: str) -> None:
    """Remove files that were written while their conversation was deleted. Raises NotFound in this case."""
    if not Conversation.objects.filter(pk=conversation_id).exists():
        turn_settings.remove_workspace(conversation_id)
        raise NotFound("This chat was deleted.")


def text_of(person: Person, conversation_id: str, message_id: int) -> tuple[str, str]:
    """Return the stored (text, thinking) of one message. Raises NotFound."""
    message = own(person, conversation_id).messages.filter(pk=message_id).first()
    if message is None:
        raise NotFound("This message does not exist.")
    return message.content, message.thinking


def state(person: Person, conversation_id: str) -> ConversationState:
    """Return the data that a page needs when its socket opens. Raises NotFound."""
    conversation = own(person, conversation_id)
    turn = Turn.objects.filter(conversation=conversation, status__in=OPEN).values_list("pk", flat=True).first()
    here = str(conversation.pk)
    choose_first(conversation)
    if conversation.profile is None:
        return ConversationState(conversation.tail, turn, None, {})
    known = effective_values.known(conversation.profile, here)
    return ConversationState(conversation.tail, turn, shown_model(conversation, known), known.to_json())


def model_of(person: Person, conversation_id: str) -> ShownModel | None:
    """Return the model of a conversation. Raises NotFound."""
    conversation = own(person, conversation_id)
    choose_first(conversation)
    return shown_model(conversation)


def chosen(person: Person, conversation_id: str) -> int | None:
    """Return the id of the conversation's model. Raises NotFound."""
    conversation = own(person, conversation_id)
    choose_first(conversation)
    return conversation.profile_id


def shown_model(conversation: Conversation, known: Capabilities | None = None) -> ShownModel | None:
    """Return the conversation's model; its row was read with the conversation."""
    profile = conversation.profile
    if profile is None:
        return None
    known = known or effective_values.known(profile, str(conversation.pk))
    return picker.row_of(profile, known, model_evidence.of_one(profile, known))
