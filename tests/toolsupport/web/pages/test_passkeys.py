"""Passkeys: added on the account page, used alone or after the password, and every forged answer refused."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import Settings

from tests.factories import PASSWORD
from tests.toolsupport.web.soft_passkey import ORIGIN, PRESENT, SoftPasskey, coded, decoded
from toolsupport.models import Audit, Passkey, RecoveryCode, SecurityEvent, Session
from toolsupport.registry.factors import passkeys, second_factors
from toolsupport.registry.people import accounts, sign_in_limits

pytestmark = pytest.mark.django_db
HOST = "localhost:8000"


@pytest.fixture(autouse=True)
def _site(settings: Settings) -> None:
    settings.ORIGINS = [ORIGIN]
    settings.ALLOWED_HOSTS = ["localhost", "127.0.0.1"]


def browser_of(person: User | None = None) -> Client:
    client = Client(headers={"host": HOST})
    if person:
        client.force_login(person)
    return client


def options(browser: Client, path: str, **sent: str) -> dict[str, Any]:
    answer = browser.post(path, sent)
    assert answer.status_code == 200, answer.content
    return dict(json.loads(answer.content))


def offered(browser: Client, name: str = "Phone") -> dict[str, Any]:
    return options(browser, "/account/passkeys/begin/", **{"passkey-name": name, "passkey-password": PASSWORD})


def add(browser: Client, device: SoftPasskey, name: str = "Phone") -> Any:
    return browser.post("/account/passkeys/", {"answer": device.made(offered(browser, name)), "passkey-name": name})


def enter(device: SoftPasskey, browser: Client | None = None, **sent: str) -> Any:
    browser = browser or browser_of()
    asked = options(browser, "/login/passkey/begin/")
    return browser.post("/login/passkey/", {"answer": device.proof(asked), **sent})


def after_password(name: str = "alice") -> Client:
    browser = browser_of()
    answer = browser.post("/login/", {"username": name, "password": PASSWORD})
    assert answer.headers["Location"] == "/login/code/"
    return browser


def step(device: SoftPasskey, browser: Client) -> Any:
    asked = options(browser, "/login/code/passkey/begin/")
    return browser.post("/login/code/passkey/", {"answer": device.proof(asked)})


def signed_in(browser: Client) -> bool:
    return bool(browser.get("/account/").status_code == 200)


def text(answer: Any) -> str:
    return str(answer.content.decode())


@dataclass
class Owner:
    """A person with a passkey, and the browser in which it was added."""

    person: User
    browser: Client
    device: SoftPasskey


@pytest.fixture
def owner(alice: User) -> Owner:
    browser, device = browser_of(alice), SoftPasskey()
    assert add(browser, device).status_code == 200
    return Owner(alice, browser, device)


def test_a_passkey_signs_in_alone(owner: Owner) -> None:  # P4
    browser = browser_of()
    browser.get("/login/")
    answer = enter(owner.device, browser, next="/models/?q=a")
    assert answer.headers["Location"] == "/models/?q=a" and signed_in(browser)
    assert browser.session["_auth_user_id"] == str(owner.person.pk)
    assert Passkey.objects.get().used_at and Passkey.objects.get().sign_count == 1
    assert enter(owner.device, next="https://evil.example/").headers["Location"] == "/"
    assert Audit.objects.filter(deed="add_second_factor", actor=owner.person).count() == 1


def test_the_first_passkey_gives_recovery_codes_and_ends_other_sessions(bob: User) -> None:
    here, elsewhere = browser_of(bob), browser_of(bob)
    page = text(add(here, SoftPasskey()))
    assert "Recovery codes" in page and "1 other browser was signed out" in page and RecoveryCode.objects.count() == 10
    assert signed_in(here) and not signed_in(elsewhere)
    second = text(add(here, SoftPasskey(), "Key in the safe"))
    assert "not shown again" not in second and "Key in the safe" in second and RecoveryCode.objects.count() == 10
    assert len(set(Passkey.objects.values_list("handle", flat=True))) == 1


def test_after_the_password_a_passkey_completes_the_sign_in(owner: Owner) -> None:
    browser = after_password()
    assert "Use a passkey" in text(browser.get("/login/code/")) and not signed_in(browser)
    owner.device.handle = None  # devices may leave it out where the keys are listed
    assert step(owner.device, browser).headers["Location"] == "/" and signed_in(browser)
    with_code = after_password()
    page = text(owner.browser.post("/account/recovery-codes/", {"recovery-password": PASSWORD}))
    code = page.partition('aria-label="Recovery codes">')[2].split()[0]
    assert with_code.post("/login/code/", {"factor-code": code}).status_code == 302 and signed_in(with_code)


def test_a_passkey_of_another_person_is_none_after_the_password(owner: Owner, bob: User) -> None:
    device = SoftPasskey()
    add(browser_of(bob), device)
    browser = after_password()
    assert step(device, browser).status_code == 403 and not signed_in(browser)
    assert SecurityEvent.objects.filter(kind="passkey_wrong", person=owner.person).exists()


Forgery = Callable[[SoftPasskey], None]
FORGERIES: dict[str, Forgery] = {
    "another origin": lambda device: setattr(device, "origin", "https://evil.example"),
    "another port": lambda device: setattr(device, "origin", "http://localhost:9000"),
    "another site": lambda device: setattr(device, "site", "evil.example"),
    "a person who was not verified": lambda device: setattr(device, "flags", PRESENT),
    "no person there": lambda device: setattr(device, "flags", 0),
    "another handle": lambda device: setattr(device, "handle", coded(b"x" * 32)),
    "no handle": lambda device: setattr(device, "handle", None),
    "another key": lambda device: setattr(device, "key", SoftPasskey().key),
    "an unknown id": lambda device: setattr(device, "id", b"unknown"),
}


@pytest.mark.parametrize("forged", sorted(FORGERIES))
def test_a_forged_proof_is_refused(owner: Owner, forged: str) -> None:
    FORGERIES[forged](owner.device)
    browser = browser_of()
    answer = enter(owner.device, browser)
    assert (answer.status_code, passkeys.WRONG in text(answer)) == (403, True) and not signed_in(browser)
    assert SecurityEvent.objects.filter(kind="passkey_wrong").exists()


@pytest.mark.parametrize(
    "forged", ["another origin", "another site", "a person who was not verified", "no person there"]
)
def test_a_forged_passkey_is_not_stored(alice: User, forged: str) -> None:
    device = SoftPasskey()
    FORGERIES[forged](device)
    assert add(browser_of(alice), device).status_code == 422 and not Passkey.objects.exists()


@pytest.mark.parametrize("part", ["clientDataJSON", "authenticatorData", "signature"])
def test_a_changed_byte_is_refused(owner: Owner, part: str) -> None:
    browser = browser_of()
    answer = json.loads(owner.device.proof(options(browser, "/login/passkey/begin/")))
    raw = bytearray(decoded(answer["response"][part]))
    raw[-3] ^= 1
    answer["response"][part] = coded(bytes(raw))
    assert browser.post("/login/passkey/", {"answer": json.dumps(answer)}).status_code == 403


def test_a_challenge_counts_once_in_its_browser_and_for_its_purpose(owner: Owner, bob: User) -> None:
    browser = browser_of()
    proof = owner.device.proof(options(browser, "/login/passkey/begin/"))
    cookie = browser.cookies["passkey"].value
    assert browser_of().post("/login/passkey/", {"answer": proof}).status_code == 403
    assert browser.post("/login/passkey/", {"answer": proof}).status_code == 302
    again = browser_of()
    again.cookies["passkey"] = cookie
    assert "sent twice" in text(again.post("/login/passkey/", {"answer": proof})) and not signed_in(again)
    other = browser_of(bob)
    mine = offered(other)
    assert other.post("/login/passkey/", {"answer": owner.device.proof(mine)}).status_code == 403
    stolen = owner.browser
    stolen.cookies["passkey"] = other.cookies["passkey"].value
    assert stolen.post("/account/passkeys/", {"answer": SoftPasskey().made(mine)}).status_code == 422


def test_a_challenge_ends(owner: Owner, monkeypatch: pytest.MonkeyPatch) -> None:
    browser = browser_of()
    proof = owner.device.proof(options(browser, "/login/passkey/begin/"))
    later = time.time() + passkeys.SECONDS + 1
    monkeypatch.setattr(time, "time", lambda: later)
    assert "took too long" in text(browser.post("/login/passkey/", {"answer": proof}))


@pytest.mark.parametrize("goes_to", [2, 4])  # back, or the same once more
def test_a_counter_that_does_not_go_up_is_refused(owner: Owner, goes_to: int) -> None:
    owner.device.counter = 4
    assert enter(owner.device).status_code == 302
    owner.device.counter = goes_to
    assert enter(owner.device).status_code == 403
    assert SecurityEvent.objects.get(kind="passkey_copied").person == owner.person


def test_a_device_without_a_counter_works_again_and_again(owner: Owner) -> None:
    for _ in range(2):
        owner.device.counter = -1
        assert enter(owner.device).status_code == 302


def test_who_is_kept_out_stays_out(owner: Owner, bob: User) -> None:
    User.objects.filter(pk=owner.person.pk).update(is_active=False)
    assert enter(owner.device).status_code == 403
    User.objects.update(is_active=True)
    assert enter(owner.device).status_code == 302
    accounts.new_link(bob.pk, owner.person.pk)  # removes the password
    assert enter(owner.device).status_code == 403


BROKEN = ["", "null", "[]", "{", '"x"', "{}", '{"id": 1}', '{"id": "x", "response": []}', "[" * 60_000, "a" * 20_000]
BROKEN += [
    '{"id": "\\ud800"}',
    '{"id": "\\u0000"}',
    '{"id": "%s"}' % ("x" * 15_000),
    '{"id": "\u0661"}',
    '{"id": 1e999}',
]


@pytest.mark.parametrize("number", range(len(BROKEN)))
def test_what_is_no_answer_is_refused(owner: Owner, number: int) -> None:
    browser = browser_of()
    options(browser, "/login/passkey/begin/")
    assert browser.post("/login/passkey/", {"answer": BROKEN[number]}).status_code == 403
    offered(owner.browser)
    assert owner.browser.post("/account/passkeys/", {"answer": BROKEN[number]}).status_code == 422


def test_bytes_that_are_no_attestation_are_refused(alice: User) -> None:
    browser, device = browser_of(alice), SoftPasskey()
    for broken in (b"", b"\x81" * 9000, b"\xbf" * 9000, b"\xa1\x63fmt\x64none", bytes(300)):
        answer = json.loads(device.made(offered(browser)))
        answer["response"]["attestationObject"] = coded(broken)
        assert browser.post("/account/passkeys/", {"answer": json.dumps(answer)}).status_code == 422


def test_wrong_answers_are_limited_by_address(owner: Owner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sign_in_limits, "ADDRESS", 2)
    statuses = [browser_of().post("/login/passkey/", {"answer": "{}"}).status_code for _ in range(3)]
    assert statuses == [403, 403, 429] and enter(owner.device).status_code == 302


def test_guesses_after_the_password_are_limited_by_name(owner: Owner) -> None:
    owner.device.origin = "https://evil.example"
    for _ in range(sign_in_limits.PAIR):
        assert step(owner.device, after_password()).status_code == 403
    owner.device.origin = ORIGIN
    assert step(owner.device, after_password()).status_code == 429
    assert SecurityEvent.objects.filter(kind="passkey_limited", person=owner.person).exists()


def test_the_password_comes_before_a_new_passkey(alice: User, bob: User) -> None:
    browser = browser_of(alice)
    wrong = browser.post("/account/passkeys/begin/", {"passkey-name": "Phone", "passkey-password": "wrong"})
    assert (wrong.status_code, json.loads(wrong.content)["error"]) == (422, "The password is wrong.")
    assert "passkey" not in browser.cookies
    device = SoftPasskey()
    add(browser, device)
    assert add(browser_of(bob), device).status_code == 422 and Passkey.objects.get().person == alice


def test_the_owner_removes_a_passkey_with_the_password(owner: Owner, bob: User, charlie: User) -> None:
    path = f"/account/passkeys/{Passkey.objects.get().pk}/remove/"
    assert "Phone" in text(owner.browser.get(path))
    assert owner.browser.post(path, {"passkey-password": "wrong"}).status_code == 422
    for other in (bob, charlie):
        assert browser_of(other).post(path, {"passkey-password": PASSWORD}).status_code == 404
    removed = owner.browser.post(path, {"passkey-password": PASSWORD}, follow=True)
    assert "Removed Phone" in text(removed) and removed.redirect_chain == [("/account/#second-factor", 302)]
    assert not second_factors.active(owner.person.pk) and not RecoveryCode.objects.exists()
    assert enter(owner.device).status_code == 403
    assert Audit.objects.latest("id").deed == "remove_second_factor"


def test_an_admin_resets_the_factors_of_another_person(owner: Owner, bob: User) -> None:
    path = f"/people/{owner.person.pk}/second-factor/remove/"
    assert browser_of(bob).post(path).status_code == 200
    assert not Passkey.objects.exists() and not RecoveryCode.objects.exists()
    assert Audit.objects.latest("id").actor == bob


def test_new_recovery_codes_void_the_old_ones(owner: Owner) -> None:
    old = set(RecoveryCode.objects.values_list("digest", flat=True))
    assert owner.browser.post("/account/recovery-codes/", {"recovery-password": "wrong"}).status_code == 422
    assert set(RecoveryCode.objects.values_list("digest", flat=True)) == old
    answer = owner.browser.post("/account/recovery-codes/", {"recovery-password": PASSWORD})
    assert "no-store" in answer.headers["Cache-Control"]
    assert not old & set(RecoveryCode.objects.values_list("digest", flat=True)) and RecoveryCode.objects.count() == 10
    assert "Recovery codes left: 10" in text(owner.browser.get("/account/"))


@pytest.mark.parametrize(
    ("host", "words"),
    [("127.0.0.1:8000", "IP address"), ("localhost:9000", "not among the origins"), ("site.lan", "need https")],
)
def test_an_address_that_cannot_have_passkeys_gives_the_reason(
    alice: User, settings: Settings, host: str, words: str
) -> None:
    settings.ALLOWED_HOSTS = ["*"]
    browser = browser_of(alice)
    page = text(browser.get("/account/", headers={"host": host}))
    assert words in page and f"Open this site at {ORIGIN}." in page and "data-passkey=" not in page
    assert "data-passkey=" not in text(Client(headers={"host": host}).get("/login/"))
    refused = Client(headers={"host": host}).post("/login/passkey/begin/")
    assert refused.status_code == 409 and words in json.loads(refused.content)["error"]


def test_a_site_without_passwords_has_no_passkeys(owner: Owner, settings: Settings) -> None:
    settings.ENV = settings.ENV | {"TOOLSUPPORT_PASSWORD_SIGN_IN": False}
    for path in ("/login/passkey/begin/", "/login/passkey/"):
        assert browser_of().post(path).status_code == 403
    assert Session.objects.filter(person=owner.person).count() == 1
