"""The Content-Security-Policy stands on every answer, in sync and async servers."""

from __future__ import annotations

import pytest
from asgiref.sync import iscoroutinefunction
from django.contrib.auth.models import User
from django.http import HttpResponse
from django.test import AsyncClient, Client, RequestFactory

from toolsupport.web.security_headers import HEADER, ContentSecurityPolicy, policy

STRICT = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)


def test_the_policy_allows_nothing_inline():
    assert policy() == STRICT
    assert "unsafe" not in policy()


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/login/", "/models/", "/nothing/", "/admin/login/", "/healthz"])
def test_every_answer_carries_it(client: Client, path: str):
    assert client.get(path).headers[HEADER] == STRICT


@pytest.mark.asyncio
@pytest.mark.django_db(transaction=True)
async def test_it_works_under_asgi():
    answer = await AsyncClient().get("/healthz")
    assert answer.headers[HEADER] == STRICT


def test_it_is_async_only_where_the_server_is():
    async def answer_async(request):
        return HttpResponse()

    assert iscoroutinefunction(ContentSecurityPolicy(answer_async))
    assert not iscoroutinefunction(ContentSecurityPolicy(lambda request: HttpResponse()))


def test_a_stricter_policy_of_a_view_stays():
    def view(request):
        return HttpResponse(headers={HEADER: "sandbox"})

    assert ContentSecurityPolicy(view)(RequestFactory().get("/")).headers[HEADER] == "sandbox"


@pytest.mark.django_db
def test_the_admin_needs_nothing_looser(client: Client, bob: User):
    bob.is_staff = bob.is_superuser = True
    bob.save()
    client.force_login(bob)
    paths = ["", "toolsupport/server/", "toolsupport/modelprofile/", "toolsupport/override/", "auth/user/add/"]
    for path in paths:
        page = client.get(f"/admin/{path}").content.decode()
        assert "<style" not in page
        assert " style=" not in page
        assert " onclick=" not in page
