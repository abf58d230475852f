"""Which paths mean something, and what."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.tools.files import paths
from tests.tables import every
from toolsupport.core.errors import ToolError

MEANINGS = {
    "": (),
    ".": (),
    "/": (),
    "./": (),
    "a": ("a",),
    "./a": ("a",),
    "/a": ("a",),
    "a/": ("a",),
    "a//b": ("a", "b"),
    "a/./b": ("a", "b"),
    "...": ("...",),
    " a ": (" a ",),
    "%2e%2e/a": ("%2e%2e", "a"),
    "a\\b": ("a\\b",),
    "．．／a": ("．．／a",),
    "naïve 😀.md": ("naïve 😀.md",),
}

REFUSED = {
    "..": "'..'",
    "../a": "'..'",
    "a/..": "'..'",
    "/../a": "'..'",
    "a\0b": "control",
    "a\nb": "control",
    "a\x7f": "control",
    "a\x85": "control",
    "a\u2028b": "control",
    "a\u202efdp.exe": "control",
    "a\ud800": "control",
    "a" * 256: "too long",
    "ä" * 128: "too long",
    "/".join("a" * 17): "deeply",
    paths.TEMPORARY + "1": "reserved",
}


@every("path", MEANINGS)
def test_what_a_path_means(path: str) -> None:
    assert paths.parts(path) == MEANINGS[path]


@every("path", REFUSED)
def test_what_is_refused_and_why(path: str) -> None:
    with pytest.raises(ToolError, match=REFUSED[path]):
        paths.parts(path)


def test_the_longest_name_and_the_deepest_path_are_fine() -> None:
    path = "/".join(["a" * 255] * 16)
    assert len(paths.parts(path)) == 16


def test_a_file_needs_a_name() -> None:
    assert paths.file_parts("a/b") == (("a",), "b")
    with pytest.raises(ToolError, match="workspace itself"):
        paths.file_parts("./")


@given(st.text(alphabet=st.characters(exclude_categories=()), max_size=60))
def test_no_text_ever_means_more_than_names(path: str) -> None:
    try:
        names = paths.parts(path)
    except ToolError:
        return
    assert all(name not in ("", ".", "..") and "/" not in name and "\0" not in name for name in names)
    assert paths.parts("/".join(names)) == names


@given(st.text(alphabet=st.characters(exclude_categories=())))
def test_what_is_shown_is_one_printable_line(text: str) -> None:
    line = paths.shown(text)
    assert bool(line.encode()) == bool(text)
    assert len(line.splitlines()) <= 1
    assert len(line) <= 10 * paths.SHOWN_CHARACTERS + 1
