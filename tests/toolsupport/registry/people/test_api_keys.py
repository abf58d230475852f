"""Keys of programs: shown once, kept as a digest, ended at once."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User

from toolsupport.core.errors import Busy, ConfigError, NotFound
from toolsupport.models import ApiKey
from toolsupport.registry.people import api_keys

pytestmark = pytest.mark.django_db


def test_a_key_lets_its_person_in_and_is_not_stored(alice: User) -> None:
    key = api_keys.create(alice.pk, " laptop ")
    holder = api_keys.holder(key)
    assert holder is not None and holder.person == alice
    [row] = ApiKey.objects.values()
    assert key not in str(row) and row["name"] == "laptop" and key.startswith(row["prefix"])
    assert row["used_at"] is not None


@pytest.mark.parametrize("wrong", ["", "tsk-", "tsk-guessed", "\udcff"])
def test_another_key_lets_nobody_in(alice: User, wrong: str) -> None:
    api_keys.create(alice.pk, "laptop")
    assert api_keys.holder(wrong) is None


def test_a_revoked_key_lets_nobody_in_and_is_listed_no_more(alice: User) -> None:
    key = api_keys.create(alice.pk, "laptop")
    api_keys.revoke(alice.pk, api_keys.listed(alice.pk)[0].id)
    assert api_keys.holder(key) is None and api_keys.listed(alice.pk) == ()


def test_somebody_kept_out_is_kept_out_with_a_key_too(alice: User) -> None:  # SAFETY (Gateway)
    key = api_keys.create(alice.pk, "laptop")
    User.objects.filter(pk=alice.pk).update(is_active=False)
    assert api_keys.holder(key) is None


def test_a_key_of_somebody_else_cannot_be_revoked(alice: User, bob: User) -> None:
    key = api_keys.create(alice.pk, "laptop")
    with pytest.raises(NotFound):
        api_keys.revoke(bob.pk, api_keys.listed(alice.pk)[0].id)
    assert api_keys.holder(key) is not None


@pytest.mark.parametrize("name", ["", "  ", "x" * 81])
def test_a_name_that_says_nothing_or_too_much_is_refused(alice: User, name: str) -> None:
    with pytest.raises(ConfigError):
        api_keys.create(alice.pk, name)


def test_there_is_an_end_to_the_number_of_keys(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api_keys, "MOST", 1)
    api_keys.create(alice.pk, "one")
    with pytest.raises(Busy):
        api_keys.create(alice.pk, "two")
