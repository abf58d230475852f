"""Readers of files, changes, exams, logs and searches, each with a text that others wrote."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from chat.tools import edit_file, read_file
from chat.tools.files import text_decoding
from chat.tools.files.workspace import FileContent
from toolsupport.core import diff_rows, text_diff
from toolsupport.core.exams import grading
from toolsupport.core.exams.cases import ExamCase, ExpectedCall
from toolsupport.core.exams.grading import CaseReply
from toolsupport.core.prompt import history_rendering
from toolsupport.core.prompt.history_rendering import RenderTarget
from toolsupport.core.text_diff import TextChange
from toolsupport.core.types import ChatMessage, Role, ToolCall, ToolSpec
from toolsupport.web.pages import model_filters

# Rows of the models page: only their name and server are searched.
MODELS: Any = [SimpleNamespace(name=f"org/model-{number}:8b", server="box") for number in range(1_000)]


def file(written: str) -> object:
    """Read a file whose bytes are this text: its beginning, its first lines, and its last ones."""
    data = written.encode(errors="replace")
    content = FileContent(data, 2 * len(data))
    ends = read_file._first_lines(content, 500), read_file._last_lines(FileContent(data, len(data)), 500)
    return text_decoding.read(data, len(data)), ends


def change(written: str) -> object:
    """Find a place in a file of this text, outline a change of all of it, and lay the comparison out."""
    half = len(written) // 2
    other = TextChange("a", written, written[half:] + "\n" + written[:half])
    lines = [f"{'+-'[number % 2]}{written[at : at + 80]}" for number, at in enumerate(range(0, half, 80))]
    edited = edit_file._places(written, written[:half]), edit_file._places(written, f"{written[:half]}\0")
    outlined = text_diff.outlined("a", written, other.after)
    return edited, text_diff.is_short(other), diff_rows.layout(outlined), diff_rows.layout("\n".join(lines))


def graded(written: str) -> object:
    """Compare the arguments and the answer of an exam's model with the expected ones."""
    call = ExpectedCall("note", {"a": f"{written}b"}, {"a": (written[:100],) * 10})
    case = ExamCase("a", (), (ToolSpec("note", ""),), expected=(call,) * 10)
    return grading.grade(case, CaseReply((ToolCall("1", "note", {"a": written}),) * 10, 10, text=written))


def rendered(written: str) -> object:
    """Write a conversation of this text for models of each format."""
    call = ToolCall("1", "note", {"a": written[:5000]})
    log = (
        ChatMessage(Role.USER, written),
        ChatMessage(Role.ASSISTANT, written, calls=(call,)),
        ChatMessage(Role.TOOL, written, call_id="1"),
    )
    return [
        history_rendering.history(log, RenderTarget(name)) for name in ("", "native", "hermes", "react", "pythonic")
    ]


def models(written: str) -> object:
    return model_filters.named(MODELS, {"q": written})
