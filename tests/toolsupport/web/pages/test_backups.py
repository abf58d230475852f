"""The page of backups: made, downloaded with the password, deleted, and each of it audited."""

from __future__ import annotations

import fcntl
import io
import shutil
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.conf import settings
from django.test import Client

from tests.factories import PASSWORD, UserFactory
from toolsupport.models import Audit
from toolsupport.services.backups import kept_backups, making

pytestmark = pytest.mark.django_db(transaction=True)
FOLDER = Path(settings.DATA_DIR) / "backups"


@pytest.fixture
def admin() -> Iterator[Client]:
    client = Client()
    client.force_login(UserFactory(role="admin"))
    forget_backups()
    yield client
    forget_backups()


def forget_backups() -> None:
    """Remove the backups of this process and the note about the last one: other tests leave one, too."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    (FOLDER.parent / making.LAST).unlink(missing_ok=True)


def content(answer: Any) -> bytes:
    async def read() -> bytes:
        return b"".join([piece async for piece in answer])

    data = async_to_sync(read)()
    answer.close()
    return data


def test_an_administrator_makes_downloads_and_deletes_a_backup(admin: Client) -> None:  # P3
    assert "No backup yet" in admin.get("/backup/").content.decode()
    made = admin.post("/backup/make/", follow=True).content.decode()
    [backup] = kept_backups.listed()
    assert f"Made {backup.name}" in made and "Last backup" in made and backup.size > 10_000
    assert (FOLDER / backup.name).stat().st_mode & 0o777 == 0o600
    wrong = admin.post(f"/backup/{backup.name}/download/", {"password": "wrong"})
    assert wrong.status_code == 422 and "The password is wrong." in wrong.content.decode()
    sent = admin.post(f"/backup/{backup.name}/download/", {"password": PASSWORD})
    with tarfile.open(fileobj=io.BytesIO(content(sent))) as tar:
        assert "manifest.json" in tar.getnames()
    assert sent.headers["Cache-Control"] == "no-store" and backup.name in sent.headers["Content-Disposition"]
    deleted = admin.post(f"/backup/{backup.name}/delete/", follow=True)
    assert "Deleted" in deleted.content.decode() and deleted.redirect_chain == [("/backup/", 302)]
    assert kept_backups.listed() == ()
    deeds = list(Audit.objects.order_by("id").values_list("deed", "subject"))
    assert deeds == [(deed, backup.name) for deed in ("make_backup", "download_backup", "delete_backup")]


@pytest.mark.parametrize(
    "name",
    ["site-20261103-120000.tar", "site-20269903-120000.tar", "..", "last_backup.json", "toolsupport.sqlite3"],
)
def test_what_is_no_backup_is_not_found(admin: Client, name: str) -> None:
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / "site-20269903-120000.tar").write_bytes(b"no time has this name")
    assert admin.get("/backup/").status_code == 200
    (FOLDER / "site-20261103-120000.tar").symlink_to("/etc/passwd")
    for deed in ("download", "delete"):
        assert admin.post(f"/backup/{name}/{deed}/", {"password": PASSWORD}).status_code == 404


# S3: such files are as large as an archive and hold every key.
def test_what_interrupted_backups_left_is_removed_by_the_next_one(admin: Client) -> None:
    FOLDER.mkdir(exist_ok=True)
    old, other = (FOLDER / f"site-20261103-12000{n}.tar{making.UNFINISHED}" for n in (1, 2))
    for end in ("", "-database", "-database-wal", "-database-journal"):
        old.with_name(old.name + end).write_text("rows and keys")
    with other.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # another process writes it
        admin.post("/backup/make/")
        [backup] = kept_backups.listed()
        assert {path.name for path in FOLDER.iterdir()} == {backup.name, other.name}


def test_a_backup_that_fails_is_a_sentence(admin: Client) -> None:
    FOLDER.write_text("in the way")
    try:
        answer = admin.post("/backup/make/")
        assert answer.status_code == 502 and "No backup was made" in answer.content.decode()
    finally:
        FOLDER.unlink()


def test_passwords_are_not_guessed_here(admin: Client) -> None:
    admin.post("/backup/make/")
    [backup] = kept_backups.listed()
    texts = [admin.post(f"/backup/{backup.name}/download/", {"password": "x"}).content.decode() for _ in range(12)]
    assert "The password is wrong." in texts[0] and "The password is wrong." not in texts[-1]
    assert admin.post(f"/backup/{backup.name}/download/", {"password": PASSWORD}).status_code == 422
    assert making.last()
