"""Hostile forms for quotas, backups, people and second factors: refused in words, and nothing is lost."""

from __future__ import annotations

import json
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth import SESSION_KEY
from django.contrib.auth.models import Group, User
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from tests.factories import PASSWORD
from tests.tables import every
from tests.test_permissions import put_away
from tests.toolsupport.web.soft_passkey import ORIGIN
from toolsupport.core.errors import ConfigError
from toolsupport.core.quota_rules import FIELDS
from toolsupport.models import Audit, Passkey, QuotaLimit, RecoveryCode, SecondFactor
from toolsupport.registry.factors import recovery_codes
from toolsupport.registry.people import api_keys
from toolsupport.services.backups import kept_backups, making
from toolsupport.web.authentication import factor_proof

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("bare_pages")]
# Every form of these pages with its fields. {me}, {other}, {passkey}, {key} stand for ids.
FORMS: dict[str, tuple[str, ...]] = {
    "/quotas/save/": ("subject", *FIELDS),
    "/backup/{backup}/download/": ("password",),
    "/backup/{backup}/delete/": (),
    "/people/invite/": ("name", "role"),
    "/people/{other}/role/": ("role",),
    "/people/{other}/switch/": ("active",),
    "/people/{other}/second-factor/remove/": (),
    "/people/second-factor/": ("rule",),
    "/account/password/": ("old_password", "new_password1", "new_password2"),
    "/account/second-factor/": ("factor-password",),
    "/account/second-factor/check/": ("factor-code",),
    "/account/second-factor/check/passkey/": ("answer",),
    "/account/second-factor/confirm/": ("factor-code",),
    "/account/second-factor/remove/": ("factor-password",),
    "/account/passkeys/": ("answer", "passkey-name"),
    "/account/passkeys/begin/": ("passkey-name", "passkey-password"),
    "/account/passkeys/{passkey}/remove/": ("passkey-password",),
    "/account/recovery-codes/": ("recovery-password",),
    "/account/keys/": ("name", "expires", "requests_day", "tokens_month"),
    "/account/keys/{key}/revoke/": (),
    "/login/code/": ("factor-code",),
    "/login/passkey/": ("answer", "next"),
    "/login/code/passkey/": ("answer",),
}
VALUES = (
    *("", " ", "0", "-1", "-0", "1e9", "NaN", "Infinity", "1.5", "٣", "²", "１２", "9" * 30, "9" * 5000, "2147483648"),
    *("\0", "a\0b", "\u2028", "\u202e", "x" * 10_000, "é" * 10_000, "<script>alert(1)</script>", "' OR 1=1 --"),
    *("{}", "[]", "null", '{"id": 1}', '{"id": "x", "response": 3}', "[" * 9000, "../../etc/passwd", "%s%n", "0x10"),
    *("person:٣", "person:-1", "person:9" * 9, "key:0", "role:root", "person:1\0"),
)
# These do their work, or make something, with most values.
NO_FIELD_TO_REFUSE = ("/people/{other}/switch/", "/people/{other}/second-factor/remove/", "/people/invite/")
KINDS = (Passkey, SecondFactor, RecoveryCode, Group, QuotaLimit)


@pytest.fixture
def places(bob: User, alice: User, settings: Settings) -> Iterator[dict[str, Any]]:
    """An administrator with a passkey and recovery codes, a key and a backup; the ids of all."""
    settings.ORIGINS, settings.ALLOWED_HOSTS = [ORIGIN], ["localhost"]
    passkey = Passkey.objects.create(person=bob, name="Phone", site="localhost", credential="c", handle="h")
    recovery_codes.renew(bob)
    api_keys.create(bob.pk, "a program")
    name = "site-20200101-000000.tar"
    folder = Path(settings.DATA_DIR) / "backups"
    folder.mkdir(exist_ok=True)
    (folder / name).write_bytes(b"an archive")
    key = bob.api_keys.get().pk
    yield {
        "me": bob.pk,
        "other": alice.pk,
        "passkey": passkey.pk,
        "key": key,
        "backup": name,
        "data": settings.DATA_DIR,
    }
    (folder / name).unlink(missing_ok=True)


def browser(person: User | None, proved: bool = True, **words: Any) -> Client:
    client = Client(headers={"host": "localhost:8000"}, raise_request_exception=False, **words)
    if person:
        client.force_login(person)
        session = client.session
        session[factor_proof.KEY] = int(timezone.now().timestamp()) if proved else 0
        session.save()
    return client


def kept() -> list[object]:
    """What no refused form may change."""
    people = list(User.objects.order_by("pk").values_list("username", "is_active", "password", "groups__name"))
    return [people, *(kind.objects.count() for kind in KINDS)]


def statuses(client: Client, path: str, fields: tuple[str, ...]) -> Iterator[tuple[str, str, int]]:
    """What each hostile value in each field is answered with."""
    for field in fields:
        for value in VALUES:
            sent = dict.fromkeys(fields, "1") | {field: value}
            answer: Any = client.post(path, sent)
            put_away(answer)
            yield field, ascii(value[:30]), answer.status_code


def test_no_value_of_a_field_breaks_a_form_or_changes_anything(places: dict[str, Any], bob: User) -> None:
    client, before = browser(bob), kept()
    broken = []
    for path in (path for path in FORMS if path not in NO_FIELD_TO_REFUSE):
        found = statuses(client, path.format(**places), FORMS[path])
        broken += [(path, *one) for one in found if one[2] >= 500]
    assert broken == []
    after = kept()
    assert (after[0], after[1:4]) == (before[0], before[1:4])
    assert not QuotaLimit.objects.exists()


@every("path", NO_FIELD_TO_REFUSE)
def test_a_form_that_any_value_sends_breaks_with_none(path: str, places: dict[str, Any], bob: User) -> None:
    found = statuses(browser(bob), path.format(**places), FORMS[path])
    assert [one for one in found if one[2] >= 500] == []


BODIES: dict[str, tuple[str, bytes]] = {
    "JSON": ("application/json", b'{"subject": "role:user", "requests_day": 1, "active": "0", "role": "admin"}'),
    "text": ("text/plain", b"role=admin&active=0&rule=off"),
    "no type": ("", b"role=admin"),
    "a form without an end": (
        "multipart/form-data; boundary=x",
        b'--x\r\nContent-Disposition: form-data; name="role"\r\n',
    ),
    "a form without a boundary": ("multipart/form-data", b"role=admin"),
    "another encoding": ("application/x-www-form-urlencoded; charset=utf-7", b"role=+AGE-"),
    "bytes": ("application/x-www-form-urlencoded", b"role=%ff%fe&password=%80" + bytes(range(256))),
    "2,000 fields": ("application/x-www-form-urlencoded", b"&".join(b"a%d=1" % one for one in range(2000))),
}


@pytest.fixture
def signed_in(bob: User) -> Client:
    """One browser for a whole table: each sign-in takes as long as a request."""
    return browser(bob)


@every("path, kind", [(path, kind) for path in FORMS for kind in BODIES])
def test_no_other_kind_of_body_breaks_a_form(path: str, kind: str, places: dict[str, Any], signed_in: Client) -> None:
    content_type, body = BODIES[kind]
    answer: Any = signed_in.generic("POST", path.format(**places), body, content_type)
    put_away(answer)
    assert answer.status_code < 500 and SESSION_KEY in signed_in.session, "it was refused, and its browser stays"


@every("path", [path for path in FORMS if not path.startswith("/login/")])
def test_a_form_without_its_token_or_with_get_does_nothing(path: str, places: dict[str, Any], bob: User) -> None:
    before, url = kept(), path.format(**places)
    sent = dict.fromkeys(FORMS[path], PASSWORD)
    assert browser(bob, enforce_csrf_checks=True).post(url, sent).status_code == 403
    assert browser(bob).get(url, sent).status_code in (200, 405)
    assert kept() == before and (Path(places["data"]) / "backups" / places["backup"]).exists()


@every("path", [path for path in FORMS if "{" in path])
def test_things_of_others_and_of_nobody_are_not_found(
    path: str, places: dict[str, Any], bob: User, charlie: User
) -> None:
    absent = {"other": 2**63 - 1, "passkey": 2**31, "key": 0, "backup": "..%2F..%2Fsecret_key"}
    answer = browser(bob).post(path.format(**(places | absent)), dict.fromkeys(FORMS[path], PASSWORD))
    assert answer.status_code == 404
    before = kept()
    foreign = browser(charlie).post(path.format(**places), dict.fromkeys(FORMS[path], PASSWORD))
    assert foreign.status_code in (403, 404) and kept() == before


def test_numbers_too_large_for_a_path_are_not_found(bob: User) -> None:
    for name in ("person-link", "passkey-remove", "api-key-revoke"):
        assert browser(bob).post(reverse(name, args=[10**30])).status_code == 404


def test_a_form_that_is_sent_twice_counts_once(places: dict[str, Any], bob: User) -> None:
    client, path = browser(bob), f"/account/passkeys/{places['passkey']}/remove/"
    first, second = (client.post(path, {"passkey-password": PASSWORD}).status_code for _ in range(2))
    assert (first, second) == (302, 404) and Audit.objects.filter(deed="remove_second_factor").count() == 1
    role = {"subject": "role:user", "requests_day": "5"}
    assert [client.post("/quotas/save/", role).status_code for _ in range(2)] == [302, 302]
    assert QuotaLimit.objects.get().requests_day == 5
    assert [client.post("/people/invite/", {"name": "dora", "role": "user"}).status_code for _ in range(2)] == [
        200,
        200,
    ]
    assert User.objects.filter(username__iexact="dora").count() == 1
    paths = [f"/backup/{places['backup']}/delete/"] * 2
    assert [client.post(one).status_code for one in paths] == [302, 404]


def test_numbers_of_quotas_are_whole_and_within_limits(bob: User) -> None:
    client = browser(bob)
    for value in ("-1", "1.5", "1e3", "NaN", "2147483648", "9" * 30, "0x10"):
        answer = client.post("/quotas/save/", {"subject": "role:user", "requests_day": value})
        assert (answer.status_code, QuotaLimit.objects.exists()) == (422, False), value


@contextmanager
def full_disk(size: int) -> Iterator[None]:
    """No file of this process may grow beyond so many bytes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.django_db(transaction=True)
def test_a_backup_on_a_full_disk_is_refused_and_leaves_nothing(settings: Settings) -> None:
    folder = Path(settings.DATA_DIR) / "backups"
    before = sorted(folder.glob("*"))
    for size in (0, 700, 40_000):
        with full_disk(size), pytest.raises(ConfigError, match="No backup was made"):
            kept_backups.make()
    assert sorted(folder.glob("*")) == before


@pytest.mark.django_db(transaction=True)
def test_a_note_about_the_last_backup_may_be_anything(settings: Settings) -> None:
    note = Path(settings.DATA_DIR) / making.LAST
    for text in ("", "[]", "null", '{"at": 1, "file": 2}', json.dumps({"at": "2020-01-01", "file": "\0"}), "[" * 9999):
        note.write_text(text)
        admin = User.objects.create_superuser(f"admin{len(text)}")
        assert browser(admin).get("/backup/").status_code == 200
    note.unlink()
