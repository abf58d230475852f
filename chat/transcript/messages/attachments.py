"""Prepares images of a message for models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from chat.tools.files.images import read_picture
from chat.transcript.settings import turn_settings
from chat.transcript.sql import MessageRow
from toolsupport.core import types
from toolsupport.core.errors import NotFound

MOST = 8
# What one request carries at most, in bytes: of a long conversation the newest images.
MOST_BYTES = 24 * 1024 * 1024


def check(conversation: str, paths: Sequence[str]) -> list[str]:
    """Return the paths as they are stored. Raises NotFound for a path without an image, or too many."""
    if len(paths) > MOST:
        raise NotFound(f"A message may have {MOST} images at most.")
    for path in paths:
        read_picture(turn_settings.workspace(conversation), path)
    return list(paths)


def sees(capabilities: Mapping[str, Any]) -> bool:
    """Return whether a model supports images, by the capabilities stored with a turn."""
    return bool((capabilities.get("vision") or {}).get("value") is True)


def user_messages(rows: Sequence[MessageRow], seen: bool) -> dict[int, types.ChatMessage]:
    """Return a person's messages for the model, by id: with images, or with a note if it supports none."""
    room, found = MOST_BYTES, {}
    for row in reversed(rows):
        images = _images(row) if seen else ()
        size = sum(map(len, images))
        fits = len(images) == len(row.attachments) and size <= room
        room -= size if fits else 0
        text = row.content if fits else f"{row.content}\n\n[{_why_not(row, seen)}]"
        found[row.pk] = types.ChatMessage(types.Role.USER, text, images=images if fits else ())
    return found


def _why_not(row: MessageRow, seen: bool) -> str:
    names = ", ".join(row.attachments)
    return f"Attached: {names}. {'They are not shown any more.' if seen else 'You cannot see images.'}"


def _images(row: MessageRow) -> tuple[bytes, ...]:
    """Return the images that still exist."""
    found = []
    for path in row.attachments:
        with suppress(NotFound):
            found.append(read_picture(turn_settings.workspace(str(row.conversation_id)), path)[0])
    return tuple(found)
