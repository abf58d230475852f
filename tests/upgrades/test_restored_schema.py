"""A restored database has the tables of the one that was backed up, also where that one began as an old archive."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.databases import ENGINES
from tests.serving import Site
from tests.upgrades import archives
from tests.upgrades.archives import empty_site
from tests.upgrades.test_archives import ARCHIVES, engine_of

# PostgreSQL writes `status IN (…)` with casts in another place when its own text is loaded again, as an archive's is:
# ANY (ARRAY[('queued'::character varying)::text]) for ANY ((ARRAY['queued'::character varying])::text[]).
CASTS = re.compile(r"::(?:character varying|text)(?:\[\])?|[()]")


def plain(rule: Any) -> Any:
    """A rule without casts and brackets, which decide nothing in conditions of one comparison."""
    return tuple(CASTS.sub("", part) if isinstance(part, str) else part for part in rule)


def tables(site: Site) -> dict[str, Any]:
    return {
        table: (columns, [plain(rule) for rule in rules]) for table, (columns, rules) in archives.schema(site).items()
    }


def differing(one: dict[str, Any], other: dict[str, Any]) -> list[str]:
    return [table for table in sorted({*one, *other}) if one.get(table) != other.get(table)]


# P3
@pytest.mark.parametrize("archive", [one for one in ARCHIVES if engine_of(one) in ENGINES], ids=lambda file: file.name)
def test_a_restored_archive_has_the_tables_of_the_migrated_one(tmp_path: Path, archive: Path) -> None:
    first, second, engine = tmp_path / "first", tmp_path / "second", engine_of(archive)
    for directory in (first, second):
        directory.mkdir()
    with empty_site(first, engine) as migrated, empty_site(second, engine) as restored:
        archives.load(migrated, archive)
        migrated.manage("migrate", "--verbosity", "0")
        migrated.manage("backup", str(tmp_path / "site.tar"))
        restored.manage("restore", str(tmp_path / "site.tar"), "--yes")
        assert differing(tables(migrated), tables(restored)) == []


def test_a_table_without_an_index_is_found() -> None:
    whole = {"a": ([("id",)], [("i", "UNIQUE (b)")]), "b": ([], [])}
    assert differing(whole, whole | {"a": ([("id",)], [])}) == ["a"]
    assert differing(whole, {"a": whole["a"]}) == ["b"]
    moved = "ANY (ARRAY[('queued'::character varying)::text])", "ANY ((ARRAY['queued'::character varying])::text[])"
    assert plain((moved[0],)) == plain((moved[1],)) != plain(("ANY ((ARRAY['done'::character varying])::text[])",))
