"""Opening below a directory: refused cases and their messages."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from chat.tools.files import safe_open
from tests.tables import every
from toolsupport.core.errors import NotFound, ToolError


def open_descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


@every("code", [*safe_open.WORDS, errno.EIO, errno.EMFILE, 0])
def test_an_error_of_the_system_never_names_a_path_of_the_host(code: int) -> None:
    with pytest.raises(ToolError) as caught, safe_open.in_words("notes.md"):
        raise OSError(code, "text of the system", "/srv/secret/place")
    assert "notes.md" in str(caught.value)
    assert "/srv" not in str(caught.value) and "text of the system" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_what_is_missing_is_not_found() -> None:
    with pytest.raises(NotFound, match="'a' does not exist"), safe_open.in_words("a"):
        raise FileNotFoundError(2, "text", "/srv/a")


def test_links_are_not_stepped_through(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    with pytest.raises(OSError) as caught, safe_open.directory(tmp_path, ("link",)):
        pass
    assert caught.value.errno in safe_open.WORDS


def test_missing_directories_are_made_on_request(tmp_path: Path) -> None:
    with safe_open.directory(tmp_path, ("a", "b"), make=True) as found:
        assert os.fstat(found).st_ino == (tmp_path / "a" / "b").stat().st_ino
    with pytest.raises(FileNotFoundError), safe_open.directory(tmp_path, ("a", "c")):
        pass


def test_no_descriptor_is_left_open(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "pipe").parent.mkdir(exist_ok=True)
    os.mkfifo(tmp_path / "pipe")
    before = open_descriptors()
    for names in (("a", "b"), ("a", "none"), ("pipe",)):
        try:
            with safe_open.directory(tmp_path, names) as above, pytest.raises((OSError, ToolError)):
                safe_open.regular_file(above, "nothing")
        except OSError:
            continue
    with safe_open.directory(tmp_path) as above:
        walking = safe_open.walk(above, 5)
        next(walking)
        next(walking)
        walking.close()
    assert open_descriptors() == before


def make_link(at: Path) -> None:
    at.symlink_to("innocent")


def make_second_name(at: Path) -> None:
    os.link(at.parent / "innocent", at)


@pytest.mark.parametrize("make", [make_link, make_second_name, os.mkfifo, os.mkdir])
def test_a_thing_swapped_in_between_the_two_looks_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: Callable[[Path], None]
) -> None:
    (tmp_path / "innocent").write_text("fine")
    innocent = os.stat(tmp_path / "innocent")
    make(tmp_path / "file")
    monkeypatch.setattr(os, "stat", lambda *_, **__: innocent)
    before = open_descriptors()
    # What opening a pipe without O_NONBLOCK would do here is wait for ever.
    monkeypatch.setattr(os, "open", impatient(os.open))
    with safe_open.directory(tmp_path) as above, pytest.raises((ToolError, OSError)):
        safe_open.regular_file(above, "file")
    assert open_descriptors() == before


def impatient(opening: Callable[..., int]) -> Callable[..., int]:
    def opened(path: str, flags: int, *rest: int, **more: int) -> int:
        assert flags & (os.O_NONBLOCK | os.O_DIRECTORY), "this may wait for ever"
        return opening(path, flags, *rest, **more)

    return opened


def test_what_is_no_file_is_not_even_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The opening of a device can rewind a tape or arm a watchdog."""
    os.mkfifo(tmp_path / "pipe")
    with safe_open.directory(tmp_path) as above, monkeypatch.context() as patch:
        patch.setattr(os, "open", lambda *_, **__: pytest.fail("it was opened"))
        with pytest.raises(ToolError, match="not a regular file"):
            safe_open.regular_file(above, "pipe")


def test_a_walk_goes_as_deep_as_it_is_told(tmp_path: Path) -> None:
    (tmp_path / "a" / "b" / "c").mkdir(parents=True)
    with safe_open.directory(tmp_path) as above:
        for levels in (1, 2, 3):
            assert [len(names) for names, _ in safe_open.walk(above, levels)] == list(range(1, levels + 1))
