"""Joins the styles and the scripts of a page into one file each, without comments, when static files are collected.

Each file costs a round trip, and a page has some fifty. Without collected files the files themselves are sent.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from servestatic.storage import CompressedStaticFilesStorage

STYLES = (
    *("tokens", "reset", "base", "layout", "parts", "helpers", "code", "evidence", "prose", "composer", "models"),
    "feed",
)
# The modules that a kind of page begins with. Those of a page are in one bundle, so that none of them runs twice.
PAGES = {
    "page": ("page",),
    "chat": ("page", "conversation", "examples"),
    "models": ("page", "matrix"),
    "model": ("page", "model"),
    "history": ("page", "review"),
    "tools": ("page", "switches"),
}
IMPORT = re.compile(r'^import (?:(?:\* as (?P<all>\w+)|\{(?P<some>[^}]*)\}) from )?"\./(?P<file>\w+)\.js";$', re.M)
EXPORT = re.compile(r"^export (?=(?:const|class|function) (?P<name>\w+))", re.M)
TAKEN = re.compile(r"^const \{ ([^}]*) \} = modules\.(\w+);$", re.M)
COMMENT = re.compile(r"^ *//.*\n", re.M)
BARE = re.compile(r"/\*.*?\*/\n?|^ +", re.M | re.S)  # comments and indentation of style sheets
LEFT = re.compile(r"^(?:import|export)\b", re.M)


class BundlingStorage(CompressedStaticFilesStorage):  # type: ignore[misc]
    """Writes the bundles next to the collected files, and compresses them too."""

    def post_process(self, paths: dict[str, Any], dry_run: bool = False, **options: Any) -> Iterator[Any]:
        for name, text in () if dry_run else bundles(Path(self.location)):
            Path(self.path(name)).parent.mkdir(parents=True, exist_ok=True)
            Path(self.path(name)).write_text(text)
            paths[name] = (self, name)
        yield from super().post_process(paths, dry_run, **options)


def style_bundle() -> str:
    return "bundles/all.css"


def script_bundle(kind: str) -> str:
    return f"bundles/{kind}.js"


def bundles(root: Path) -> Iterator[tuple[str, str]]:
    """Yield each bundle with its text."""
    yield style_bundle(), BARE.sub("", "\n".join((root / "css" / f"{name}.css").read_text() for name in STYLES))
    for kind, entries in PAGES.items():
        yield script_bundle(kind), joined(root / "js", entries)


def joined(root: Path, entries: tuple[str, ...]) -> str:
    """Return modules with all that they import as one module: each in a block, after those that it imports.

    Raises ValueError for a form of import or export that our scripts do not have.
    """
    blocks: dict[str, str] = {}
    for entry in entries:
        _add(root, entry, blocks, ())
    for block in blocks.values():
        for names, module in TAKEN.findall(block):
            missing = {name.partition(":")[0].strip() for name in names.split(",")} - {*_exported(blocks[module]), ""}
            if missing:
                raise ValueError(f"{module}.js does not export {', '.join(missing)} in a form that can be bundled")
    return f"const modules = {{}};\n{''.join(blocks.values())}"


def _add(root: Path, name: str, blocks: dict[str, str], within: tuple[str, ...]) -> None:
    if name in within:
        raise ValueError(f"{name}.js imports itself by way of {', '.join(within)}")
    if name in blocks:
        return
    text = (root / f"{name}.js").read_text()
    for match in IMPORT.finditer(text):
        _add(root, match["file"], blocks, (*within, name))
    body = COMMENT.sub("", EXPORT.sub("", IMPORT.sub(_taken, text)))
    if LEFT.search(body):
        raise ValueError(f"{name}.js imports or exports in a form that cannot be bundled")
    exported = ", ".join(match["name"] for match in EXPORT.finditer(text))
    blocks[name] = f"{{\n{body}\nmodules.{name} = {{ {exported} }};\n}}\n"


def _exported(block: str) -> list[str]:
    return block.rpartition(" = { ")[2].partition(" }")[0].split(", ")


def _taken(match: re.Match[str]) -> str:
    source = f"modules.{match['file']}"
    if match["all"]:
        return f"const {match['all']} = {source};"
    if match["some"] is None:
        return ""
    return f"const {{ {match['some'].replace(' as ', ': ').strip()} }} = {source};"
