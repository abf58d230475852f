"""Statements of the documentation about itself, and about anything countable, are true."""

from __future__ import annotations

import re
from collections import Counter

from tests import house
from toolsupport.core.formats import FORMATS

DOCS = house.ROOT / "docs"
README = house.ROOT / "README.md"


def test_the_index_links_to_every_page() -> None:
    index = (DOCS / "README.md").read_text()
    pages = [page.relative_to(DOCS).as_posix() for page in DOCS.glob("**/*.md") if page.parent.name != "decisions"]
    assert [page for page in pages if page != "README.md" and f"]({page})" not in index] == []


def test_no_heading_begins_with_what() -> None:
    pages = [README, house.ROOT / "CONTRIBUTING.md", *DOCS.glob("**/*.md")]
    assert [line for page in pages for line in re.findall(r"(?m)^#+ (?:\d+ )?What .*", page.read_text())] == []


def test_the_readme_is_short() -> None:
    assert len(README.read_text().splitlines()) <= 60


def test_the_readme_counts_the_formats() -> None:
    # `auto` reads whichever of the others it is.
    assert f"– {len(FORMATS) - 1} formats, from" in README.read_text()


def test_the_table_of_the_formats_has_them_all() -> None:
    told = (DOCS / "formats.md").read_text()
    assert [name for name in FORMATS if f"`{name}`" not in told] == []


def test_decisions_are_numbered_without_a_gap() -> None:
    numbers = [int(page.name[:3]) for page in sorted((DOCS / "decisions").glob("*.md"))]
    assert numbers == list(range(len(numbers)))


def test_every_decision_has_its_three_parts() -> None:
    parts = ["Context", "Decision", "Consequences"]
    for page in (DOCS / "decisions").glob("*.md"):
        found = re.findall(r"^\*\*(Context|Decision|Consequences)\.\*\*", page.read_text(), re.M)
        assert found == parts, page.name


def test_nothing_is_told_twice() -> None:
    bullets = re.findall(r"^- (.+)", (house.ROOT / "CHANGELOG.md").read_text(), re.M)
    assert [bullet for bullet, times in Counter(bullets).items() if times > 1] == []


# What a path in the docs looks like, and the names among them that are no files of this repository.
PATH = re.compile(r"`((?:[\w.-]+/)*[\w-]+\.(?:py|md|toml|html|js|css|jsonl|svg))`")
NOT_OURS = {"AGENTS.md", "IDENTITY.md", "SOUL.md", "NNN-title.md", "pylock.toml"}


def test_files_that_the_docs_name_are_there() -> None:
    known = {f"/{path.relative_to(house.ROOT).as_posix()}" for path in house.files("*.*", *NAMED_FOLDERS)}
    known |= {f"/{path.name}" for path in house.ROOT.iterdir()}
    pages = [*DOCS.glob("**/*.md"), README, house.ROOT / "CONTRIBUTING.md"]
    named = [(page.name, name) for page in pages for name in PATH.findall(page.read_text())]
    lost = [entry for entry in named if not any(path.endswith(f"/{entry[1]}") for path in known)]
    assert [entry for entry in lost if entry[1] not in NOT_OURS] == []
    assert len(named) > 60


# Names of buttons and pages in the guides; one of more words is a sentence that stands out.
LABEL = re.compile(r"\*\*([A-Z][^*\n.:]{2,40})\*\*|(?<![*\w])\*([A-Z][^*\n.:]{2,40})\*(?![*\w])")
MOST_WORDS = 5
# The name of another guide.
NO_LABELS = {"Administer"}


def test_buttons_that_the_guides_name_are_there() -> None:
    pages = [
        *house.files("*.html", "templates"),
        *house.files("*.js", "static"),
        *house.files("*.py", "toolsupport", "chat"),
    ]
    shown = " ".join(" ".join(page.read_text() for page in pages).split())
    guides = [(page.name, page.read_text()) for page in DOCS.glob("guides/*.md")]
    found = [(guide, "".join(name)) for guide, text in guides for name in LABEL.findall(text)]
    named = [entry for entry in found if len(entry[1].split()) <= MOST_WORDS and entry[1] not in NO_LABELS]
    lost = [entry for entry in named if not all(part.strip() in shown for part in re.split("[…›]", entry[1]))]
    assert lost == [] and len(named) > 40


NAMED_FOLDERS = ("toolsupport", "chat", "tests", "docs", "templates", "static")


def test_the_map_names_every_room() -> None:
    told = (house.ROOT / "CONTRIBUTING.md").read_text()
    folders = [*(house.ROOT / "toolsupport").iterdir(), *(house.ROOT / "chat").iterdir()]
    rooms = [folder for folder in folders if (folder / "__init__.py").exists()]
    # Django's own places say what they are.
    rooms = [room for room in rooms if room.name not in ("management", "migrations", "templatetags")]
    assert [f"{room.parent.name}/{room.name}" for room in rooms if f"{room.parent.name}/{room.name}" not in told] == []
    assert len(rooms) > 10


ASVS = (house.ROOT / "docs" / "asvs.md").read_text()
STATES = ("yes", "partly", "no", "–")
# Requirements of the levels 1 and 2 of each section of the standard, version 5.0.0.
IN_SECTIONS = {
    "2": (3, 3, 4, 1),
    "6": (3, 12, 4, 4, 5, 3, 0, 4),
    "9": (3, 4),
    "13": (1, 5, 2, 5),
    "15": (3, 3, 7),
}


def test_the_chapters_of_asvs_are_complete_and_counted() -> None:
    found = re.findall(r"^\| (\d+)\.(\d+)\.(\d+) \|[^|]*\| (yes|partly|no|–) \| [^|]+ \|$", ASVS, re.MULTILINE)
    assert len(found) == len(re.findall(r"^\| \d+\.", ASVS, re.MULTILINE))
    expected = [
        (chapter, str(section), str(number))
        for chapter, sizes in IN_SECTIONS.items()
        for section, size in enumerate(sizes, 1)
        for number in range(1, size + 1)
    ]
    assert [one[:3] for one in found] == expected
    for chapter in IN_SECTIONS:
        counts = [sum(one[0] == chapter and one[3] == state for one in found) for state in STATES]
        assert f"| V{chapter} | {' | '.join(map(str, counts))} |" in ASVS


def test_the_tests_that_asvs_names_are_there() -> None:
    names = {path.name for path in (house.ROOT / "tests").rglob("test_*.py")}
    assert set(re.findall(r"`(test_\w+\.py)`", ASVS)) <= names
