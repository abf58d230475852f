"""The first administrator comes in by a one-time address, so that no stranger claims a fresh site."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import connection
from django.utils import timezone

from tests.factories import UserFactory
from toolsupport.core.errors import ConfigError, NotAllowed
from toolsupport.models import Setting
from toolsupport.registry.people import first_admin
from toolsupport.registry.people.permissions import Action, may

PASSWORD = "correct horse battery"


@pytest.mark.django_db
def test_a_fresh_site_needs_an_administrator_until_it_has_one():
    assert first_admin.needs_setup()
    UserFactory(role="user")
    UserFactory(role="admin", is_active=False)
    assert first_admin.needs_setup()
    admin = first_admin.create_admin(first_admin.new_setup_token(), "ana", PASSWORD)
    assert not first_admin.needs_setup()
    assert may(admin, Action.ADMINISTER)
    assert admin.is_staff
    assert admin.check_password(PASSWORD)


@pytest.mark.django_db
def test_the_token_works_once_and_is_not_kept_itself():  # O1
    token = first_admin.new_setup_token()
    assert token not in str(list(Setting.objects.values_list("value", flat=True)))
    first_admin.create_admin(token, "ana", PASSWORD)
    User.objects.all().delete()
    with pytest.raises(NotAllowed):
        first_admin.create_admin(token, "eve", PASSWORD)


@pytest.mark.django_db
def test_a_wrong_or_an_older_token_opens_nothing():
    older = first_admin.new_setup_token()
    Setting.objects.update(changed_at=timezone.now() - 2 * first_admin.SAME_START)
    newer = first_admin.new_setup_token()
    for token in (older, "", "x", "ä", "\ud800"):
        assert not first_admin.token_opens(token)
        with pytest.raises(NotAllowed):
            first_admin.create_admin(token, "eve", PASSWORD)
    assert first_admin.token_opens(newer)


# O2
@pytest.mark.django_db(transaction=True)
def test_processes_that_start_at_once_print_one_address():
    together = Barrier(4)

    def start(_: int) -> str:
        try:
            together.wait(10)
            return first_admin.new_setup_token()
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        tokens = set(pool.map(start, range(4)))
    assert len(tokens) == 1 and first_admin.token_opens(tokens.pop())


@pytest.mark.django_db
def test_no_token_opens_a_site_that_has_an_administrator(bob: User):
    token = first_admin.new_setup_token()
    with pytest.raises(NotAllowed):
        first_admin.create_admin(token, "eve", PASSWORD)


@pytest.mark.django_db
@pytest.mark.parametrize(("name", "password"), [("ana", "123"), ("ana", "password"), ("", PASSWORD), ("a b", PASSWORD)])
def test_a_bad_name_or_password_does_not_use_the_token_up(name: str, password: str):
    token = first_admin.new_setup_token()
    with pytest.raises(ValidationError):
        first_admin.create_admin(token, name, password)
    assert first_admin.token_opens(token)
    assert not User.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_of_eight_who_come_at_once_one_becomes_administrator():
    token = first_admin.new_setup_token()
    together = Barrier(8)

    def come(number: int) -> bool:
        try:
            together.wait(10)
            first_admin.create_admin(token, f"person{number}", PASSWORD)
            return True
        except NotAllowed:
            return False
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(come, range(8))) == 1
    assert User.objects.count() == 1


@pytest.mark.django_db
def test_the_administrator_of_the_environment():
    token = first_admin.new_setup_token()
    assert first_admin.admin_from_environment("ana:pass:word-with-colons") is True
    assert User.objects.get().check_password("pass:word-with-colons")
    assert not first_admin.token_opens(token)
    assert first_admin.admin_from_environment("eve:another-passphrase") is False
    assert not User.objects.filter(username="eve").exists()


@pytest.mark.django_db
@pytest.mark.parametrize("written", ["ana", "ana:", ":secret", "ana:123"])
def test_a_bad_entry_names_the_variable_and_never_the_password(written: str):
    with pytest.raises(ConfigError, match="TOOLSUPPORT_ADMIN") as raised:
        first_admin.admin_from_environment(written)
    assert "secret" not in str(raised.value)
