"""Guesses are limited for every attacker and address, and lock no one else out (S7)."""

from __future__ import annotations

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier

import pytest
from django.contrib.auth import hashers
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.utils import timezone

from tests.factories import PASSWORD, UserFactory
from tests.tables import every
from toolsupport.core.errors import Busy
from toolsupport.models import SecurityEvent, SignInTally
from toolsupport.registry.people import accounts, sign_in_limits
from toolsupport.registry.people.sign_in_limits import (
    ADDRESS,
    NAME,
    PAIR,
    attempt,
    clear_expired,
    succeeded,
)

WRONG = {"username": "alice", "password": "wrong"}
RIGHT = {"username": "alice", "password": PASSWORD}


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> Callable[[timedelta], None]:
    """Move the clock on."""
    real, moved = timezone.now, [timedelta()]
    monkeypatch.setattr(timezone, "now", lambda: real() + moved[0])

    def move(by: timedelta) -> None:
        moved[0] += by

    return move


def _tried(name: str, address: str, device: str = "") -> bool:
    try:
        attempt(name, address, device)
    except Busy:
        return False
    return True


def _used_up(address: str, name: str = "alice") -> None:
    while _tried(name, address):
        pass


def _at(address: str) -> Client:
    return Client(REMOTE_ADDR=address)


# -- the attacker's table: guesses a day that reach a password ----------------------------------------------


def _in_a_day(sources: list[tuple[str, str, str]], later: Callable[[timedelta], None]) -> int:
    """Every source guesses as often as it may, until only the limits of a day are left."""
    through, idle = 0, 0
    while idle < 2:
        passed = 0
        for source in sources:
            while _tried(*source):
                passed += 1
        through, idle = through + passed, 0 if passed else idle + 1
        later(sign_in_limits.WINDOW)
    return through


def _names(number: int) -> list[str]:
    return [f"name{one}" for one in range(number)]


def _addresses(number: int) -> list[str]:
    return [f"198.51.100.{one}" for one in range(number)]


ATTACKERS = [
    ("one address, one name", [("alice", "198.51.100.1", "")], 40),
    ("one address, 100 names", [(name, "198.51.100.1", "") for name in _names(100)], 600),
    ("5 addresses, one name", [("alice", one, "") for one in _addresses(5)], 200),
    ("20 addresses, one name", [("alice", one, "") for one in _addresses(20)], 400),
    ("4 addresses, 4 names", [(name, one, "") for name in _names(4) for one in _addresses(4)], 640),
    ("16 addresses, 2 names", [(name, one, "") for name in _names(2) for one in _addresses(16)], 800),
    ("20 addresses of one IPv6 connection", [("alice", f"2001:db8::{one:x}", "") for one in range(20)], 40),
    ("IPv4 written as IPv6", [("alice", one, "") for one in ("198.51.100.1", "::ffff:198.51.100.1")], 40),
    ("spellings of a name", [(one, "a", "") for one in ("alice", "ALICE", " alice ", "ａｌｉｃｅ", "Ａlice")], 40),
    ("a stolen device cookie, 5 addresses", [("alice", one, "7") for one in _addresses(5)], 40),
]


@pytest.mark.django_db
@every("attacker, sources, most", ATTACKERS)
def test_guesses_of_a_day(later, attacker: str, sources: list[tuple[str, str, str]], most: int):
    SignInTally.objects.all().delete()
    assert _in_a_day(sources, later) == most, attacker


# -- nobody is locked out -------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_one_address_locks_nobody_out_elsewhere(client: Client, alice: User):
    pages = [client.post("/login/", WRONG) for _ in range(62)]
    assert [page.status_code for page in pages] == [200] * PAIR + [429] * (62 - PAIR)
    assert "Too many attempts" in pages[-1].content.decode() and "5 minutes" in pages[-1].content.decode()
    assert client.post("/login/", RIGHT).status_code == 429
    assert _at("192.0.2.9").post("/login/", RIGHT).status_code == 302


@pytest.mark.django_db
def test_a_known_device_passes_while_the_name_and_its_address_are_limited(alice: User):
    UserFactory(username="mallory")
    browser = _at("192.0.2.9")
    browser.post("/login/", RIGHT)
    browser.post("/logout/")
    for number in range(NAME // PAIR + 1):
        _used_up(f"198.51.100.{number}")
    for number in range(ADDRESS):  # a colleague behind the same address
        _tried(f"name{number}", "192.0.2.9")
    assert _at("203.0.113.1").post("/login/", RIGHT).status_code == 429
    assert _at("192.0.2.9").post("/login/", {"username": "mallory", "password": PASSWORD}).status_code == 429
    assert browser.post("/login/", RIGHT).status_code == 302
    browser.post("/logout/")
    # The device guesses no more than a stranger could, and only the own account.
    assert [browser.post("/login/", WRONG).status_code for _ in range(PAIR + 1)] == [200] * PAIR + [429]
    assert browser.post("/login/", {"username": "mallory", "password": PASSWORD}).status_code == 429


@pytest.mark.django_db
def test_a_password_is_changed_while_the_name_is_limited(client: Client, alice: User):
    client.force_login(alice)
    for number in range(NAME // PAIR + 1):
        _used_up(f"198.51.100.{number}")
    sent = {"old_password": PASSWORD, "new_password1": "vivid-Otter-lamp-92", "new_password2": "vivid-Otter-lamp-92"}
    assert client.post("/account/password/", sent).status_code == 302


@pytest.mark.django_db
def test_many_who_sign_in_from_one_address_are_not_limited(alice: User):
    for number in range(ADDRESS + 5):
        assert _tried(f"name{number}", "192.0.2.1")
        succeeded(f"name{number}", "192.0.2.1")
    assert not SignInTally.objects.filter(tries__gt=0).exists()


@pytest.mark.django_db
def test_the_window_ends(later):
    _used_up("a")
    later(sign_in_limits.WINDOW)
    assert _tried("alice", "a")
    later(sign_in_limits.DAY)
    clear_expired()
    assert not SignInTally.objects.exists()


# -- the known device ------------------------------------------------------------------------------------------


def _knows(browser: Client) -> bool:
    """Whether alice's name, limited for strangers, passes in this browser; signs out again."""
    for number in range(NAME // PAIR + 1):
        _used_up(f"198.51.100.{number}")
    status = browser.post("/login/", {"username": "alice", "password": PASSWORD}).status_code
    browser.post("/logout/")
    return status == 302


def _signed_in() -> Client:
    browser = _at("192.0.2.9")
    assert browser.post("/login/", RIGHT).status_code == 302
    return browser


@pytest.mark.django_db
def test_the_cookie_is_for_the_site_alone_and_changes_at_each_sign_in(settings, alice: User):
    browser = _signed_in()
    cookie = browser.cookies["device"]
    assert cookie["httponly"] and cookie["samesite"] == "Lax" and int(cookie["max-age"]) > 300 * 86400
    stolen = cookie.value
    browser.post("/logout/")
    browser.post("/login/", RIGHT)
    thief = _at("203.0.113.7")
    thief.cookies["device"] = stolen
    assert not _knows(thief)
    settings.SESSION_COOKIE_SECURE = True
    assert _at("192.0.2.10").post("/login/", RIGHT).status_code == 429  # `_knows` limited the name
    SignInTally.objects.all().delete()
    safe = _at("192.0.2.10")
    assert safe.post("/login/", RIGHT).cookies["device"]["secure"]


@pytest.mark.django_db
@every("forged", ["", "x", "token:1tRn2B:x", "a" * 5000, "é:ü:ß"])
def test_a_forged_cookie_is_no_device(alice: User, forged: str):
    browser = _at("203.0.113.7")
    browser.cookies["device"] = forged
    assert not _knows(browser)


def _new_password(browser: Client, alice: User) -> None:
    alice.set_password(PASSWORD)  # by a command, say: the same one again, with another salt
    alice.save()


def _sign_out_everywhere(browser: Client, alice: User) -> None:
    elsewhere = Client()
    elsewhere.force_login(alice)
    elsewhere.post("/account/sign-out-everywhere/")


def _deactivated(browser: Client, alice: User) -> None:
    admin = UserFactory(role="admin")
    accounts.set_active(admin.pk, alice.pk, False)
    accounts.set_active(admin.pk, alice.pk, True)


@pytest.mark.django_db
@every("revoke", [_new_password, _sign_out_everywhere, _deactivated])
def test_what_revokes_a_device(alice: User, revoke: Callable[[Client, User], None]):
    SignInTally.objects.all().delete()
    browser = _signed_in()
    assert _knows(browser)
    revoke(browser, alice)
    assert not _knows(browser)


@pytest.mark.django_db
def test_a_change_of_the_password_keeps_this_browser_and_no_other(alice: User):
    here, other = _signed_in(), _signed_in()
    new = "vivid-Otter-lamp-92"
    sent = {"old_password": PASSWORD, "new_password1": new, "new_password2": new}
    assert here.post("/account/password/", sent).status_code == 302
    for number in range(NAME // PAIR + 1):
        _used_up(f"198.51.100.{number}")
    for browser, status in ((here, 302), (other, 429)):
        browser.post("/logout/")
        assert browser.post("/login/", RIGHT | {"password": new}).status_code == status


@pytest.mark.django_db
def test_two_accounts_share_a_browser(alice: User):
    UserFactory(username="bert")
    browser = _signed_in()
    browser.post("/logout/")
    browser.post("/login/", {"username": "bert", "password": PASSWORD})
    browser.post("/logout/")
    assert _knows(browser)


# -- how it counts ----------------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_what_was_typed_is_not_kept(client: Client, alice: User):
    client.post("/login/", {"username": "hunter2-in-the-wrong-field", "password": "x"})
    kept = str([*SignInTally.objects.values(), *SecurityEvent.objects.values()])
    assert "hunter2" not in kept


@pytest.mark.django_db(transaction=True)
def test_those_who_come_at_once_are_all_counted():
    together = Barrier(8)

    def come(_: int) -> int:
        try:
            together.wait(10)
            return sum(_tried("alice", "a") for _ in range(4))
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(come, range(8))) == PAIR


@pytest.mark.django_db
def test_refused_attempts_make_no_rows():
    for number in range(ADDRESS * 3):
        _tried(f"name{number}", "a")
    assert SignInTally.objects.count() == 4 * ADDRESS + 2


@pytest.mark.django_db
def test_an_invented_forwarding_gives_no_fresh_tries(client: Client, settings, alice: User):
    for https, invented in ((False, "{}"), (True, "{}, 192.0.2.1")):
        settings.BEHIND_HTTPS = https
        answers = [
            client.post("/login/", WRONG, headers={"X-Forwarded-For": invented.format(f"10.0.0.{number}")})
            for number in range(PAIR + 1)
        ]
        assert answers[-1].status_code == 429
    stranger = _at("198.51.100.7")  # reaches the site past its proxy
    sent = [stranger.post("/login/", WRONG, headers={"X-Forwarded-For": f"9.9.9.{one}"}) for one in range(PAIR + 1)]
    assert sent[-1].status_code == 429


@pytest.mark.django_db
def test_every_wrong_name_costs_one_password_hash_and_reads_the_same(monkeypatch, alice: User):
    UserFactory(username="gone", is_active=False)
    accounts.invite("invited", "user")
    hashed, encode = [], hashers.MD5PasswordHasher.encode

    def counted(self, password: str, salt: str) -> str:
        hashed.append(password)
        return encode(self, password, salt)

    monkeypatch.setattr(hashers.MD5PasswordHasher, "encode", counted)
    seen = set()
    for name in ("alice", "nobody", "gone", "invited", "аlice", "alice\u200b", "ALICE"):
        hashed.clear()
        answer = _at("192.0.2.1").post("/login/", {"username": name, "password": "wrong"})
        [error] = re.findall(r'<ul class="errorlist nonfield.*?</ul>', answer.content.decode(), re.S)
        seen.add((len(hashed), answer.status_code, error))
    assert len(seen) == 1 and {one[:2] for one in seen} == {(1, 200)}


@pytest.mark.django_db
def test_the_administration_has_no_door_of_its_own(client: Client, alice: User):
    assert client.get("/admin/login/?next=/admin/auth/user/").headers["Location"] == "/login/?next=/admin/auth/user/"
    assert client.post("/admin/login/", {"username": "alice", "password": PASSWORD}).status_code == 405
    assert "_auth_user_id" not in client.session


@every(
    "seconds, spoken",
    [(1, "1 minute"), (61, "2 minutes"), (300, "5 minutes"), (5340, "89 minutes"), (86000, "24 hours")],
)
def test_the_wait_is_in_plain_units(seconds: int, spoken: str):
    assert sign_in_limits._spoken(seconds) == spoken
