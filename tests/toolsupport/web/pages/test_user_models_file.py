"""The pages of user_models.json, for Alice (a user), Bob (an administrator) and Charlie (a viewer)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from tests.factories import ModelProfileFactory, ServerFactory
from toolsupport.core.user_models import MOST_BYTES
from toolsupport.models import ModelProfile, Override
from toolsupport.registry.knowledge import overrides
from toolsupport.registry.knowledge.overrides import NewOverride

pytestmark = pytest.mark.django_db
ENTRY = {
    "id": "qwen3:8b",
    "source": "ollama",
    "tool_support": False,
    "tool_support_source": "user_confirmed",
    "description": "<b>bold</b>",
}


@pytest.fixture(autouse=True)
def profile() -> ModelProfile:
    return ModelProfileFactory(name="qwen3:8b", server=ServerFactory(name="box"))


def upload(client: Client, data: bytes, **extra: Any) -> Any:
    return client.post("/models/import/", {"file": SimpleUploadedFile("user_models.json", data)}, **extra)


def previewed(client: Client) -> tuple[str, str]:
    """The token and the page of the preview."""
    answer = upload(client, json.dumps({"user_models": [ENTRY]}).encode())
    token = answer.headers["Location"].split("=")[1]
    return token, client.get(answer.headers["Location"]).content.decode()


def test_a_file_is_shown_before_it_is_merged(client: Client, bob: User) -> None:  # M6
    client.force_login(bob)
    token, page = previewed(client)
    assert "Nothing is changed yet" in page
    assert 'name="confirm" value="0"' in page
    assert 'name="outrank"' not in page
    assert "&lt;b&gt;bold" in page
    assert not Override.objects.exists()
    merged = client.post("/models/import/merge/", {"file": token, "confirm": "0"}).content.decode()
    assert "Imported: 1 known, 0 new" in merged
    assert Override.objects.get().actor == bob


def test_what_is_not_ticked_is_proposed(client: Client, bob: User) -> None:  # M6
    client.force_login(bob)
    client.post("/models/import/merge/", {"file": previewed(client)[0]})
    assert Override.objects.get().proposed


def test_a_decision_made_here_has_a_tick_of_its_own(client: Client, bob: User, profile: ModelProfile) -> None:  # M6
    overrides.add(NewOverride(profile.pk, "tools", True))
    client.force_login(bob)
    token, page = previewed(client)
    assert 'name="outrank" value="0"' in page
    client.post("/models/import/merge/", {"file": token, "confirm": "0"})
    assert overrides.stands(profile.pk, "tools").startswith("An override of")
    assert Override.objects.filter(proposed=True).count() == 1


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b'{"user_models": [{"id": 1}]}', "user_models[0].id: expected a text"),
        (b"\xff", "Line 1: byte 0 is not UTF-8"),
        (b" " * (MOST_BYTES + 5), "more than 4 MiB"),
        (b"", "Choose a file first"),
    ],
)
def test_a_bad_file_is_answered_with_its_fault(client: Client, bob: User, data: bytes, words: str) -> None:  # M6
    client.force_login(bob)
    answer = upload(client, data) if data else client.post("/models/import/", {})
    assert answer.status_code == 422
    assert words in answer.content.decode()


def test_a_preview_that_is_gone_is_said(client: Client, bob: User) -> None:
    client.force_login(bob)
    assert client.get("/models/import/?file=nonsense").status_code == 422
    assert client.post("/models/import/merge/", {"file": "0" * 64}).status_code == 422


def test_everybody_who_sees_models_may_export(client: Client, charlie: User) -> None:  # M6
    client.force_login(charlie)
    answer = client.get("/models/export/")
    assert answer.headers["Content-Disposition"] == 'attachment; filename="user_models.json"'
    assert [entry["id"] for entry in answer.json()["user_models"]] == ["qwen3:8b"]
    assert "/models/export/" in client.get("/models/").content.decode()
    assert "/models/import/" not in client.get("/models/").content.decode()


@pytest.mark.parametrize("who", ["alice", "charlie"])
def test_only_administrators_import(client: Client, who: str, request: pytest.FixtureRequest) -> None:
    client.force_login(request.getfixturevalue(who))
    assert client.get("/models/import/").status_code == 403
    assert upload(client, b"{}").status_code == 403
    assert client.post("/models/import/merge/", {"file": "0" * 64, "confirm": "0"}).status_code == 403


def test_many_models_are_merged_with_a_tick_for_each_or_with_one_for_all(client: Client, bob: User) -> None:  # M6
    client.force_login(bob)
    for name, many, ticks in (("each", 1000, [str(number) for number in range(1000)]), ("all", 3, ["all"])):
        data = json.dumps({"user_models": [ENTRY | {"id": f"{name}:{number}"} for number in range(many)]}).encode()
        token = upload(client, data).headers["Location"].split("=")[1]
        if ticks == ["all"]:
            assert "Confirm all 3" in client.get(f"/models/import/?file={token}").content.decode()
        merged = client.post("/models/import/merge/", {"file": token, "confirm": ticks}).content.decode()
        assert f"Imported: 0 known, {many} new" in merged
    assert Override.objects.filter(actor=bob, proposed=False).count() == 1003
