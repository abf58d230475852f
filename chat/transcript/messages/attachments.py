"""Prepares the attached images and files of a message for models."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from chat.tools.files.image_types import read_picture
from chat.tools.files.workspace import Workspace
from chat.transcript.settings import turn_settings
from chat.transcript.sql import MessageRow
from toolsupport.core import types
from toolsupport.core.errors import NotFound, ToolError

MOST = 8
# Uploads of images are stored under these endings; everything else that is attached is a file for the tools.
IMAGES = (".png", ".jpg", ".jpeg", ".gif", ".webp")
# Bytes of images in one request: of a long chat only the newest are sent.
MOST_BYTES = 24 * 1024 * 1024


def check(conversation: str, paths: Sequence[str]) -> list[str]:
    """Return the paths as they are stored. Raises NotFound for a missing image or file, or too many."""
    if len(paths) > MOST:
        raise NotFound(f"A message can have up to {MOST} attachments.")
    if not paths:
        return []
    workspace = turn_settings.workspace(conversation)
    for path in paths:
        if path.lower().endswith(IMAGES):
            read_picture(workspace, path)
        elif not _is_file(workspace, path):
            raise NotFound(f"There is no file {path}.")
    return list(paths)


def _is_file(workspace: Workspace, path: str) -> bool:
    try:
        return workspace.entry(path).kind == "file"
    except (NotFound, ToolError):
        return False


def images(paths: Iterable[str]) -> tuple[str, ...]:
    """Return the attachments that are images."""
    return tuple(path for path in paths if path.lower().endswith(IMAGES))


def files(paths: Iterable[str]) -> tuple[str, ...]:
    """Return the attachments that are not images."""
    return tuple(path for path in paths if not path.lower().endswith(IMAGES))


def sees(capabilities: Mapping[str, Any]) -> bool:
    """Return whether a model supports images, by the capabilities stored with a turn."""
    return bool((capabilities.get("vision") or {}).get("value") is True)


def user_messages(rows: Sequence[MessageRow], seen: bool) -> dict[int, types.ChatMessage]:
    """Return a person's messages for the model, by id: with images, or with a note if it supports none.

    Files are named only: the model reads them with its tools.
    """
    room, found = MOST_BYTES, {}
    for row in reversed(rows):
        names, data = images(row.attachments), _images(row) if seen else ()
        size = sum(map(len, data))
        fits = len(data) == len(names) and size <= room
        room -= size if fits else 0
        notes = [] if fits else [f"Attached: {', '.join(names)}. {_why_not(seen)}"]
        given = files(row.attachments)
        notes += [f"Attached files: {', '.join(given)}."] if given else []
        text = f"{row.content}\n\n[{' '.join(notes)}]" if notes else row.content
        found[row.pk] = types.ChatMessage(types.Role.USER, text, images=data if fits else ())
    return found


def _why_not(seen: bool) -> str:
    return "They are no longer shown." if seen else "You cannot see images."


def _images(row: MessageRow) -> tuple[bytes, ...]:
    """Return the images that still exist."""
    found = []
    for path in images(row.attachments):
        with suppress(NotFound):
            found.append(read_picture(turn_settings.workspace(str(row.conversation_id)), path)[0])
    return tuple(found)
