"""A name of any length is compared, or fits nothing; letters of any language in any case."""

from __future__ import annotations

import pytest
from django.test import Client

from tests.factories import ModelProfileFactory, ServerFactory, UserFactory
from toolsupport.core.errors import ConfigError, NotAllowed, NotFound
from toolsupport.models import SecurityEvent
from toolsupport.registry.models import picker
from toolsupport.registry.people import accounts, identities, security_events
from toolsupport.registry.servers import servers

pytestmark = pytest.mark.django_db
LONG = ("w" * 60_000, "%_" * 40_000, "ﷺ" * 20_000, "far/" + "w" * 60_000, "w" * 60_000 + "/w", "w" * 1_001)


@pytest.mark.parametrize("name", LONG, ids=range(len(LONG)))
def test_nothing_has_a_name_without_an_end(name: str) -> None:
    ModelProfileFactory(server=ServerFactory(name="far"), name="Fine")
    with pytest.raises(NotFound):
        picker.find(name)
    with pytest.raises(NotFound):
        servers.id_of(name)
    with pytest.raises(NotAllowed):
        identities.of_header(name)


@pytest.mark.parametrize("name", LONG, ids=range(len(LONG)))
def test_a_stranger_cannot_sign_in_with_one_and_gets_the_form_again(client: Client, name: str) -> None:  # S7
    UserFactory()  # without rows nothing is compared
    answer = client.post("/login/", {"username": name, "password": "a passphrase"})
    assert (answer.status_code, b"csrfmiddlewaretoken" in answer.content) == (200, True)
    assert SecurityEvent.objects.get(kind="sign_in_wrong").person is None


def test_names_are_compared_in_any_case() -> None:
    model, person = ModelProfileFactory(server=ServerFactory(name="Far"), name="Fine"), UserFactory(username="Alice")
    assert picker.find("far/FINE") == picker.find("fIne") == model.pk and servers.id_of("fAR") == model.server_id
    security_events.record("sign_in_wrong", "192.0.2.1", "aLICE")
    assert SecurityEvent.objects.get(kind="sign_in_wrong").person == person


# Letters beyond ASCII, which SQLite alone reads in one case only.
@pytest.mark.parametrize(("name", "other"), [("Ünal", "ünal"), ("ПЁТР", "пётр"), ("İlker", "ilker")])
def test_names_beyond_ascii_are_the_same_in_any_case(name: str, other: str) -> None:
    model = ModelProfileFactory(server=ServerFactory(name=f"on {name}"), name=name)
    assert picker.find(other) == picker.find(f"on {other}/{other}") == model.pk
    accounts.invite(name, "user")
    with pytest.raises(ConfigError, match="already exists"):
        accounts.invite(other, "user")
    with pytest.raises(ConfigError, match="already a server"):
        servers.checked_name(f"ON {other}")
