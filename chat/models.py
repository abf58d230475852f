"""Rows of the chats; reached only through transcript/ and the admin."""

from __future__ import annotations

import uuid
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q

from chat.sentences import SENTENCES
from chat.statuses import OPEN, CallStatus, TurnStatus
from toolsupport.sentence_columns import SentenceCharField, SentenceJSONField, SentenceTextField

# The format of a call that a person or a program made.
AUTOMATIC = "automatic"


class Conversation(models.Model):
    """One person's chat. `tail` is the number of its announcements; `leaf` is the last message of the shown branch."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    # Here and below, db_index=False: an index of the table begins with the column, and one more costs each write.
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="conversations", db_index=False
    )
    title = models.CharField(max_length=200, blank=True, default="")
    profile = models.ForeignKey("toolsupport.ModelProfile", null=True, on_delete=models.PROTECT, related_name="+")
    leaf = models.ForeignKey("Message", null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    tail = models.PositiveIntegerField(default=0)
    settings = models.JSONField(default=dict, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now_add=True, db_index=True)
    archived = models.BooleanField(default=False)
    pinned = models.BooleanField(default=False)
    pending = models.JSONField(default=list, blank=True, help_text="Files for a message that was not sent yet.")

    class Meta:
        ordering = ["-updated_at"]
        indexes = [models.Index(fields=["owner", "-updated_at"], name="conversations_of_a_person")]

    def __str__(self) -> str:
        return self.title or str(self.id)


class Turn(models.Model):
    """One answer, from the question to its end. At most one is open in a conversation."""

    conversation = models.ForeignKey(Conversation, on_delete=models.CASCADE, related_name="turns", db_index=False)
    client_id = models.CharField(max_length=64)
    profile = models.ForeignKey("toolsupport.ModelProfile", on_delete=models.PROTECT, related_name="+")
    status = models.CharField(max_length=20, default=TurnStatus.QUEUED)
    owner = models.CharField(max_length=64, blank=True, default="", help_text="The process that runs it.")
    lease_until = models.DateTimeField(null=True, blank=True)
    stop_requested_at = models.DateTimeField(null=True, blank=True)
    capabilities = models.JSONField(default=dict, blank=True)
    format = models.CharField(max_length=40, blank=True, default="")
    usage = models.JSONField(default=dict, blank=True)
    program = models.CharField(
        max_length=10, blank=True, default="", help_text="Asked for by a program, which was told or not."
    )
    reason = models.TextField(blank=True, default="")
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["conversation", "client_id"], name="one_turn_per_client_id"),
            models.UniqueConstraint(fields=["conversation"], condition=Q(status__in=OPEN), name="one_open_turn"),
        ]
        indexes = [models.Index(fields=["status", "lease_until"], name="turns_to_claim_or_settle")]

    def __str__(self) -> str:
        return f"turn {self.pk} ({self.status})"


class Message(models.Model):
    """An entry of the transcript. Its text grows while its turn runs, then never again; ordered by id."""

    conversation = models.ForeignKey(Conversation, on_delete=models.CASCADE, related_name="messages", db_index=False)
    parent = models.ForeignKey("self", null=True, blank=True, on_delete=models.CASCADE, related_name="children")
    role = models.CharField(max_length=20)
    content = models.TextField(blank=True, default="")
    thinking = models.TextField(blank=True, default="")
    thinking_ms = models.PositiveIntegerField(null=True, blank=True)
    calls = models.JSONField(default=list, blank=True)
    code = models.CharField(max_length=40, blank=True, default="", help_text="Which notice, for role notice.")
    facts = SentenceJSONField(
        null=True, blank=True, help_text="The facts of a notice; empty in rows with a sentence.", table=SENTENCES
    )
    attachments = models.JSONField(default=list, blank=True, help_text="Paths of images in the workspace.")
    outside = models.JSONField(default=list, blank=True, help_text="The outside content that an answer depends on.")
    finished = models.BooleanField(default=True)
    turn = models.ForeignKey(Turn, null=True, blank=True, on_delete=models.CASCADE, related_name="messages")
    profile = models.ForeignKey(
        "toolsupport.ModelProfile",
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="+",
        db_index=False,
        help_text="The model that wrote it, where another one went on with its turn.",
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]
        indexes = [models.Index(fields=["conversation", "id"], name="messages_of_a_conversation")]

    def __str__(self) -> str:
        return f"{self.role} {self.pk}"

    @property
    def writer(self) -> Any:
        """The row of the model that wrote an answer; None for messages of people."""
        return self.profile or (self.turn.profile if self.turn is not None else None)


class FormattedMessage(models.Model):
    """The HTML of a finished answer, made once; shown only with a seal of this site (`messages.formatted`)."""

    message = models.OneToOneField(Message, primary_key=True, on_delete=models.CASCADE, related_name="formatted")
    html = models.TextField()
    seal = models.CharField(max_length=64, help_text="Binds the HTML to its text and to the code that formatted it.")

    def __str__(self) -> str:
        return f"HTML of message {self.message_id}"


class ToolRun(models.Model):
    """One call of a tool, from request to result."""

    turn = models.ForeignKey(Turn, on_delete=models.CASCADE, related_name="tool_runs")
    message = models.ForeignKey(Message, on_delete=models.CASCADE, related_name="tool_runs", db_index=False)
    call_id = models.CharField(max_length=80)
    name = models.CharField(max_length=120)
    asked_as = models.CharField(max_length=120, blank=True, default="")
    served_by = models.CharField(max_length=120, blank=True, default="")
    arguments = models.JSONField(default=dict, blank=True)
    asked_arguments = models.JSONField(
        null=True, blank=True, help_text="Those of the call it was asked as; empty where it is served as asked."
    )
    result = models.TextField(blank=True, default="")
    error = models.TextField(blank=True, default="")
    status = models.CharField(max_length=20, default=CallStatus.RUNNING)
    level = models.CharField(max_length=2, blank=True, default="")
    format = models.CharField(max_length=40, blank=True, default="")
    duration_ms = models.PositiveIntegerField(null=True, blank=True)
    repairs = models.JSONField(default=list, blank=True)
    raw = models.TextField(blank=True, default="", help_text="What the model really wrote.")
    fault = models.CharField(max_length=20, blank=True, default="", help_text="Why it was rejected.")
    in_prose = models.BooleanField(default=False, help_text="It stood in the text of an answer, and a person is asked.")
    program = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.CASCADE, related_name="inner", help_text="What made this call."
    )
    snapshot = models.BinaryField(null=True, blank=True, help_text="A program that waits for a call of its own.")
    started_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["message", "call_id"], name="one_run_per_message_and_call")]

    def __str__(self) -> str:
        return f"{self.name} ({self.status})"


class ResultTable(models.Model):
    """The complete table of a call; its model reads only the beginning."""

    run = models.OneToOneField(ToolRun, on_delete=models.CASCADE, related_name="table")
    csv = models.TextField()

    def __str__(self) -> str:
        return f"table of run {self.run_id}"


class RawExchange(models.Model):
    """One request to a model server for an answer, with its raw reply: redacted, bounded, the last few of a chat."""

    conversation = models.ForeignKey(
        Conversation, on_delete=models.CASCADE, related_name="raw_exchanges", db_index=False
    )
    message = models.ForeignKey(Message, on_delete=models.CASCADE, related_name="raw_exchanges")
    url = models.TextField()
    request = models.TextField()
    request_bytes = models.PositiveIntegerField()
    reply = models.TextField(blank=True, default="")
    reply_bytes = models.PositiveIntegerField(default=0)
    status = models.PositiveSmallIntegerField(null=True, blank=True, help_text="Empty: no reply came.")
    error = models.TextField(blank=True, default="")
    times = models.PositiveIntegerField(default=1, help_text="How often the same request got the same reply.")
    characters = models.PositiveIntegerField(help_text="Of request and reply as they are kept.")
    started_at = models.DateTimeField()
    duration_ms = models.PositiveIntegerField()

    class Meta:
        ordering = ["id"]
        indexes = [models.Index(fields=["conversation", "-id"], name="exchanges_of_a_conversation")]

    def __str__(self) -> str:
        return f"exchange {self.pk} of message {self.message_id}"


class Question(models.Model):
    """A question to a person. The first answer wins: it is stored only if none is."""

    conversation = models.ForeignKey(Conversation, on_delete=models.CASCADE, related_name="questions")
    turn = models.ForeignKey(Turn, null=True, blank=True, on_delete=models.CASCADE, related_name="questions")
    tool_run = models.ForeignKey(ToolRun, null=True, blank=True, on_delete=models.CASCADE, related_name="questions")
    kind = models.CharField(max_length=30, help_text="approval, unknown_model, runtime_learning or prose_call.")
    text = SentenceTextField(table=SENTENCES)
    options = models.JSONField(default=list)
    size = SentenceCharField(max_length=80, blank=True, default="", help_text="How much would change.", table=SENTENCES)
    reason = SentenceTextField(
        blank=True, default="", help_text="Why it asks, if the call alone does not show it.", table=SENTENCES
    )
    preview = SentenceTextField(
        blank=True, default="", help_text="What would change, as a unified diff.", table=SENTENCES
    )
    binds = models.CharField(max_length=64, blank=True, default="", help_text="Digest of what is allowed.")
    basis = models.CharField(max_length=64, blank=True, default="", help_text="Digest of what the preview replaces.")
    outside = models.JSONField(default=list, blank=True, help_text="The outside content in the chat that asks.")
    answer = models.CharField(max_length=30, blank=True, default="")
    reply = models.CharField(max_length=500, blank=True, default="", help_text="What the person wrote for the model.")
    answered_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    answered_at = models.DateTimeField(null=True, blank=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]
        indexes = [models.Index(fields=["answer", "expires_at"], name="questions_to_expire")]

    def __str__(self) -> str:
        return f"{self.kind} {self.pk}: {self.answer or 'open'}"


class Grant(models.Model):
    """A tool that may run in one conversation without asking each time, perhaps on one file only; revocable."""

    conversation = models.ForeignKey(Conversation, on_delete=models.CASCADE, related_name="grants")
    tool = models.CharField(max_length=120)
    path = models.CharField(max_length=1000, blank=True, default="", help_text="The only file it holds for.")
    granted_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    granted_at = models.DateTimeField(auto_now_add=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["conversation", "tool", "path"], condition=Q(revoked_at=None), name="one_grant_in_force"
            )
        ]

    def __str__(self) -> str:
        return f"{self.tool} {self.path}".rstrip() + f" in {self.conversation_id}"


class Share(models.Model):
    """The permission of a person to read another's conversation; withdrawn, never deleted."""

    conversation = models.ForeignKey(Conversation, on_delete=models.CASCADE, related_name="shares")
    reader = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    shared_at = models.DateTimeField(auto_now_add=True)
    withdrawn_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["conversation", "reader"], condition=Q(withdrawn_at=None), name="one_share_in_force"
            )
        ]

    def __str__(self) -> str:
        return f"{self.conversation_id} for person {self.reader_id}"


class Comparison(models.Model):
    """A turn that was replayed on other models: its request and recorded results at that time."""

    turn = models.OneToOneField(Turn, primary_key=True, on_delete=models.CASCADE, related_name="comparison")
    case = models.JSONField(help_text="The request, its tools, recorded results and calls.")
    made_at = models.DateTimeField(auto_now=True)

    def __str__(self) -> str:
        return f"comparison of turn {self.turn_id}"


class ComparedAnswer(models.Model):
    """The answer of one model in a comparison. One process at a time requests it; another one may request it again."""

    comparison = models.ForeignKey(Comparison, on_delete=models.CASCADE, related_name="answers", db_index=False)
    profile = models.ForeignKey("toolsupport.ModelProfile", on_delete=models.PROTECT, related_name="+")
    status = models.CharField(max_length=12, default="queued", help_text="queued, running, done, failed, cancelled.")
    owner = models.CharField(max_length=64, blank=True, default="", help_text="The process that asks for it.")
    lease_until = models.DateTimeField(null=True, blank=True)
    format = models.CharField(max_length=40, blank=True, default="")
    replies = models.JSONField(default=list, blank=True, help_text="What the model wrote and called, round by round.")
    error = SentenceTextField(table=SENTENCES, blank=True, default="")
    duration_ms = models.PositiveIntegerField(default=0)
    prompt_tokens = models.PositiveIntegerField(default=0)
    output_tokens = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["comparison", "profile"], name="one_compared_answer_per_model")]
        indexes = [models.Index(fields=["status", "lease_until"], name="compared_answers_to_claim")]

    def __str__(self) -> str:
        return f"{self.profile_id} for {self.comparison_id}: {self.status}"


class Prompt(models.Model):
    """A version of one of the team's named prompts. The newest of a name is valid; none is changed or deleted."""

    name = models.CharField(max_length=60)
    description = models.CharField(max_length=200, blank=True, default="")
    text = models.TextField()
    withdrawn = models.BooleanField(default=False, help_text="The prompt is not offered any more.")
    written_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    written_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]
        indexes = [models.Index(fields=["name", "-id"], name="versions_of_a_prompt")]

    def __str__(self) -> str:
        return f"{self.name} ({'withdrawn' if self.withdrawn else self.pk})"


class Memory(models.Model):
    """A version of a conversation's memory; the newest is valid. Without `written_by` a model wrote it."""

    conversation = models.ForeignKey(Conversation, on_delete=models.CASCADE, related_name="memories", db_index=False)
    text = models.TextField(blank=True, default="")
    written_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    written_at = models.DateTimeField(auto_now_add=True)
    outside = models.JSONField(default=list, blank=True, help_text="The outside content that it depends on.")

    class Meta:
        ordering = ["id"]
        indexes = [models.Index(fields=["conversation", "-id"], name="memory_of_a_conversation")]
        verbose_name_plural = "memories"

    def __str__(self) -> str:
        return f"memory {self.pk} of {self.conversation_id}"
