"""Rows of model servers and their models."""

from __future__ import annotations

from django.db import models

from toolsupport.core.types import Build
from toolsupport.models.encrypted import EncryptedTextField
from toolsupport.sentence_columns import SentenceTextField


class Server(models.Model):
    """A model server. Disabled or removed from the pages, never deleted: verdicts and turns point at its models."""

    name = models.CharField(max_length=80, unique=True)
    kind = models.CharField(max_length=40, help_text="A key of providers.PROVIDERS.")
    base_url = models.URLField(max_length=300)
    api_key = EncryptedTextField(blank=True, default="", help_text="Encrypted; never shown again.")
    inside = models.BooleanField(default=True, help_text="It may be on this machine or in this network.")
    enabled = models.BooleanField(default=True)
    origin = models.CharField(max_length=20, default="page", help_text="page, command, environment or built-in.")
    version = models.CharField(max_length=80, blank=True, default="")
    reachable = models.BooleanField(null=True, help_text="Unknown until it was asked once.")
    last_seen_at = models.DateTimeField(null=True, blank=True)
    checked_at = models.DateTimeField(null=True, blank=True)
    down_since = models.DateTimeField(null=True, blank=True)
    last_error = SentenceTextField(blank=True, default="")
    fault = models.CharField(max_length=20, blank=True, default="", help_text="A key of server_faults.FAULTS.")
    failures = models.PositiveIntegerField(default=0, help_text="How often in a row it was asked in vain.")
    next_check_at = models.DateTimeField(null=True, blank=True, help_text="When it is asked again by itself.")
    removed_at = models.DateTimeField(null=True, blank=True)
    options = models.JSONField(default=dict, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name

    @property
    def simulated(self) -> bool:
        return self.kind == "simulator"


# What servers declare of models that answer no chat; a model that also declares `completion` does.
OTHER_WORK = frozenset({"embedding", "embeddings", "image", "rerank", "reranking", "transcription", "speech"})


class ModelProfile(models.Model):
    """One model on one server. A removed model keeps its row, because people's decisions must stay."""

    server = models.ForeignKey(Server, on_delete=models.PROTECT, related_name="profiles")
    name = models.CharField(max_length=200, help_text="The id the server wants in a request.")
    digest = models.CharField(max_length=100, blank=True, default="")
    template_hash = models.CharField(max_length=64, blank=True, default="")
    family = models.CharField(max_length=80, blank=True, default="", help_text="A family of the table, or blank.")
    team_family = models.JSONField(default=dict, blank=True, help_text="What the team's own family says, if any.")
    parameter_count = models.BigIntegerField(null=True, blank=True)
    quantization = models.CharField(max_length=40, blank=True, default="")
    context_length = models.PositiveIntegerField(null=True, blank=True, help_text="Trained context, in tokens.")
    default_context = models.PositiveIntegerField(default=8192, help_text="num_ctx we ask for, in tokens.")
    context_before = models.PositiveIntegerField(default=0, help_text="num_ctx until it was changed; 0: none.")
    context_failed = models.PositiveIntegerField(
        default=0, help_text="The smallest num_ctx that did not load; 0: none."
    )
    context_build = models.CharField(max_length=32, blank=True, default="", help_text="The build it did not load with.")
    size_bytes = models.BigIntegerField(null=True, blank=True)
    loaded = models.BooleanField(default=False, help_text="In the server's memory when it was last asked.")
    abilities = models.JSONField(default=list, blank=True, help_text="What the server declares, as it says it.")
    modelfile = models.JSONField(
        null=True, blank=True, help_text="What its Modelfile sets: system, num_ctx, temperature. Blank: not asked yet."
    )
    description = models.TextField(blank=True, default="")
    enabled = models.BooleanField(default=True)
    defined = models.BooleanField(
        default=False, help_text="A person defined it: it is there though its server does not list it."
    )
    by_hand = models.JSONField(
        default=dict, blank=True, help_text="What a person wrote of it, by field: no survey changes it."
    )
    options = models.JSONField(default=dict, blank=True)
    extra = models.JSONField(default=dict, blank=True, help_text="Imported fields we do not use, kept.")
    first_seen = models.DateTimeField(auto_now_add=True)
    last_seen = models.DateTimeField(null=True, blank=True)
    gone_since = models.DateTimeField(null=True, blank=True)
    missing_flag = models.CharField(
        max_length=200, blank=True, default="", help_text="The setting its server lacks for tools; blank: none."
    )
    missing_flag_since = models.DateTimeField(null=True, blank=True)
    drifted_since = models.DateTimeField(
        null=True, blank=True, help_text="Since when its tests are of an older build; blank: they are not."
    )
    begins_inside = models.BooleanField(
        null=True, blank=True, help_text="Its replies begin inside reasoning; blank: not known."
    )
    begins_inside_build = models.CharField(
        max_length=32, blank=True, default="", help_text="The build that this was seen of."
    )

    class Meta:
        ordering = ["server__name", "name"]
        constraints = [models.UniqueConstraint(fields=["server", "name"], name="one_profile_per_server_and_name")]

    def __str__(self) -> str:
        return f"{self.server.name}/{self.name}"

    @property
    def chats(self) -> bool:
        """False for a model that only makes embeddings, images or the like, as its server declares it."""
        return "completion" in self.abilities or not OTHER_WORK.intersection(self.abilities)

    @property
    def parameters(self) -> int | None:
        """The number of all parameters, as a person entered it, else as the server reports it."""
        return self.by_hand.get("parameter_count") or self.parameter_count

    @property
    def precision(self) -> str:
        """The quantisation, as a person entered it, else as the server reports it."""
        return self.by_hand.get("quantization") or self.quantization

    @property
    def build(self) -> Build:
        version = self.server.version
        return Build(str(self.server_id), self.name, self.digest, self.template_hash, version)
