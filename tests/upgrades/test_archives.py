"""Sites of earlier states are brought to today's: every row is kept, every page opens, and a backup brings it back."""

from __future__ import annotations

import gzip
import re
import uuid
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.apps import apps
from django.urls import get_resolver, reverse

from tests import databases
from tests.databases import ENGINES
from tests.serving import Site, sign_in
from tests.test_permissions import Address, addresses
from tests.upgrades import archives
from tests.upgrades.archives import HERE, Row, empty_site

ARCHIVES = sorted(HERE.glob("*.sql.gz"))

# What later migrations take away on purpose: tables, and columns as table.column.
REMOVED_TABLES = {"toolsupport_standing": "derived from overrides, profiles and defaults; nobody wrote it"}
REMOVED_COLUMNS = {
    "toolsupport_historyentry.facet_id": "numbers were given anew: they stand for the depth of an entry as well",
    "toolsupport_historyentry.source": "entries of tests had none, and have that of their findings",
}

# The row of the archive that stands for a parameter of an address.
PARAMETERS = {
    "conversation_id": "SELECT conversation_id FROM chat_message ORDER BY id",
    "question_id": "SELECT id FROM chat_question",
    "message_id": "SELECT message_id FROM chat_toolrun ORDER BY id",
    "turn_id": "SELECT turn_id FROM chat_toolrun ORDER BY id",
    "run_id": "SELECT run_id FROM chat_resulttable",
    "source_id": "SELECT id FROM toolsupport_sqlsource",
    "model_id": "SELECT id FROM toolsupport_modelprofile ORDER BY id",
    "profile_id": "SELECT profile_id FROM toolsupport_detection",
    "detection_id": "SELECT id FROM toolsupport_detection",
    "entry_id": "SELECT id FROM toolsupport_historyentry",
    "key_id": "SELECT id FROM toolsupport_apikey",
    "mcp_server_id": "SELECT id FROM toolsupport_mcpserver",
    "mcp_tool_id": "SELECT id FROM toolsupport_mcptool",
    "server_id": "SELECT id FROM toolsupport_server",
    "family_id": "SELECT id FROM toolsupport_family",
    "person_id": "SELECT id FROM auth_user ORDER BY id",
    "exam_id": "SELECT id FROM toolsupport_examrun WHERE status = 'done'",
    "case_id": 'SELECT "case" FROM toolsupport_examtrial',
    "team_exam_id": "SELECT id FROM toolsupport_teamexam",
    "team_case_id": "SELECT id FROM toolsupport_teamcase",
}
# Not opened: pages of files, which an archive of rows does not hold; of conversations that other people own; for
# people who are signed out; behind a link or a token of their own.
NOT_OPENED = {"call-picture", "conversation-image", "conversation-files-download"}
# Tables that are newer than the newest archive.
NOT_ARCHIVED: set[str] = set()
# Of another person: tests sign in without a second factor.
NOT_OPENED |= {"passkey-remove"}
# Of rows that archives before this one do not have.
EXAMS_SINCE = "2026-11-23"
LATER = {"exam_id", "case_id", "team_exam_id", "team_case_id"}
# Of a backup, which an archive of rows does not have.
NOT_OPENED |= {"backup-download", "backup-delete"}
NOT_OPENED |= {"shared-conversation", "others-conversation", "logout", "admin-sign-in", "setup", "join", "metrics"}
# Without a provider, and without the token of a link, there is nothing to open.
NOT_OPENED |= {"oidc", "oidc-callback", "sign-in-link", "sign-in-code"}

# PostgreSQL writes `status IN (…)` with casts in another place when its own text is loaded again, as an archive's is:
# ANY (ARRAY[('queued'::character varying)::text]) for ANY ((ARRAY['queued'::character varying])::text[]).
CASTS = re.compile(r"::(?:character varying|text)(?:\[\])?|[()]")


def engine_of(archive: Path) -> str:
    return archive.name.split(".")[1]


def parameter(site: Site, name: str) -> Any:
    if name == "ending":
        return "csv"
    value = site.rows(PARAMETERS[name])[0][0]
    return uuid.UUID(str(value)) if name == "conversation_id" else value


def pages(site: Site, *, later: bool) -> list[tuple[Address, str]]:
    """The addresses to open; `later`: the archive has the rows of all of them."""
    listed = [one for one in addresses(get_resolver().url_patterns) if one.name not in NOT_OPENED]
    listed = [one for one in listed if later or not LATER & set(one.parameters)]
    with databases.connected(site.environment["DATABASE_URL"]):
        return [(one, reverse(one.name, args=[parameter(site, name) for name in one.parameters])) for one in listed]


def kept(before: Row, after: Row, table: str) -> bool:
    gone = {name for name in before if f"{table}.{name}" in REMOVED_COLUMNS}
    return all(after.get(name) == value for name, value in before.items() if name not in gone)


def lost(before: dict[str, list[Row]], after: dict[str, list[Row]]) -> list[str]:
    """Rows of the archive that are not there, or not with the same values."""
    return [
        f"{table}: {row}"
        for table, rows in before.items()
        if table not in REMOVED_TABLES and table != "django_migrations"
        for row in rows
        if not any(kept(row, other, table) for other in after.get(table, []))
    ]


def failures(site: Site, client: httpx.Client, *, later: bool) -> list[str]:
    """What does not open. An address that takes no GET answers 405."""
    query = {"day": "2026-11-20", "q": ""}
    answers = {one.name: client.get(url, params=query) for one, url in pages(site, later=later)}
    opened = [name for name, answer in answers.items() if answer.status_code == 200]
    assert len(opened) >= 40, f"only {len(opened)} pages opened: {opened}"
    return [f"{name}: {answer.status_code}" for name, answer in answers.items() if answer.status_code not in (200, 405)]


def plain(rule: Any) -> Any:
    """A rule without casts and brackets, which decide nothing in conditions of one comparison."""
    return tuple(CASTS.sub("", part) if isinstance(part, str) else part for part in rule)


def plain_schema(site: Site) -> dict[str, Any]:
    return {
        table: (columns, [plain(rule) for rule in rules]) for table, (columns, rules) in archives.schema(site).items()
    }


def differing(one: dict[str, Any], other: dict[str, Any]) -> list[str]:
    return [table for table in sorted({*one, *other}) if one.get(table) != other.get(table)]


@dataclass(frozen=True)
class Upgraded:
    """A site of an archive, and the rows that it had before."""

    archive: Path
    site: Site
    before: dict[str, list[Row]]


# Both tests need the archive migrated, which is done once.
@pytest.fixture(
    scope="module", params=[one for one in ARCHIVES if engine_of(one) in ENGINES], ids=lambda file: file.name
)
def upgraded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Upgraded]:
    with empty_site(tmp_path_factory.mktemp("upgraded"), engine_of(request.param)) as site:
        archives.load(site, request.param)
        before = archives.contents(site)
        site.manage("migrate", "--verbosity", "0")
        yield Upgraded(request.param, site, before)


# P3
def test_an_archived_site_is_upgraded(upgraded: Upgraded) -> None:
    site, before = upgraded.site, upgraded.before
    assert [table for table, rows in before.items() if not rows] == []
    assert lost(before, archives.contents(site)) == []
    site.start()
    try:
        with closing(sign_in(site)) as ana:
            assert failures(site, ana, later=upgraded.archive.name >= EXAMS_SINCE) == []
    finally:
        site.kill(15)


# P3
def test_a_restored_archive_has_the_tables_of_the_migrated_one(upgraded: Upgraded, tmp_path: Path) -> None:
    with empty_site(tmp_path, engine_of(upgraded.archive)) as restored:
        upgraded.site.manage("backup", str(tmp_path / "site.tar"))
        restored.manage("restore", str(tmp_path / "site.tar"), "--yes")
        assert differing(plain_schema(upgraded.site), plain_schema(restored)) == []


def test_there_is_an_archive_for_both_kinds_of_database() -> None:
    assert {engine_of(archive) for archive in ARCHIVES} == {"sqlite", "postgresql"}


@pytest.mark.parametrize("engine", ["sqlite", "postgresql"])
def test_the_newest_archive_has_rows_of_every_table(engine: str) -> None:
    """Else the next migration could lose them unseen: fill a new table in archive_rows.py, and write an archive."""
    newest = max(archive for archive in ARCHIVES if engine_of(archive) == engine)
    filled = set(
        re.findall(r'^INSERT INTO (?:public\.)?"?(\w+)"?', gzip.decompress(newest.read_bytes()).decode(), re.M)
    )
    tables = {model._meta.db_table for model in apps.get_models(include_auto_created=True)}
    assert tables - filled == NOT_ARCHIVED


def test_a_lost_row_is_found() -> None:
    before = {"a": [{"id": 1, "text": "x"}, {"id": 2, "text": "y"}]}
    assert lost(before, before) == []
    assert lost(before, {"a": [{"id": 1, "text": "x", "new": 0}, {"id": 2, "text": "z"}]}) == [
        "a: {'id': 2, 'text': 'y'}"
    ]
    assert len(lost(before, {})) == 2


def test_a_table_without_an_index_is_found() -> None:
    whole = {"a": ([("id",)], [("i", "UNIQUE (b)")]), "b": ([], [])}
    assert differing(whole, whole | {"a": ([("id",)], [])}) == ["a"]
    assert differing(whole, {"a": whole["a"]}) == ["b"]
    moved = "ANY (ARRAY[('queued'::character varying)::text])", "ANY ((ARRAY['queued'::character varying])::text[])"
    assert plain((moved[0],)) == plain((moved[1],)) != plain(("ANY ((ARRAY['done'::character varying])::text[])",))
