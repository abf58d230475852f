"""On real databases: statements that change or reach out are refused, those that read run (T10)."""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest

from tests.databases import database
from tests.toolsupport.sources.disguised import BOMBS, DISGUISED
from tests.toolsupport.sources.hostile import ORDINARY, STATEMENTS, hostile
from tests.toolsupport.sources.ordinary import MORE
from toolsupport.sources import files, postgresql, query_process, sqlite, worker
from toolsupport.sources.types import DatabaseSource, SourceError

ROWS = [(1, "2026-01-05", 12.5, "Anna"), (2, "2026-01-20", 30.0, "Ben"), (3, "2026-02-02", 7.25, "Anna")]
CREATE = "CREATE TABLE orders (id INTEGER, day TEXT, amount NUMERIC(10, 2), customer TEXT)"
KINDS = ("sqlite", "files", "postgresql")
# Functions as owners of databases have them.
OWN = (
    "CREATE FUNCTION own_volatile() RETURNS int LANGUAGE sql AS 'SELECT 1'",
    "CREATE FUNCTION own_text_query(q text) RETURNS text STABLE LANGUAGE plpgsql AS "
    "$$ DECLARE r text; BEGIN EXECUTE q INTO r; RETURN r; END $$",
    "CREATE FUNCTION own_immutable(a int) RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT a + 1'",
    "CREATE FUNCTION own_step(a int, b int) RETURNS int LANGUAGE sql AS 'SELECT a + b'",
    "CREATE AGGREGATE own_sum(int) (SFUNC = own_step, STYPE = int, INITCOND = '0')",
    "CREATE FUNCTION own_operator(a int, b int) RETURNS int LANGUAGE sql AS 'SELECT a'",
    "CREATE OPERATOR |##| (FUNCTION = own_operator, LEFTARG = int, RIGHTARG = int)",
    "CREATE TYPE own_type AS (a int)",
    "CREATE FUNCTION own_cast(a int) RETURNS own_type LANGUAGE sql AS 'SELECT ROW(a)::own_type'",
    "CREATE CAST (int AS own_type) WITH FUNCTION own_cast(int)",
)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("sources")


@pytest.fixture(scope="module")
def reader() -> Iterator[str]:
    """The address of a database of PostgreSQL for a role that can only read."""
    with database() as address, psycopg.connect(address, autocommit=True) as owner:
        name = f"reader_{os.getpid()}"
        owner.execute(CREATE)
        with owner.cursor() as cursor:
            cursor.executemany("INSERT INTO orders VALUES (%s, %s, %s, %s)", ROWS)
        owner.execute("COMMENT ON TABLE orders IS 'What was sold'")
        owner.execute("CREATE SEQUENCE numbers")
        for statement in OWN:
            owner.execute(statement)
        owner.execute("REVOKE CREATE ON SCHEMA public FROM PUBLIC")
        owner.execute(f"CREATE ROLE {name} LOGIN PASSWORD 'reads'")
        owner.execute(f"GRANT SELECT ON orders TO {name}")
        url = urlsplit(address)
        yield url._replace(netloc=f"{name}:reads@{url.netloc.rpartition('@')[2]}").geturl()
        owner.execute(f"DROP OWNED BY {name}")
        owner.execute(f"DROP ROLE {name}")


@pytest.fixture(params=KINDS)
def source(request: pytest.FixtureRequest, place: Path) -> DatabaseSource:
    if request.param == "postgresql":
        return DatabaseSource("postgresql", request.getfixturevalue("reader"))
    if request.param == "sqlite":
        return DatabaseSource("sqlite", str(sqlite_file(place / "orders.db")))
    (place / "files").mkdir(exist_ok=True)
    lines = ["id,day,amount,customer", *(",".join(map(str, row)) for row in ROWS)]
    (place / "files" / "orders.csv").write_text("\n".join(lines))
    return DatabaseSource("files", str(place / "files"))


def sqlite_file(path: Path) -> Path:
    if not path.exists():
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute(CREATE)
            connection.executemany("INSERT INTO orders VALUES (?, ?, ?, ?)", ROWS)
    return path


def asked(source: DatabaseSource, query: str) -> dict[str, object]:
    question = {"kind": source.kind, "location": source.location, "forbidden": source.forbidden}
    return worker.answered(question | {"task": "run", "query": query})


def state(source: DatabaseSource) -> object:
    """What must stay as it is."""
    if source.kind == "postgresql":
        return asked(source, "SELECT * FROM orders"), asked(source, "SELECT COUNT(*) FROM pg_class")
    return {
        str(path): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in Path(source.location).parent.rglob("*")
        if path.is_file()
    }


@pytest.mark.parametrize("kind", KINDS)
def test_there_are_many_hostile_statements(kind: str) -> None:
    assert len(set(hostile(kind))) >= 150 and len(set(DISGUISED[kind])) >= 58
    assert len({*ORDINARY[kind], *MORE[kind]}) >= 40


def test_hostile_statements_are_refused(source: DatabaseSource) -> None:  # T10
    before = state(source)
    ran = [query for query in (*hostile(source.kind), *DISGUISED[source.kind]) if "error" not in asked(source, query)]
    assert ran == [] and state(source) == before


def test_the_database_refuses_them_by_itself(source: DatabaseSource) -> None:  # T10
    """Without the guard before it: what runs changes nothing and gives nothing away."""
    before, engine = state(source), worker.engine(source.kind)
    ran = []
    for query in STATEMENTS[source.kind]:
        try:
            ran.append((query, engine.query(source, query).rows))
        except Exception:
            continue
    assert set(query for query, _ in ran) <= HARMLESS and state(source) == before


# What a database lets pass that changes nothing that stays: there is no index, and each connection is closed at once.
HARMLESS = {
    "REINDEX",
    "SELECT lo_create(0)",
    "SELECT pg_advisory_lock(1)",
    "SELECT pg_notify('a', 'b')",
}


def test_ordinary_queries_run(source: DatabaseSource) -> None:  # T10
    queries = (*ORDINARY[source.kind], *MORE[source.kind])
    failed = {query: answer["error"] for query in queries if "error" in (answer := asked(source, query))}
    assert failed == {}


def test_plans_are_shown_and_nothing_runs(source: DatabaseSource) -> None:  # T10
    answer = asked(source, "/* why? */ explain SELECT * FROM orders WHERE id = 1;")["answer"]
    assert isinstance(answer, dict) and {"files": "id = 1"}.get(source.kind, "orders") in str(answer["rows"])


def test_errors_do_not_name_the_directory(place: Path) -> None:
    (place / "broken").mkdir()
    (place / "broken" / "bad.parquet").write_text("no such format")
    (place / "alias").symlink_to(place / "broken")
    answer = asked(DatabaseSource("files", str(place / "alias")), "SELECT * FROM bad")
    assert "bad.parquet" in str(answer["error"]) and str(place) not in str(answer["error"])


# T10, S1
@pytest.mark.nightly
@pytest.mark.asyncio
async def test_queries_without_an_end_are_ended(source: DatabaseSource) -> None:
    for query in BOMBS[source.kind]:
        with pytest.raises(SourceError):
            await query_process.query(source, query)


def test_the_tables_are_told(source: DatabaseSource) -> None:
    shapes = worker.look(source, "")
    orders = next(shape for shape in shapes if shape["name"] == "orders")
    assert [column["name"] for column in orders["columns"]] == ["id", "day", "amount", "customer"]
    assert source.kind != "postgresql" or orders["comment"] == "What was sold"


def test_rows_are_limited(source: DatabaseSource) -> None:
    crossed = " CROSS JOIN ".join(f"orders o{number}" for number in range(8))
    answer = asked(source, f"SELECT o0.id FROM {crossed}")["answer"]
    assert isinstance(answer, dict) and len(answer["rows"]) == 1000 and answer["more"]


def test_large_cells_are_limited(source: DatabaseSource) -> None:
    answer = asked(source, f"SELECT '{'x' * 15_000}' AS a")["answer"]
    assert isinstance(answer, dict) and len(answer["rows"][0][0]) == 10_000


def test_our_own_database_is_never_a_source(place: Path, request: pytest.FixtureRequest) -> None:
    path = sqlite_file(place / "own.db")
    alias = place / "alias.db"
    alias.symlink_to(path)
    with pytest.raises(SourceError, match="itself"):
        sqlite.query(DatabaseSource("sqlite", str(alias), sqlite.identity(str(path))), "SELECT 1")


def test_our_own_server_is_never_a_source(reader: str) -> None:
    with psycopg.connect(reader) as connection:
        row = connection.execute(postgresql.IDENTITY).fetchone()
    assert row is not None
    with pytest.raises(SourceError, match="itself"):
        postgresql.query(DatabaseSource("postgresql", reader, row[0]), "SELECT 1")


def test_roles_that_can_write_are_refused() -> None:  # T10
    with database() as address:
        with pytest.raises(SourceError, match="special powers"):
            postgresql.query(DatabaseSource("postgresql", address), "SELECT 1")
        with psycopg.connect(address, autocommit=True) as owner:
            name, url = f"writer_{os.getpid()}", urlsplit(address)
            owner.execute("REVOKE CREATE ON SCHEMA public FROM PUBLIC")
            owner.execute(CREATE)
            owner.execute(f"CREATE ROLE {name} LOGIN PASSWORD 'writes'")
            owner.execute(f"GRANT INSERT ON orders TO {name}")
            address = url._replace(netloc=f"{name}:writes@{url.netloc.rpartition('@')[2]}").geturl()
            with pytest.raises(SourceError, match="can change orders"):
                postgresql.query(DatabaseSource("postgresql", address), "SELECT 1")
            owner.execute(f"DROP OWNED BY {name}")
            owner.execute(f"DROP ROLE {name}")


# What an owner grants or has, and what is wrong with it.
TOO_MUCH = {
    "CREATE EXTENSION dblink": "the extension dblink",
    "CREATE EXTENSION postgres_fdw": "the extension postgres_fdw",
    "GRANT EXECUTE ON FUNCTION pg_read_file(text) TO {}": "the function pg_read_file",
    "GRANT EXECUTE ON FUNCTION pg_ls_dir(text) TO {}": "the function pg_ls_dir",
    "GRANT EXECUTE ON FUNCTION lo_import(text) TO {}": "the function lo_import",
    "GRANT pg_read_server_files TO {}": "belongs to pg_read_server_files",
    "GRANT pg_execute_server_program TO {}": "belongs to pg_execute_server_program",
    "GRANT pg_read_all_settings TO {}": "belongs to pg_read_all_settings",
    "GRANT UPDATE (amount) ON orders TO {}": "can change orders",
    "GRANT CREATE ON SCHEMA public TO {}": "can change the schema public",
    "CREATE FOREIGN DATA WRAPPER w; GRANT USAGE ON FOREIGN DATA WRAPPER w TO {}": "the foreign data wrapper w",
    "ALTER ROLE {} CREATEDB": "special powers",
}


def test_roles_that_reach_further_are_refused(reader: str) -> None:  # T10
    url, found = urlsplit(reader), {}
    with database() as address, psycopg.connect(address, autocommit=True) as owner:
        owner.execute("REVOKE CREATE ON SCHEMA public FROM PUBLIC")
        owner.execute(CREATE)
        location = url._replace(path=urlsplit(address).path).geturl()
        postgresql.query(DatabaseSource("postgresql", location), "SELECT 1")
        for grant in TOO_MUCH:
            owner.execute(grant.format(url.username).encode())
            with pytest.raises(SourceError) as refused:
                postgresql.shapes(DatabaseSource("postgresql", location))
            found[grant] = str(refused.value)
            owner.execute(undone(grant).format(url.username).encode())
    assert {grant: reason for grant, reason in found.items() if TOO_MUCH[grant] not in reason} == {}


# Views of the owner, who is a superuser here, and of functions with his rights; `ok_…` ones read as any view does.
VIEWS = {
    "passwords": "SELECT rolname, rolpassword FROM pg_authid",
    "within": "SELECT * FROM passwords",
    '"Of Users"': "SELECT passwd FROM pg_shadow",
    "others_queries": "SELECT query FROM pg_stat_activity",
    "settings": "SELECT setting FROM pg_settings",
    "of_a_file": "SELECT own_file() AS content",
    "of_a_liar": "SELECT own_liar() AS content",
    "waiting": "SELECT pg_sleep(0.1)::text AS waited",
    "addresses": "SELECT inet_server_addr() AS address",
    "changing": "SELECT own_volatile() AS changed",
    "ok_months": "SELECT date_trunc('month', day::date) AS month, sum(amount) AS total FROM orders GROUP BY 1",
    "ok_ranks": "SELECT *, rank() OVER (ORDER BY amount DESC) AS place, now() AS at FROM orders WHERE amount > 1",
    "ok_within": "SELECT m.*, upper(r.customer) AS name FROM ok_months m, ok_ranks r WHERE r.place IN (1, 2)",
    "ok_own": "SELECT own_immutable(id) AS id, own_stable() AS many FROM orders",
}
RIGHTS = "RETURNS text LANGUAGE sql SECURITY DEFINER AS $$ SELECT pg_read_file('PG_VERSION') $$"


def test_views_are_judged_by_what_they_read_and_call(reader: str) -> None:  # T10
    url = urlsplit(reader)
    with database() as address, psycopg.connect(address, autocommit=True) as owner:
        owner.execute("REVOKE CREATE ON SCHEMA public FROM PUBLIC")
        for statement in (CREATE, *OWN, f"CREATE FUNCTION own_file() {RIGHTS}", f"CREATE FUNCTION own_liar() {RIGHTS}"):
            owner.execute(statement.encode())
        owner.execute("ALTER FUNCTION own_liar() IMMUTABLE")
        owner.execute(
            "CREATE FUNCTION own_stable() RETURNS bigint STABLE LANGUAGE sql AS 'SELECT count(*) FROM orders'"
        )
        for name, text in VIEWS.items():
            owner.execute(f"CREATE VIEW {name} AS {text}".encode())
        owner.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO {url.username}".encode())
        source = DatabaseSource("postgresql", url._replace(path=urlsplit(address).path).geturl())
        ran = {name for name in VIEWS if "error" not in asked(source, f"SELECT * FROM {name}")}
        assert ran == {name for name in VIEWS if name.startswith("ok_")}
        assert "passwords does so" in str(asked(source, "SELECT count(*) FROM public.within, orders")["error"])
        assert "own_liar" in str(asked(source, "SELECT own_liar()")["error"])


def undone(grant: str) -> str:
    if grant.endswith("CREATEDB"):
        return "ALTER ROLE {} NOCREATEDB"
    if "WRAPPER" in grant:
        return "DROP FOREIGN DATA WRAPPER w CASCADE"
    return grant.replace("CREATE EXT", "DROP EXT").replace("GRANT", "REVOKE").replace(" TO {}", " FROM {}")


@pytest.mark.parametrize("location", ["/nowhere", "/etc", "/dev/null", "x\0y", ""])
def test_what_is_no_database_says_so(location: str) -> None:
    for kind in ("sqlite", "files"):
        answer = asked(DatabaseSource(kind, location), "SELECT 1")
        assert "error" in answer


def test_links_and_second_names_are_no_tables(place: Path) -> None:
    directory = place / "linked"
    directory.mkdir()
    (directory / "real.csv").write_text("a\n1\n")
    (directory / "link.csv").symlink_to("/etc/passwd")
    os.link(directory / "real.csv", place / "second.csv")
    with pytest.raises(SourceError, match="no CSV"):
        files.tables(DatabaseSource("files", str(directory)))
