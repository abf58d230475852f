"""A session is read with its person and their roles, and none of it lasts longer than a request."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import Group, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from tests.factories import UserFactory
from toolsupport.models import Session
from toolsupport.registry.people import permissions, session_store
from toolsupport.registry.people.permissions import ROLES
from toolsupport.registry.people.session_store import SessionStore

pytestmark = pytest.mark.django_db


@pytest.fixture
def signed_in(client: Client) -> tuple[Client, User]:
    person = UserFactory(role="admin")
    client.force_login(person)
    assert client.get("/people/").status_code == 200
    return client, person


def loaded(client: Client) -> SessionStore:
    session = SessionStore(client.session.session_key)
    session.get("anything")
    return session


def test_session_person_and_roles_take_one_statement(signed_in: tuple[Client, User]) -> None:
    client, _ = signed_in
    with CaptureQueriesContext(connection) as asked:
        client.get("/account/")
    about_people = [
        each["sql"] for each in asked if "auth_user" in each["sql"] and "toolsupport_history" not in each["sql"]
    ]
    assert len(about_people) == 1, about_people


@pytest.mark.parametrize("role", [*ROLES, None])
@pytest.mark.parametrize("superuser", [False, True])
def test_the_roles_of_a_session_are_those_of_the_person(client: Client, role: str | None, superuser: bool) -> None:
    person = UserFactory(role=role, is_superuser=superuser)
    person.groups.add(Group.objects.create(name="a group that is no role"))
    client.force_login(person)
    found = loaded(client).person
    assert found is not None and found.actions_read == permissions.actions(person)  # type: ignore[attr-defined]


def test_several_roles_are_read_together(client: Client) -> None:
    person = UserFactory(role="viewer")
    person.groups.add(Group.objects.get(name="reviewer"))
    client.force_login(person)
    assert loaded(client).person.actions_read == permissions.actions(person)  # type: ignore[union-attr]


def test_an_expired_session_is_refused(signed_in: tuple[Client, User]) -> None:
    """It expires after its query was built, which happens once in a process."""
    client, _ = signed_in
    Session.objects.update(expire_date=timezone.now())
    assert async_to_sync(SessionStore(client.session.session_key).aload)() == {}
    answer = client.get("/people/")
    assert answer.status_code == 302 and "/login/" in answer.headers["Location"]


def no_role(person: User) -> None:
    person.groups.clear()


def switched_off(person: User) -> None:
    User.objects.filter(pk=person.pk).update(is_active=False)


def new_password(person: User) -> None:
    person.set_password("another password 4711")
    person.save()


def deleted(person: User) -> None:
    person.delete()


@pytest.mark.parametrize(
    ("change", "status"), [(no_role, 403), (switched_off, 302), (new_password, 302), (deleted, 302)]
)
def test_a_change_holds_at_the_next_request(
    signed_in: tuple[Client, User], change: Callable[[User], None], status: int
) -> None:
    client, person = signed_in
    change(person)
    assert client.get("/people/").status_code == status


def test_a_role_that_is_given_holds_at_the_next_request(client: Client) -> None:
    person = UserFactory(role="viewer")
    client.force_login(person)
    assert client.get("/people/").status_code == 403
    person.groups.set(Group.objects.filter(name="admin"))
    assert client.get("/people/").status_code == 200


def test_a_session_of_another_person_has_their_rights_not_those_of_the_row(signed_in: tuple[Client, User]) -> None:
    client, _ = signed_in
    client.force_login(UserFactory(role="viewer"))
    assert client.get("/people/").status_code == 403


def test_a_session_whose_person_differs_from_its_row_is_left_to_django(signed_in: tuple[Client, User]) -> None:
    client, person = signed_in
    session = loaded(client)
    assert session_store.person_of(session) == person
    session.person = UserFactory(role="viewer")
    assert session_store.person_of(session) is None


def test_a_hash_made_with_a_former_secret_key_still_counts(signed_in: tuple[Client, User], settings: Any) -> None:
    client, _ = signed_in
    before = settings.SECRET_KEY
    session = client.session
    settings.SECRET_KEY = "another key " * 5
    settings.SECRET_KEY_FALLBACKS = [before]
    stored = SessionStore(session.session_key)
    stored.update(dict(session.items()))
    stored.save()
    client.cookies["sessionid"] = str(stored.session_key)
    assert session_store.person_of(loaded(client)) is None
    assert client.get("/people/").status_code == 200
