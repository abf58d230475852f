"""Statements of the repository about itself are true: lock, versions, README, Makefile."""

from __future__ import annotations

import os
import re
import subprocess
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

import pytest

from tests import house, reference
from toolsupport import __version__

README = house.ROOT / "README.md"
LOCK = house.ROOT / "requirements.lock"
ADDRESSES = re.compile(r"https?:|file:|--index|--extra-index|--find-links|@ ")

# Hosts of package indexes, paths of the machine this was written on, and talk about the work instead of the thing.
FOREIGN = (
    r"pyp[i][.]org|pythonhoste[d]|registr[y][.]npmjs|de[b][.]debian[.]org|prox[y][.]golang|stati[c][.]crates",
    r"(?<![\w.])/(?:wor[k]|roo[t])/|[.]pyen[v]",
    r"co-authored[-]by|generated[ ]with|\ba[i] assistant|language model[ ]assistant|coding[ ]agent",
    r"\bissue[ ]\d|\bhelper[ ][A-G]\b|/tmp/brie[f]",
)
OURS = ("*.py", "*.md", "*.html", "*.css", "*.js", "*.toml", "*.json", "*.lock", "Makefile", "run")
SKIPPED = {
    ".venv",
    ".venv-mlx",
    ".venv-clients",
    ".venv-agents",
    ".venv-mcp",
    ".venv-bfcl",
    ".venv-described",
    ".git",
    "data",
    "node_modules",
    "vendor",
}


def test_the_lock_names_no_address() -> None:
    found = [line for line in LOCK.read_text().splitlines() if ADDRESSES.search(line)]
    assert found == []


def test_every_requirement_of_the_lock_has_a_hash() -> None:
    entries = re.split(r"\n(?=[a-z0-9])", LOCK.read_text().strip())
    assert entries and [entry for entry in entries if "--hash=sha256:" not in entry] == []


def test_every_direct_dependency_is_locked() -> None:
    project = house.project()
    wanted = [*project["project"]["dependencies"], *project["dependency-groups"]["dev"]]
    names = {re.split(r"[\s\[<>=!~;]", one, maxsplit=1)[0].lower() for one in wanted}
    locked = {match.lower() for match in re.findall(r"^([A-Za-z0-9._-]+)==", LOCK.read_text(), re.M)}
    assert names <= locked


def test_the_oldest_python_is_the_same_everywhere() -> None:
    oldest = house.project()["project"]["requires-python"].removeprefix(">=")
    assert f'python_version = "{oldest}"' in (house.ROOT / "pyproject.toml").read_text()
    assert f"Python {oldest} or newer" in README.read_text()
    assert f"({oldest.replace('.', ', ')})" in (house.ROOT / "Makefile").read_text()


@pytest.mark.parametrize("name", reference.PAGES)
def test_the_reference_is_as_the_code_has_it(name: str) -> None:
    assert (reference.REFERENCE / name).read_text() == reference.PAGES[name](), "run: make reference"


def test_the_changelog_starts_with_what_is_not_released() -> None:
    text = (house.ROOT / "CHANGELOG.md").read_text()
    assert re.findall(r"^## (.+)$", text, re.M)[0] == "Unreleased"


def test_bullets_of_the_changelog_start_with_a_capital_and_end_with_a_stop() -> None:
    bullets = re.findall(r"^- (.+(?:\n  .+)*)", (house.ROOT / "CHANGELOG.md").read_text(), re.M)
    assert bullets and [one for one in bullets if not re.match(r"[A-Z][\s\S]*\.$", one)] == []


def test_every_page_of_the_documentation_leads_somewhere() -> None:
    broken = []
    for page in [*house.ROOT.glob("*.md"), *house.ROOT.glob("docs/**/*.md")]:
        for target in re.findall(r"\]\((?!https?:|#|mailto:)([^)#\s]+)", page.read_text()):
            broken += [] if (page.parent / target).exists() else [f"{page.name}: {target}"]
    assert broken == []


@cache
def tracked() -> dict[Path, str]:
    """The texts of the repository, read once."""
    found: dict[Path, str] = {}
    for folder, folders, files in os.walk(house.ROOT):
        folders[:] = [name for name in folders if name not in SKIPPED]
        paths = [Path(folder, name) for name in files if any(fnmatchcase(name, pattern) for pattern in OURS)]
        found |= {path: path.read_text(errors="replace") for path in paths if path.is_file()}
    return found


@pytest.mark.parametrize("pattern", FOREIGN)
def test_nothing_speaks_of_the_workplace(pattern: str) -> None:
    sign = re.compile(pattern, re.I)
    found = [
        f"{path.relative_to(house.ROOT)}:{number} {line.strip()[:90]}"
        for path, text in tracked().items()
        if sign.search(text)
        for number, line in enumerate(text.splitlines(), 1)
        if sign.search(line)
    ]
    assert not found, "\n".join(found)


def test_a_word_of_the_workplace_would_be_found() -> None:
    talk = "see /wor" + "k/main", "https://py" + "pi.org/simple", "for issue" + " 7"
    assert all(any(re.search(pattern, one, re.I) for pattern in FOREIGN) for one in talk)


@pytest.mark.parametrize(
    "target", ["run", "test", "check", "bench", "nightly", "real", "mcp", "clean", "lock", "help", "reference"]
)
def test_make_knows(target: str) -> None:
    """Dry runs: nothing is installed or started."""
    done = subprocess.run(["make", "-n", target], cwd=house.ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_an_old_python_is_told_what_to_do(tmp_path: Path) -> None:
    fake = tmp_path / "python3"
    fake.write_text("#!/bin/sh\nexit 1\n")
    fake.chmod(0o755)
    target = ["make", "run", f"PYTHON={fake}", f"VENV={tmp_path / 'venv'}"]
    done = subprocess.run(target, cwd=house.ROOT, capture_output=True, text=True)
    assert done.returncode != 0
    assert "Python 3.11 or newer is needed" in done.stdout + done.stderr


def test_the_ci_script_can_be_called() -> None:
    script = house.ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    assert subprocess.run(["bash", "-n", str(script)], capture_output=True).returncode == 0


def test_the_version_is_the_newest_of_the_changelog() -> None:
    newest = re.search(r"^## (\d+\.\d+\.\d+) ", (house.ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert newest and newest[1] == __version__
    assert f'version = "{__version__}"' in (house.ROOT / "pyproject.toml").read_text()
