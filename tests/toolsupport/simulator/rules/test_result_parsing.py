"""The reading of tool results."""

from __future__ import annotations

import pytest

from tests.tables import every
from toolsupport.simulator.rules.result_parsing import entries, look_up, read


@every(
    ("content", "wrong"),
    [
        ("Error: no such directory", "Error: no such directory"),
        ('{"error": "not found"}', "not found"),
        ('{"error": {"message": "denied"}}', "denied"),
        ("cat: x: No such file or directory", "cat: x: No such file or directory"),
        ("The call was denied by a person.", "The call was denied by a person."),
        ("config.json\nerrors.log", ""),
        ("'x.txt' does not exist. Did you mean 'y.txt'?", "'x.txt' does not exist. Did you mean 'y.txt'?"),
        ("'docs' is a directory.", "'docs' is a directory."),
        ("ERROR 12:00 boom\n" * 5, ""),
        ('{"error": null, "content": "fine"}', ""),
        ("", ""),
    ],
)
def test_errors_are_known(content: str, wrong: str) -> None:
    assert read(content).wrong == wrong


@pytest.mark.parametrize(
    ("content", "text"),
    [("plain", "plain"), ('{"content": "inside"}', "inside"), ('{"stdout": "x"}', "x"), ('{"a": 1}', '{"a": 1}')],
)
def test_the_text_is_unwrapped(content: str, text: str) -> None:
    assert read(content).text == text


@every(
    "text",
    [
        "a\nb/",
        "- a\n- b/\n",
        '["a", "b/"]',
        '{"entries": [{"name": "a", "type": "file"}, {"name": "b", "type": "dir"}]}',
        '{"files": ["a", "b/"]}',
        "a  12 bytes\nb/  (folder)",
        "[FILE] a\n[DIR] b/",
        "a (12 bytes)\nb/\n[Only the first 2 are listed.]",
    ],
)
def test_listings_of_every_shape_give_names(text: str) -> None:
    assert entries(text) == ["a", "b/"]


def test_a_remark_is_no_name() -> None:
    assert entries("[The directory is empty.]") == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"version": "1.4.2"}', "1.4.2"),
        ('{"app": {"name": "x", "Version": 3}}', "3"),
        ('{"deep": {"version": "2"}, "version": "1"}', "1"),
        ('[project]\nversion = "1.0"\n', "1.0"),
        ("The version is 7", "7"),
        ("nothing here", ""),
    ],
)
def test_looks_up_a_topic(text: str, found: str) -> None:
    assert look_up(text, "version") == found
