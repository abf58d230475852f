"""A second factor: set up on the account page, asked for behind the password, removed by its owner or an admin."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, field
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client
from django.utils.html import escape

from tests.factories import PASSWORD, UserFactory
from tests.toolsupport.registry.people.test_quotas import at_once
from tests.toolsupport.web.authenticator import Authenticator
from toolsupport.models import Audit, RecoveryCode, SecondFactor, SecurityEvent, Session
from toolsupport.registry.factors import second_factors
from toolsupport.registry.people import accounts, sign_in_limits

pytestmark = pytest.mark.django_db
RECOVERY = r"(?:[A-Z2-7]{6}-){3}[A-Z2-7]{6}"


@dataclass
class Clock:
    """The time of the whole process, which stands still between moves."""

    now: float = field(default_factory=time.time)

    def next_code(self) -> None:
        self.now += 30


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    found = Clock()
    monkeypatch.setattr(time, "time", lambda: found.now)
    return found


@dataclass
class Owner:
    """A person with an app, recovery codes, and the browser in which both were set up."""

    person: User
    browser: Client
    app: Authenticator
    recovery: list[str]


def text(answer: Any) -> str:
    return str(answer.content.decode())


def set_up(person: User) -> Owner:
    browser = Client()
    browser.force_login(person)
    app = Authenticator(text(browser.post("/account/second-factor/", {"factor-password": PASSWORD})))
    page = text(browser.post("/account/second-factor/confirm/", {"factor-code": app.code()}))
    return Owner(person, browser, app, re.findall(RECOVERY, page))


@pytest.fixture
def owner(alice: User, clock: Clock) -> Owner:
    made = set_up(alice)
    clock.next_code()
    return made


def entered(name: str = "alice", **fields: str) -> Client:
    """A fresh browser behind the password."""
    browser = Client()
    answer = browser.post("/login/", {"username": name, "password": PASSWORD, **fields})
    assert answer.headers["Location"] == "/login/code/"
    return browser


def give(browser: Client, code: str) -> Any:
    return browser.post("/login/code/", {"factor-code": code})


def signed_in(browser: Client) -> bool:
    return bool(browser.get("/account/").status_code == 200)


def events() -> list[str]:
    return sorted(SecurityEvent.objects.values_list("kind", flat=True))


def deeds() -> list[tuple[str, str | None]]:
    return list(Audit.objects.order_by("id").values_list("deed", "actor__username"))


def test_a_sign_in_needs_password_and_code(owner: Owner) -> None:  # P4
    assert len(set(owner.recovery)) == 10 and deeds() == [
        ("add_second_factor", "alice"),
        ("renew_recovery_codes", "alice"),
    ]
    browser = entered(next="/models/?q=a")
    assert not signed_in(browser) and "sessionid" not in browser.cookies
    page = text(browser.get("/login/code/"))
    assert "Enter a code" in page and " autofocus" in page
    assert give(browser, owner.app.code()).headers["Location"] == "/models/?q=a"
    assert signed_in(browser)
    assert browser.session["_auth_user_id"] == str(owner.person.pk)


def test_a_code_counts_once_and_no_older_one_after_it(owner: Owner, clock: Clock) -> None:
    ahead = owner.app.code(1)
    assert give(entered(), ahead).status_code == 302
    again = entered()
    for used in (ahead, owner.app.code()):
        assert "already used" in text(give(again, used))
    assert not signed_in(again) and events()[0] == "code_wrong"
    clock.now += 60
    assert give(again, owner.app.code()).status_code == 302


def test_of_two_processes_one_accepts_a_code(owner: Owner, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both have read the row before either of them writes."""
    read = SecondFactor.objects.get()
    monkeypatch.setattr(second_factors, "_of", lambda person_id: read)
    code = owner.app.code()
    assert [second_factors.accepts(owner.person, code) for _ in range(2)] == [True, False]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("recovery", [False, True])
def test_of_six_requests_at_once_one_uses_a_code_up(clock: Clock, recovery: bool) -> None:  # P4
    owner = set_up(UserFactory(role="user"))
    clock.next_code()
    code = owner.recovery[0] if recovery else owner.app.code()
    assert at_once(lambda: second_factors.accepts(owner.person, code), 6).count(True) == 1


def test_a_recovery_code_counts_once(owner: Owner) -> None:
    first, second = owner.recovery[:2]
    assert give(entered(), first).status_code == 302
    again = entered()
    assert "This code is wrong" in text(give(again, first))
    assert give(again, second.replace("-", " ").lower()).status_code == 302
    assert deeds()[2:] == [("use_recovery_code", "alice")] * 2
    assert "Recovery codes left: 8" in text(again.get("/account/"))
    stored = "".join(RecoveryCode.objects.values_list("digest", flat=True))
    assert not any(one.replace("-", "") in stored for one in owner.recovery)


def test_guesses_are_limited_and_the_password_resets_nothing(owner: Owner) -> None:
    for _ in range(sign_in_limits.PAIR):
        assert give(entered(), "000000").status_code == 200
    answer = give(entered(), owner.app.code())
    assert (answer.status_code, "Too many attempts" in text(answer)) == (429, True)
    assert {"code_wrong", "code_limited"} <= set(events())
    assert signed_in(owner.browser)


def test_between_the_steps_the_password_must_stay(owner: Owner, clock: Clock) -> None:
    late, changed, out = entered(), entered(), entered()
    forged = Client()
    forged.cookies["second_step"] = f'{{"person": {owner.person.pk}}}:x:y'
    assert give(forged, owner.app.code()).headers["Location"] == "/login/"
    owner.person.set_password("another long passphrase")
    owner.person.save()
    assert give(changed, owner.app.code()).headers["Location"] == "/login/"
    owner.person.set_password(PASSWORD)
    owner.person.is_active = False
    owner.person.save()
    assert give(out, owner.app.code()).headers["Location"] == "/login/"
    User.objects.update(is_active=True)
    clock.now += 601
    assert give(late, owner.app.code()).headers["Location"] == "/login/"


def test_a_set_up_needs_the_password_and_a_code(bob: User, clock: Clock) -> None:
    here, elsewhere = Client(), Client()
    for browser in (here, elsewhere):
        browser.force_login(bob)
    wrong = here.post("/account/second-factor/", {"factor-password": "wrong"})
    assert (wrong.status_code, "otpauth" in text(wrong)) == (422, False)
    page = text(here.post("/account/second-factor/", {"factor-password": PASSWORD}))
    app = Authenticator(page)
    assert "otpauth" not in text(here.get("/account/")) and not second_factors.active(bob.pk)
    refused = here.post("/account/second-factor/confirm/", {"factor-code": "12345"})
    assert refused.status_code == 422 and "otpauth" not in text(refused)
    assert Client().post("/login/", {"username": "bob", "password": PASSWORD}).headers["Location"] == "/"
    done = here.post("/account/second-factor/confirm/", {"factor-code": app.code()})
    assert "no-store" in done.headers["Cache-Control"] and len(re.findall(RECOVERY, text(done))) == 10
    assert not re.findall(RECOVERY, text(here.get("/account/")))
    assert Session.objects.filter(person=bob).count() == 1 and signed_in(here) and not signed_in(elsewhere)
    assert here.post("/account/second-factor/", {"factor-password": PASSWORD}).status_code == 409


def test_the_owner_removes_it_with_password_and_code(owner: Owner) -> None:
    browser = Client()
    browser.force_login(owner.person)
    sent = {"factor-password": PASSWORD}
    assert browser.post("/account/second-factor/remove/", sent).headers["Location"] == "/account/second-factor/check/"
    assert browser.post("/account/second-factor/check/", {"factor-code": "000000"}).status_code == 422
    assert browser.post("/account/second-factor/check/", {"factor-code": owner.app.code()}).status_code == 302
    assert browser.post("/account/second-factor/remove/", {"factor-password": "wrong"}).status_code == 422
    assert second_factors.active(owner.person.pk)
    page = browser.post("/account/second-factor/remove/", sent, follow=True)
    assert "password alone signs you in" in text(page) and not RecoveryCode.objects.exists()
    assert deeds()[-1] == ("remove_second_factor", "alice")
    assert Client().post("/login/", {"username": "alice", "password": PASSWORD}).headers["Location"] == "/"


def test_an_admin_removes_that_of_another_person(owner: Owner, bob: User, charlie: User) -> None:
    path = f"/people/{owner.person.pk}/second-factor/remove/"
    for other, status in ((charlie, 403), (owner.person, 403), (bob, 200)):
        assert second_factors.active(owner.person.pk)
        browser = Client()
        browser.force_login(other)
        assert browser.post(path).status_code == status
    assert not second_factors.active(owner.person.pk) and deeds()[-1] == ("remove_second_factor", "bob")
    assert browser.post(f"/people/{bob.pk}/second-factor/remove/").status_code == 403


def test_the_last_admin_gets_in_from_the_machine(bob: User, clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    set_up(bob)
    browser = Client()
    for option in ([], ["--remove-second-factor"]):
        assert second_factors.active(bob.pk)
        call_command("sign_in_link", "bob", "--url=http://testserver", *option)
        token = capsys.readouterr().out.strip().partition("token=")[2]
        clock.now += 1
        assert browser.post("/login/link/", {"token": token}).headers["Location"] == "/"
        assert signed_in(browser)
    assert not second_factors.active(bob.pk) and deeds()[-1] == ("remove_second_factor", None)


def test_a_new_password_by_a_link_does_not_replace_the_code(owner: Owner, bob: User) -> None:
    token = accounts.new_link(bob.pk, owner.person.pk).token
    browser = Client()
    given = {"token": token, "password": "correct horse battery", "again": "correct horse battery"}
    assert browser.post("/join/", given).headers["Location"] == "/login/code/"
    assert not signed_in(browser)
    assert give(browser, owner.app.code()).headers["Location"] == "/start/"


def test_a_key_that_cannot_be_read_leaves_the_recovery_codes(owner: Owner) -> None:
    SecondFactor.objects.update(key="lost for ever")
    browser = entered()
    assert escape(second_factors.UNREADABLE) in text(give(browser, owner.app.code()))
    assert give(browser, owner.recovery[0]).status_code == 302


def test_who_signs_in_elsewhere_has_no_such_section(charlie: User, client: Client) -> None:
    charlie.set_unusable_password()
    charlie.save()
    client.force_login(charlie)
    assert "Second factor" not in text(client.get("/account/"))
