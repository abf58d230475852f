"""The second factor changes only in a session that proved it: a stolen password is not enough."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import Settings

from tests.factories import PASSWORD
from tests.toolsupport.web.authenticator import Authenticator
from tests.toolsupport.web.pages.test_passkeys import Owner, add, after_password, browser_of, options, text
from tests.toolsupport.web.soft_passkey import ORIGIN, SoftPasskey
from toolsupport.models import Passkey, RecoveryCode, SecondFactor, SecurityEvent
from toolsupport.registry.factors import recovery_codes, second_factors
from toolsupport.registry.people import sign_in_limits
from toolsupport.web.authentication import factor_proof

pytestmark = pytest.mark.django_db
CHECK = "/account/second-factor/check/"
BEGIN = "/account/second-factor/check/passkey/begin/"
PASSWORDS = {f"{prefix}-password": PASSWORD for prefix in ("factor", "passkey", "recovery")}
# Each address that changes second factors, with what a person sends who has the password and nothing else.
CHANGES: dict[str, dict[str, str]] = {
    "/account/second-factor/": {},
    "/account/second-factor/confirm/": {"factor-code": "123456"},
    "/account/second-factor/remove/": {},
    "/account/passkeys/": {"answer": "{}"},
    "/account/passkeys/begin/": {"passkey-name": "Phone"},
    "/account/passkeys/{passkey}/remove/": {},
    "/account/recovery-codes/": {},
}


@pytest.fixture(autouse=True)
def _site(settings: Settings) -> None:
    settings.ORIGINS = [ORIGIN]
    settings.ALLOWED_HOSTS = ["localhost", "127.0.0.1"]


@pytest.fixture
def owner(alice: User) -> Owner:
    """Somebody with a passkey and an app, and a browser that was signed in some time ago."""
    browser, device = browser_of(alice), SoftPasskey()
    assert add(browser, device).status_code == 200
    page = text(browser.post("/account/second-factor/", {"factor-password": PASSWORD}))
    code = Authenticator(page).code()
    assert browser.post("/account/second-factor/confirm/", {"factor-code": code}).status_code == 200
    return Owner(alice, browser_of(alice), device)


def rows() -> list[Any]:
    kinds = (Passkey.objects, SecondFactor.objects, RecoveryCode.objects)
    return [sorted(rows.values_list("pk", flat=True)) for rows in kinds]


def send(browser: Client, path: str) -> Any:
    return browser.post(
        path.format(passkey=Passkey.objects.get(person__username="alice").pk), CHANGES[path] | PASSWORDS
    )


def closed(answer: Any) -> bool:
    if answer.status_code == 409:
        return bool(json.loads(answer.content)["error"] == factor_proof.FIRST)
    return bool(answer.headers.get("Location") == CHECK)


def prove(browser: Client, device: SoftPasskey) -> Any:
    return browser.post("/account/second-factor/check/passkey/", {"answer": device.proof(options(browser, BEGIN))})


def opened(browser: Client) -> bool:
    return bool(
        browser.get(f"/account/passkeys/{Passkey.objects.get(person__username='alice').pk}/remove/").status_code == 200
    )


def test_the_password_alone_changes_no_second_factor(owner: Owner) -> None:
    before = rows()
    assert {path for path in CHANGES if not closed(send(owner.browser, path))} == set()
    assert rows() == before and second_factors.active(owner.person.pk)
    page = text(owner.browser.get("/account/"))
    assert CHECK in page and "Remove authenticator app" not in page and "Replace recovery codes" not in page


def test_every_change_needs_the_password_besides(owner: Owner) -> None:
    assert prove(owner.browser, owner.device).headers["Location"] == "/account/#second-factor"
    before = rows()
    for path in CHANGES:
        answer = owner.browser.post(
            path.format(passkey=Passkey.objects.get(person__username="alice").pk), CHANGES[path]
        )
        assert answer.status_code in (404, 422), path
    assert rows() == before


def test_each_kind_of_proof_opens_the_changes(owner: Owner) -> None:
    code = recovery_codes.renew(owner.person)[0]
    with_code, with_passkey = browser_of(owner.person), browser_of(owner.person)
    assert "Use a passkey" in text(with_code.get(CHECK)) and not opened(with_code)
    assert with_code.post(CHECK, {"factor-code": code}).headers["Location"] == "/account/#second-factor"
    assert opened(with_code) and not opened(with_passkey)  # a proof is for its own session
    assert prove(with_passkey, owner.device).status_code == 302
    assert opened(with_passkey) and "Replace recovery codes" in text(with_passkey.get("/account/"))


def test_a_sign_in_is_no_proof(owner: Owner) -> None:
    browser = after_password()
    asked = options(browser, "/login/code/passkey/begin/")
    assert browser.post("/login/code/passkey/", {"answer": owner.device.proof(asked)}).status_code == 302
    assert not opened(browser)


def test_a_proof_ends(owner: Owner, monkeypatch: pytest.MonkeyPatch) -> None:
    prove(owner.browser, owner.device)
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + factor_proof.SECONDS + 1)
    assert not opened(owner.browser)
    monkeypatch.setattr(time, "time", lambda: now - 3600)  # a clock that was set back
    assert not opened(owner.browser)


def test_a_wrong_proof_opens_nothing_and_is_limited(owner: Owner, bob: User) -> None:
    device = SoftPasskey()
    add(browser_of(bob), device)
    asked = options(owner.browser, BEGIN)
    for answer in (device.proof(asked), "{}", ""):
        refused = owner.browser.post("/account/second-factor/check/passkey/", {"answer": answer})
        assert refused.status_code == 403
    for _ in range(sign_in_limits.PAIR - 3):
        assert owner.browser.post(CHECK, {"factor-code": "000000"}).status_code == 422
    assert owner.browser.post(CHECK, {"factor-code": "000000"}).status_code == 429
    assert prove(owner.browser, owner.device).status_code == 429
    assert SecurityEvent.objects.filter(kind="code_limited", person=owner.person).exists()
    assert not opened(owner.browser)


def test_a_challenge_of_a_sign_in_is_no_proof(owner: Owner) -> None:
    asked = options(owner.browser, "/login/passkey/begin/")
    answer = owner.device.proof(asked)
    assert owner.browser.post("/account/second-factor/check/passkey/", {"answer": answer}).status_code == 403
    asked = options(owner.browser, BEGIN)
    assert owner.browser.post("/login/passkey/", {"answer": owner.device.proof(asked)}).status_code == 403


def test_who_has_no_second_factor_is_not_asked(bob: User) -> None:
    browser = browser_of(bob)
    assert browser.get(CHECK).headers["Location"] == "/account/"
    assert browser.post(BEGIN).status_code == 409
    assert "Set up authenticator app" in text(browser.get("/account/"))
