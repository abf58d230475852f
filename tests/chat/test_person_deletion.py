"""A person is deleted while an answer runs: no row and no file of the site has the person's words afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from tests import databases
from tests.chat.test_end_to_end import choose
from tests.many_users import browser, crowd
from tests.serving import Site, page, serving, sign_in

CANARY = "kingfisher-71"


@pytest.fixture(params=["postgresql", "sqlite"])
def fresh(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Site]:
    environment = {"DATABASE_URL": f"sqlite:///{tmp_path / 'toolsupport.sqlite3'}"}
    if request.param == "sqlite":
        with serving(tmp_path, **environment) as site:
            yield site
        return
    with databases.database(databases.migrated()) as address, serving(tmp_path, DATABASE_URL=address) as site:
        yield site


def files_with(site: Site, *words: str) -> list[str]:
    files = [path for path in site.directory.rglob("*") if path.is_file() and "static" not in path.parts]
    return [path.name for path in files if any(word.encode() in path.read_bytes() for word in words)]


# P8
@pytest.mark.asyncio
async def test_a_person_is_deleted_during_an_answer(fresh: Site) -> None:
    [person] = crowd(fresh, 1)
    name = str(person["name"])
    with closing(browser(fresh, person)) as own, closing(sign_in(fresh)) as ana:
        async with page(fresh, own, person["conversation"]) as open_page:
            await choose(open_page, "sim-long:latest")
            await open_page.send("message.send", text=f"Tell me a long story about {CANARY}")
            await open_page.until("text.delta")
            assert fresh.rows("SELECT status FROM chat_turn") == [("running",)]
            deleted = await delete(ana, fresh, int(person["id"]), name)
            assert deleted.status_code == 302, deleted.text
    assert fresh.rows("SELECT count(*) FROM chat_message") == [(0,)]
    assert fresh.rows("SELECT username FROM auth_user WHERE username <> 'ana'") == [(f"deleted person {person['id']}",)]
    assert "ERROR" not in (fresh.directory / "serve.log").read_text()
    assert files_with(fresh, CANARY, name) == []


async def delete(ana: httpx.Client, site: Site, person: int, name: str) -> httpx.Response:
    fields = {"name": name}
    headers = {"X-CSRFToken": ana.cookies["csrftoken"]}
    async with httpx.AsyncClient(base_url=site.url, cookies=ana.cookies, timeout=60) as client:
        return await client.post(f"/people/{person}/delete/", data=fields, headers=headers)
