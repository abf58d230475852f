"""Announcements are numbered by their writer: growing and without a gap, with any number of processes."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from contextlib import ExitStack
from typing import get_args
from urllib.parse import urlsplit

import pytest
from django.db import connection

from chat.broadcast.announcement_frames import FRAMES
from chat.models import Conversation
from chat.transcript import announcements
from chat.transcript.announcements import EndedQuestion, SelectedBranch, announce, announce_all
from tests import databases
from tests.conftest import DATA_DIR
from tests.factories import ConversationFactory

PROCESSES, ROUNDS = 2, 12


def environment() -> dict[str, str]:
    """Of a process with the same rows."""
    name = str(connection.settings_dict["NAME"])
    other = urlsplit(databases.POSTGRESQL)._replace(path=f"/{name}").geturl()
    url = other if connection.vendor == "postgresql" else f"sqlite:///{name}"
    found = {"DATABASE_URL": url, "TOOLSUPPORT_DATA_DIR": str(DATA_DIR)}
    return {**os.environ, **found, "DJANGO_SETTINGS_MODULE": "toolsupport.config.settings"}


# O2 C5
@pytest.mark.django_db(transaction=True)
def test_processes_that_write_at_once_number_without_a_gap() -> None:
    conversation = ConversationFactory()
    command = [sys.executable, "-m", "tests.chat.transcript.announcing", str(conversation.pk)]
    with ExitStack() as started:
        writers = [
            started.enter_context(
                subprocess.Popen(
                    command,
                    cwd=databases.ROOT,
                    env=environment(),
                    text=True,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                )
            )
            for _ in range(PROCESSES)
        ]
        found: list[list[int]] = [line_of(writer) for writer in writers]
        for _ in range(ROUNDS):
            for writer in writers:
                begin_round(writer)
            for numbers, writer in zip(found, writers, strict=True):
                numbers += line_of(writer)
        for writer in writers:
            assert writer.stdin is not None
            writer.stdin.close()
    for numbers in found:
        assert numbers == sorted(set(numbers))
    together = sorted(number for numbers in found for number in numbers)
    assert together == list(range(1, len(together) + 1))
    assert Conversation.objects.get().tail == len(together)
    # Neither wrote before the other, and whole turns are among what they wrote.
    assert all(one[0] < two[-1] for one in found for two in found)
    assert len(together) > 4 * ROUNDS * PROCESSES


def begin_round(writer: subprocess.Popen[str]) -> None:
    """Without waiting for it: all write at the same time."""
    assert writer.stdin is not None
    writer.stdin.write("go\n")
    writer.stdin.flush()


def line_of(writer: subprocess.Popen[str]) -> list[int]:
    """The numbers of a round, once it is over."""
    assert writer.stdout is not None
    numbers: list[int] = json.loads(writer.stdout.readline())
    return numbers


@pytest.mark.django_db
def test_things_that_are_written_together_follow_each_other() -> None:
    conversation = ConversationFactory()
    first = announce(conversation.pk, EndedQuestion(1, "once"))
    rest = announce_all(conversation.pk, EndedQuestion(2, "once"), EndedQuestion(3, "deny"))
    assert [each.seq for each in (first, *rest)] == [1, 2, 3]
    assert [each.thing for each in rest] == [EndedQuestion(2, "once"), EndedQuestion(3, "deny")]
    assert announce_all(conversation.pk) == ()
    conversation.refresh_from_db()
    assert conversation.tail == 3


def test_every_thing_has_a_frame() -> None:
    """A selected branch has none: pages fetch it because of the number in `hello`."""
    assert set(FRAMES) == {*get_args(announcements.Thing)} - {SelectedBranch}


def test_no_caller_computes_a_number() -> None:
    """Numbers come from the count in the database; only this module adds to them."""
    found = []
    for path in sorted((databases.ROOT / "chat").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.BinOp) and NUMBERS & {
                part for side in (node.left, node.right) for part in names(side)
            }:
                found.append(path.name)
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("sql.count_up", "sql.grow"):
                found.append(path.name)
    assert set(found) == {"announcements.py"}, found


NUMBERS = {"seq", "tail"}


def names(side: ast.expr) -> set[str]:
    """The last names of what an operand is made of."""
    return {
        node.attr if isinstance(node, ast.Attribute) else node.id
        for node in ast.walk(side)
        if isinstance(node, ast.Attribute | ast.Name)
    }
