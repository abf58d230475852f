"""Recognises images in a workspace by their first bytes, never by their names."""

from __future__ import annotations

from chat.tools.files import image_sizes
from chat.tools.files.workspace import MIB, Workspace
from toolsupport.core.errors import NotFound, ToolError

LARGEST = 6 * MIB
HEAD = 16
SIGNS = (
    (0, b"\x89PNG\r\n\x1a\n", "image/png"),
    (0, b"\xff\xd8\xff", "image/jpeg"),
    (0, b"GIF87a", "image/gif"),
    (0, b"GIF89a", "image/gif"),
    (8, b"WEBP", "image/webp"),
)


def kind_of(data: bytes) -> str:
    """Return the media type of an image, or "" for everything else."""
    return next((kind for at, sign, kind in SIGNS if data[at : at + len(sign)] == sign), "")


def read_picture(workspace: Workspace, path: str) -> tuple[bytes, str]:
    """Return an image with its media type. Raises NotFound for anything else."""
    try:
        content = workspace.read(path, LARGEST)
    except ToolError as error:
        raise NotFound(str(error)) from error
    kind = kind_of(content.data[:HEAD])
    if not kind or content.size > LARGEST:
        raise NotFound("This image does not exist.")
    if problem := image_sizes.problem(content.data, kind):
        raise NotFound(problem)
    return content.data, kind
