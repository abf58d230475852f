"""A NUL in a form or an address is refused before any view reads it: PostgreSQL stores and compares none."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import parse_cookie
from django.test import Client
from django.urls import reverse

from tests.factories import UserFactory
from tests.parameters import KINDS
from tests.test_permissions import ADDRESSES, undone
from toolsupport.core.errors import ConfigError
from toolsupport.core.exams import exam_files
from toolsupport.registry.people import api_keys
from toolsupport.registry.people.session_store import SessionStore

# It looks at the size of a body before it reads one, and stores no field of it.
TAKES_FILES = "conversation-files"


@pytest.mark.django_db
def test_no_view_gets_a_nul() -> None:
    person, client = UserFactory(role="admin", is_superuser=True), Client()
    client.force_login(person)
    wrong = []
    for address in ADDRESSES:
        with undone((person, client)):
            path = reverse(address.name, kwargs={name: KINDS[name].own(person) for name in address.parameters})
            upload = SimpleUploadedFile("a.txt", b"x\0y")
            answers = {
                "a field": client.post(path, {"x": "a\0b"}),
                "a field of another encoding": client.post(path, "x=a%00b", "application/x-www-form-urlencoded"),
                "a name": client.post(path, {"x\0": "a", "file": upload}),
                "a query": client.get(path, {"x": "a\0b"}),
            }
            if address.name == TAKES_FILES:
                answers = {"a query": answers["a query"]}
            wrong += [(address.name, place) for place, answer in answers.items() if answer.status_code != 400]
    assert wrong == []


@pytest.mark.django_db
def test_the_reason_is_shown_and_programs_get_it_as_json() -> None:
    client = Client()
    client.force_login(UserFactory(role="admin"))
    page = client.get(reverse("models"), {"q": "\0"})
    assert (page.status_code, b"The address holds a NUL character" in page.content) == (400, True)
    form = client.post(reverse("models"), {"q": "\0"})
    assert (form.status_code, b"The form holds a NUL character" in form.content) == (400, True)
    program = client.get("/api/models?q=%00", headers={"Accept": "application/json"})
    assert program.status_code == 400 and "NUL" in program.json()["error"]["message"]
    assert client.get("/models/%00/").status_code == 404
    assert client.get(reverse("models"), {"q": "�"}).status_code == 200


@pytest.mark.django_db(transaction=True)
def test_programs_are_refused_too() -> None:
    person = UserFactory(role="admin")
    key = {"Authorization": f"Bearer {api_keys.create(person.pk, 'a program')}"}
    client = Client(headers=key)
    for path in ("/v1/models/a%00b", "/api/models/a%00b", "/api/models?q=%00"):
        assert client.get(path).status_code in (400, 404), path
    asked = {"model": "a", "name": "b", "arguments": {}, "messages": [], "input": "x", "max_tokens": 1}
    paths = ("/v1/chat/completions", "/v1/responses", "/v1/messages", "/v1/embeddings", "/api/tools/execute")
    for path in paths:
        for field in asked:
            answer = client.post(path, asked | {field: "a\0b"}, content_type="application/json")
            assert 400 <= answer.status_code < 500, (path, field, answer.content)


def test_an_exam_with_a_nul_is_refused_with_the_reason() -> None:
    with pytest.raises(ConfigError, match="holds a NUL character"):
        exam_files.read(b'{"name": "a\\u0000", "cases": []}')


# What browsers put into quotation marks may hold any character, as three digits.
COOKIES = (
    '"\\000bcdefghijklmnop"',
    f'"{"a" * 31}\\000"',
    '"\\377\\376abcdefgh"',
    *("x" * 4000, "A" * 32, "a" * 31, "é" * 32),
)


@pytest.mark.django_db
@pytest.mark.parametrize("value", COOKIES)
def test_a_cookie_that_is_no_key_of_ours_is_not_looked_up(
    value: str, django_assert_num_queries: Callable[[int], AbstractContextManager[object]]
) -> None:
    session = SessionStore(parse_cookie(f"sessionid={value}")["sessionid"])
    with django_assert_num_queries(0):
        assert session.get("anything") is None and session.session_key is None
    for path in ("/", "/login/", "/models/", "/admin/login/"):
        assert Client(headers={"cookie": f"sessionid={value}"}).get(path).status_code < 400


@pytest.mark.django_db
def test_a_key_of_ours_is_looked_up() -> None:
    session = SessionStore()
    session["kept"] = 1
    session.save()
    assert SessionStore(session.session_key)["kept"] == 1
