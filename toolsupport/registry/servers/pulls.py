"""The rows of downloads of models: requested by administrators, run by one process at a time."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils import timezone

from toolsupport import providers
from toolsupport.core.errors import ConfigError, NotFound
from toolsupport.core.pull_progress import STEPS, PullReader
from toolsupport.models import ModelPull, Server
from toolsupport.registry import leases
from toolsupport.registry.people import audit_log
from toolsupport.registry.servers.server_edits import subject

LEASE = timedelta(seconds=15)
OPEN = ("queued", "running")
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@-]{0,199}")
BAD_NAME = "Write a model's name, such as qwen3:8b or hf.co/NAME/MODEL:TAG, without spaces."
SHOWN = 20


@dataclass(frozen=True, slots=True)
class ClaimedPull:
    """A download this process runs now."""

    id: int
    server: int
    name: str


@dataclass(frozen=True, slots=True)
class ShownPull:
    """A download as the page shows it; `percent` is None while its size is unknown."""

    name: str
    status: str
    words: str
    percent: int | None
    error: str
    asked_by: str
    ended_at: datetime | None

    @property
    def open(self) -> bool:
        return self.status in OPEN


@transaction.atomic
def request(server_id: int, name: str, actor: int) -> None:
    """Queue a download; one that was cut off continues. Raises NotFound, ConfigError with a sentence."""
    name = name.strip()
    if not NAME.fullmatch(name):
        raise ConfigError(BAD_NAME)
    server = ollama_server(server_id)
    if not server.enabled:
        raise ConfigError("The server is switched off.")
    rows = ModelPull.objects.select_for_update().filter(server=server, name=name)
    if rows.filter(status__in=OPEN).exists():
        return
    again = {"status": "queued", "error": "", "asked_by_id": actor, "ended_at": None, "owner": "", "lease_until": None}
    try:
        with transaction.atomic():
            if not rows.update(**again):
                ModelPull.objects.create(server=server, name=name, asked_by_id=actor)
    except IntegrityError:  # another request was faster
        return
    audit_log.write(actor, "pull_model", subject(server_id), f"Started to pull {name} to {server.name}.")


@transaction.atomic
def cancel(server_id: int, name: str, actor: int) -> None:
    """Stop a download; the server keeps the downloaded parts. Its process notices within a second."""
    rows = ModelPull.objects.filter(server_id=server_id, name=name, status__in=OPEN)
    if rows.update(status="canceled", ended_at=timezone.now(), lease_until=None):
        audit_log.write(actor, "pull_model", subject(server_id), f"Cancelled the download of {name}.")


def claim(owner: str) -> ClaimedPull | None:
    """Claim the oldest download that waits or whose process is gone."""
    return _oldest(owner) if leases.has_work(ModelPull) else None


@transaction.atomic
def _oldest(owner: str) -> ClaimedPull | None:
    """Claim the oldest download of a server in use."""
    waits = Q(status="queued") | (Q(status="running") & leases.ran_out())
    there = ModelPull.objects.filter(waits, server__enabled=True).order_by("id")
    for row in there[:SHOWN]:
        free = ModelPull.objects.filter(waits, pk=row.pk)
        if free.update(status="running", owner=owner, lease_until=leases.in_future(LEASE)):
            return ClaimedPull(row.pk, row.server_id, row.name)
    return None


def progress(pull: int, owner: str, read: PullReader) -> bool:
    """Store its progress; False if it was cancelled or another process runs it."""
    mine = ModelPull.objects.filter(pk=pull, owner=owner, status="running")
    facts = {"step": read.step, "completed": read.completed, "total": read.total}
    return bool(mine.update(**facts, lease_until=leases.in_future(LEASE)))


def conclude(pull: int, owner: str, error: str) -> None:
    """End a download, well without an `error`."""
    mine = ModelPull.objects.filter(pk=pull, owner=owner, status="running")
    status = "failed" if error else "done"
    mine.update(status=status, error=error, ended_at=timezone.now(), lease_until=None)


def leave(owner: str) -> None:
    """Release the downloads of this process, so that another one can continue at once."""
    ModelPull.objects.filter(owner=owner, status="running").update(lease_until=None)


def listed(server_id: int) -> tuple[ShownPull, ...]:
    """Return the downloads to a server, those that run first, then the newest."""
    rows = ModelPull.objects.filter(server_id=server_id).select_related("asked_by").order_by("-id")[:SHOWN]
    return tuple(sorted(map(_shown, rows), key=lambda pull: not pull.open))


def ollama_server(server_id: int) -> Server:
    """Return the row of a server whose models can be managed here. Raises NotFound, ConfigError."""
    server = Server.objects.filter(pk=server_id, removed_at=None).first()
    if server is None:
        raise NotFound("This server does not exist.")
    if providers.provider(server.kind).wire != "ollama":
        raise ConfigError("Only Ollama servers pull, delete and unload models.")
    return server


def _shown(row: ModelPull) -> ShownPull:
    return ShownPull(
        name=row.name,
        status=row.status,
        words=_words(row),
        percent=int(100 * row.completed / row.total) if row.total else None,
        error=row.error,
        asked_by=row.asked_by.get_username(),
        ended_at=row.ended_at,
    )


def _words(row: ModelPull) -> str:
    if row.status not in OPEN:
        return {"done": "Pulled", "canceled": "Cancelled"}.get(row.status, "Failed")
    if row.step == "downloading" and row.total:
        return f"Downloading: {size(row.completed)} of {size(row.total)}"
    return STEPS.get(row.step, STEPS[""])


def size(count: int) -> str:
    """Return bytes as people read them: 4.9 GB, 120 MB."""
    if count >= 10**9:
        return f"{count / 10**9:.1f} GB"
    return f"{count / 10**6:.0f} MB" if count >= 10**6 else f"{count / 10**3:.0f} kB"
