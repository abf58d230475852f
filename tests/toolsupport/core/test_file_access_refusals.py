"""A claim of no access to files is distinguished from a missing file and from general statements."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.tables import every
from toolsupport.core.file_access_refusals import claims_no_file_access

DENIALS = (
    "I can't access files.",
    "I can't access files. I could only run commands, if I had a shell.",
    "I’m sorry, but I cannot read files on your computer.",
    "I'm unable to open files or folders from here.",
    "As an AI language model, I don't have access to your file system.",
    "I do not have direct access to the local files in your workspace.",
    "Unfortunately, I am not able to view the contents of your directory.",
    "Sorry! I have no way to list directories on your machine.",
    "I don't have the ability to read or write files.",
    "I lack the capability of accessing files on your disk.",
    "I currently don't have access to any files. Could you paste the text here?",
    "I'm just a language model. I can't interact with the file system directly.",
    "Well. I am afraid I can't create, edit or delete files for you.",
    "I cannot directly open the file config.json; please paste it.",
)
OTHERS = (
    "",
    "The file config.json says version 2.4.1.",
    "I cannot find the file config.json in this folder.",
    "I can't open the file notes.md: it does not exist.",
    "I cannot read the file: permission denied.",
    "I can read files. Which one?",
    "I can't recommend that library for files.",
    "You cannot access files from JavaScript in a browser.",
    "Browsers can't access local files, so use an input element.",
    "I cannot help with that.",
    "I can't browse the web.",
    "I don't have access to real-time information.",
    "I don't have an opinion about your file names.",
    "Done: I wrote notes.md. I did not touch other files.",
    "The user www-data doesn't have access to the directory.",
    "One. Two. Three. Four. I can't access files.",
)


@every("text", DENIALS)
def test_it_says_no(text: str) -> None:
    assert (
        claims_no_file_access(text)
        and claims_no_file_access(text.upper())
        and claims_no_file_access(f"  {text}\n\nMore follows.")
    )


@every("text", OTHERS)
def test_it_says_something_else(text: str) -> None:
    assert not claims_no_file_access(text)


@given(st.text(st.sampled_from("i can't access files, or read ").map(str), max_size=3000))
def test_any_text_is_read_at_once(text: str) -> None:
    assert claims_no_file_access(text) in (True, False)


def test_words_without_end_are_read_at_once() -> None:
    assert not claims_no_file_access("i " * 10_000 + "can't")
    assert not claims_no_file_access("i can't read or " * 5_000)
