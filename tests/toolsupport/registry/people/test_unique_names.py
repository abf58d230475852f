"""Requests that make the same account at one moment: one makes it, and the others find it or are refused in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Barrier

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import connection

from tests.factories import PASSWORD, UserFactory
from toolsupport.core.errors import NotAllowed, ToolsupportError
from toolsupport.models import ExternalIdentity
from toolsupport.registry.factors import recovery_codes
from toolsupport.registry.people import accounts, api_keys, first_admin, identities
from toolsupport.registry.people.identities import VouchedIdentity

SIX = 6


def at_once(work: Callable[[int], object]) -> Counter[object]:
    """What comes of six calls that begin together; a refusal counts as the name of its class."""
    together = Barrier(SIX)

    def run(number: int) -> object:
        try:
            together.wait(10)
            return work(number)
        except ToolsupportError as error:
            return type(error).__name__
        finally:
            connection.close()

    with ThreadPoolExecutor(SIX) as pool:
        return Counter(pool.map(run, range(SIX)))


def of_provider(subject: str) -> str:
    return identities.signed_in(VouchedIdentity("https://idp.example", subject, "erin", "user")).username


@pytest.mark.django_db(transaction=True)
def test_one_account_for_all_first_requests_of_a_person() -> None:  # P4
    assert at_once(lambda _: identities.of_header("dora").username) == {"dora": SIX}
    assert at_once(lambda _: of_provider("one")) == {"erin": SIX}
    assert ExternalIdentity.objects.filter(person__username="erin").count() == 1


@pytest.mark.django_db(transaction=True)
def test_of_several_people_with_one_name_one_gets_it() -> None:  # P4
    assert at_once(lambda number: of_provider(f"s{number}")) == {"erin": 1, "NotAllowed": SIX - 1}
    made = at_once(lambda number: bool(accounts.invite("frank" if number % 2 else "Frank", "user")))
    assert made == {True: 1, "ConfigError": SIX - 1}
    assert User.objects.filter(username__iexact="frank").count() == 1


@pytest.mark.django_db(transaction=True)
def test_limits_and_first_codes_hold_at_once() -> None:
    person = UserFactory()
    for number in range(api_keys.MOST - 2):
        api_keys.create(person.pk, f"key {number}")
    assert at_once(lambda number: bool(api_keys.create(person.pk, f"late {number}"))) == {True: 2, "Busy": SIX - 2}
    assert at_once(lambda _: len(recovery_codes.first(person))) == {recovery_codes.HOW_MANY: 1, 0: SIX - 1}


@pytest.mark.django_db
def test_an_administrator_gets_no_name_that_differs_in_case_only(bob: User) -> None:
    with pytest.raises(ValidationError, match="already exists"):
        first_admin.add_admin("BOB", PASSWORD)
    User.objects.update(is_active=False)
    assert not first_admin.admin_from_environment(f"Bob:{PASSWORD}")
    assert User.objects.count() == 1


@pytest.mark.django_db
@pytest.mark.parametrize(("invited", "name", "same"), [("erin", "Erin", True), ("ibrahim", "İbrahim", False)])
def test_an_invited_account_is_only_for_its_name_in_any_case(invited: str, name: str, same: bool) -> None:
    accounts.invite(invited, "user")
    found = ""
    with suppress(NotAllowed):
        found = identities.signed_in(VouchedIdentity("https://idp.example", "1", name, "user")).username
    assert (found == invited) is same
