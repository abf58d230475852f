"""Rows of the history of model profiles, and of people's reviews."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from toolsupport.models.detections import Detection
from toolsupport.models.overrides import Override
from toolsupport.models.servers import ModelProfile, Server
from toolsupport.sentence_columns import SentenceTextField


class Review(models.Model):
    """A reviewer's opinion of one override or one detection: a note, never a change. Append-only."""

    override = models.ForeignKey(Override, null=True, blank=True, on_delete=models.PROTECT, related_name="reviews")
    detection = models.ForeignKey(Detection, null=True, blank=True, on_delete=models.PROTECT, related_name="reviews")
    reviewer = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    decision = models.CharField(max_length=12, help_text="agree, disagree or note.")
    note = models.TextField(blank=True, default="")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(override__isnull=True) ^ Q(detection__isnull=True), name="review_of_one_thing"
            )
        ]

    def __str__(self) -> str:
        return f"{self.decision} by {self.reviewer_id}"


class HistoryFacet(models.Model):
    """The kind, source and verdict that some entries share; there are a few dozen. Append-only."""

    # How deep an entry stands: on its own, inside what changed many models at once, or as a finding of a test.
    TOP, MEMBER, FINDING = range(3)

    kind = models.CharField(max_length=12)
    source = models.CharField(max_length=20, blank=True, default="")
    verdict = models.CharField(max_length=20, blank=True, default="")
    depth = models.PositiveSmallIntegerField(
        default=TOP, help_text="0 on its own, 1 of a bundle, 2 a finding of a test."
    )

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["kind", "source", "verdict", "depth"], name="one_facet_of_each_depth")
        ]

    def __str__(self) -> str:
        return " ".join(filter(None, (self.kind, self.source, self.verdict)))


class HistoryEntry(models.Model):
    """One line of the timeline, written together with its subject. Append-only.

    One table holds all entries, with an index for each pair of subjects, so that any page of any filter needs a few
    short index scans. `facet` combines kind, source and verdict in one number. `lead` is the entry that contains this
    one: the test of a finding, or the first change of a bundle.
    """

    at = models.DateTimeField()
    kind = models.CharField(
        max_length=12, help_text="override, withdrawal, proposal, detection, refusal, review, drift or setting."
    )
    facet = models.ForeignKey(HistoryFacet, on_delete=models.PROTECT, related_name="+", db_index=False)
    server = models.ForeignKey(Server, on_delete=models.PROTECT, related_name="+", db_index=False)
    profile = models.ForeignKey(ModelProfile, on_delete=models.PROTECT, related_name="+", db_index=False)
    capability = models.CharField(max_length=60, blank=True, default="")
    before = models.JSONField(null=True, help_text="What held for everyone before, null for unknown.")
    after = models.JSONField(null=True, help_text="What holds for everyone since, null for unknown.")
    source = models.CharField(max_length=20, blank=True, default="")
    verdict = models.CharField(max_length=20, blank=True, default="")
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    text = SentenceTextField(blank=True, default="", help_text="Why, in words.")
    evidence = models.JSONField(
        default=dict, blank=True, help_text="What a refusal rests on: status, rule, body (redacted)."
    )
    override = models.ForeignKey(Override, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    detection = models.ForeignKey(Detection, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    review = models.ForeignKey(Review, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    lead = models.ForeignKey("self", null=True, blank=True, on_delete=models.PROTECT, related_name="inside")

    class Meta:
        ordering = ["-at", "-id"]
        indexes = [
            models.Index(fields=["at", "id"], name="history_by_time"),
            models.Index(fields=["at", "id"], name="history_tops_by_time", condition=Q(lead=None)),
            models.Index(fields=["facet", "at", "id"], name="history_by_facet"),
            models.Index(fields=["profile", "facet", "at", "id"], name="history_by_model"),
            models.Index(fields=["server", "facet", "at", "id"], name="history_by_server"),
            models.Index(fields=["actor", "facet", "at", "id"], name="history_by_person"),
            models.Index(fields=["profile", "actor", "facet", "at", "id"], name="history_by_model_and_person"),
            models.Index(fields=["server", "actor", "facet", "at", "id"], name="history_by_server_and_person"),
        ]

    def __str__(self) -> str:
        return f"{self.at:%Y-%m-%d %H:%M} {self.kind} of {self.profile_id}"


class ReadMark(models.Model):
    """How far a person has read the history: entries with a higher id are unread, unless a ReadEntry names them."""

    person = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="read_mark")
    entry = models.BigIntegerField(default=0)
    at = models.DateTimeField(auto_now=True)

    def __str__(self) -> str:
        return f"person {self.person_id} up to {self.entry}"


class ReadEntry(models.Model):
    """One entry that a person has opened although older ones are unread; dropped when the ReadMark passes it."""

    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+", db_index=False)
    entry = models.ForeignKey(HistoryEntry, on_delete=models.CASCADE, related_name="+")
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["person", "entry"], name="read_once")]

    def __str__(self) -> str:
        return f"entry {self.entry_id} by {self.person_id}"
