"""Prepares a chat for each task of the first visit: a model, a question and the data that it needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from django.contrib.auth.models import User
from django.db import transaction

from chat.transcript.announcements import Announcements
from chat.transcript.conversations import conversations
from toolsupport.core.errors import NotFound
from toolsupport.registry.databases import example_database, sql_sources
from toolsupport.registry.testing import evidence_overview
from toolsupport.registry.testing.evidence_overview import EvidenceOverview, ModelTile


@dataclass(frozen=True, slots=True)
class FirstTask:
    """A task with its `question`; `model` chooses one from the overview, None if none is fit.

    `database`: it needs the example database. `swaps`: it continues the latest chat.
    """

    name: str
    title: str
    text: str
    question: str
    model: Callable[[EvidenceOverview], ModelTile | None]
    database: bool = False
    swaps: bool = False


@dataclass(frozen=True, slots=True)
class ShownTask:
    """A task that can be done now, with its model."""

    name: str
    title: str
    text: str
    question: str
    tile: ModelTile


def _proven(overview: EvidenceOverview) -> ModelTile | None:
    return overview.best or overview.without


def _without(overview: EvidenceOverview) -> ModelTile | None:
    return overview.without or overview.best


TASKS: Mapping[str, FirstTask] = MappingProxyType(
    {
        task.name: task
        for task in (
            FirstTask(
                "database",
                "Query a database",
                "“How many orders per month?” The answer comes from the example database.",
                "How many orders per month?",
                _without,
                database=True,
            ),
            FirstTask(
                "folder",
                "Look into a folder",
                "“What's in this folder?” The model reads example files.",
                "What's in this folder?",
                _proven,
            ),
            FirstTask(
                "approve",
                "Approve a change",
                "“Write a summary to notes.md.” Nothing is written until you allow it.",
                "Write a summary to notes.md",
                _proven,
            ),
            FirstTask(
                "swap",
                "Switch models in mid-chat",
                "“Read config.json and tell me the version.” Your latest chat continues with another model.",
                "Read config.json and tell me the version",
                lambda found: found.without,
                swaps=True,
            ),
        )
    }
)


def available(person: User, overview: EvidenceOverview, may_administer: bool) -> list[ShownTask]:
    """Return the tasks that this person can do now."""
    database = may_administer or has_database()
    return [
        ShownTask(task.name, task.title, task.text, task.question, tile)
        for task in TASKS.values()
        if (tile := task.model(overview))
        and (database or not task.database)
        and (not task.swaps or conversations.latest(person))
    ]


@dataclass(frozen=True, slots=True)
class PreparedTask:
    """The chat in which the question can be asked, with what was written to it on the way."""

    conversation: str
    question: str
    announced: Announcements


@transaction.atomic
def prepare(person: User, name: str, may_administer: bool) -> PreparedTask:
    """Prepare the chat of a task. Raises NotFound with the reason if the task cannot be done yet."""
    task = TASKS.get(name)
    tile = task.model(evidence_overview.read(person.pk)) if task else None
    if task is None or tile is None:
        raise NotFound("No tested model can do this yet. Test the models first.")
    if task.database:
        _have_database(may_administer)
    latest = conversations.latest(person) if task.swaps else None
    if latest:
        return PreparedTask(latest, task.question, conversations.select_model(person, latest, str(tile.id)))
    return PreparedTask(conversations.create(person, tile.id), task.question, ())


def has_database() -> bool:
    """Return whether the example database has been added."""
    return any(source.name == example_database.NAME for source in sql_sources.listed())


def _have_database(may_administer: bool) -> None:
    if has_database():
        return
    if not may_administer:
        raise NotFound("An administrator must add the example database first.")
    example_database.install()
