"""The page of the databases: administrators define them, the others see their names and nothing inside."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from tests.factories import UserFactory
from toolsupport.models import SqlSource
from toolsupport.registry.databases import example_database
from toolsupport.registry.servers import key_encryption

pytestmark = pytest.mark.django_db(transaction=True)


def signed_in(role: str) -> Client:
    client = Client()
    client.force_login(UserFactory(role=role))
    return client


def posted(client: Client, address: str, *arguments: Any, **fields: Any) -> str:
    return client.post(reverse(address, args=arguments), fields).content.decode()


@pytest.fixture
def charlie(transactional_db: None, settings: Any, tmp_path: Path) -> Client:
    settings.ENV = settings.ENV | {"TOOLSUPPORT_DATA_DIR": str(tmp_path)}
    UserFactory(role="user")  # so that there is such a group
    return signed_in("admin")


def test_the_example_is_added_and_can_be_read(charlie: Client) -> None:
    html = posted(charlie, "source-example")
    assert "Can be read" in html and "2 tables" in html and "Add example database" not in html
    assert "already a database" in posted(charlie, "source-example")


def test_an_address_is_never_shown_again(charlie: Client) -> None:
    address = "postgresql://reader:canary@127.0.0.1:1/shop"
    fields = {"name": "sales", "kind": "postgresql", "location": address, "groups": ["user", "admin"]}
    html = posted(charlie, "source-add", **fields)
    assert "Cannot be read" in html and "canary" not in html and "admin, user" in html
    row = SqlSource.objects.get()
    assert "canary" not in row.location and key_encryption.decrypt(row.location) == address
    assert "canary" not in charlie.get(reverse("sources")).content.decode()


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"name": "a b", "location": "/x"}, "begins with a letter"),
        ({"name": "good", "location": ""}, "required"),
        ({"name": "good", "location": "/x", "kind": "oracle"}, "valid choice"),
    ],
)
def test_what_cannot_be_used_is_said(charlie: Client, fields: dict[str, str], said: str) -> None:
    assert said in posted(charlie, "source-add", **({"kind": "sqlite"} | fields))
    assert not SqlSource.objects.exists()


def test_it_is_switched_off_then_forgotten(charlie: Client) -> None:
    posted(charlie, "source-example")
    source = SqlSource.objects.get()
    assert "Switched off" in posted(charlie, "source-switch", source.pk, enabled="0")
    assert "Remove" in charlie.get(reverse("sources")).content.decode()
    posted(charlie, "source-remove", source.pk)
    assert not SqlSource.objects.exists() and example_database.path().exists()


def test_whose_chats_may_read_it_is_changed_later(charlie: Client) -> None:
    posted(charlie, "source-example")
    source = SqlSource.objects.get()
    assert "Saved" in posted(charlie, "source-groups", source.pk, groups=["user", "viewer"])
    assert [group.name for group in source.groups.all()] == ["user"]


def test_others_read_the_names(charlie: Client) -> None:
    posted(charlie, "source-example")
    html = signed_in("viewer").get(reverse("sources")).content.decode()
    assert "shop" in html and "Used by" in html
    assert "Add a database" not in html and "tea_id" not in html and "Switch off" not in html
