"""No page offers a person something that ends in a refusal: each link, form and request in it, for every role."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.urls import Resolver404, resolve, reverse

from tests.markup import flat
from tests.parameters import KINDS
from tests.tables import every
from tests.test_permissions import ADDRESSES, QUERIES, Address, Visitor, out_there, put_away, undone, visitor
from tests.test_queries import populate
from toolsupport.models import ModelProfile, Server
from toolsupport.registry.people.permissions import PUBLIC, ROLES

__all__ = ["out_there"]
# What waits for servers has no page of its own, or needs committed rows.
LEADS = re.compile(r'(?<![\w-])(?:href|action|hx-get|hx-post|data-source|data-url)="(/[^"]*)"')
MAY = ("viewer", "user", "reviewer")


def refused(page: str, role: str) -> Iterator[str]:
    """The addresses in a page that need a permission which this role lacks."""
    for address in {html.unescape(found).partition("?")[0].partition("#")[0] for found in LEADS.findall(page)}:
        try:
            permission = getattr(resolve(address).func, "permission", PUBLIC)
        except Resolver404:
            continue
        if permission != PUBLIC and permission not in ROLES[role]:
            yield f"{address} needs “{permission}”"


@pytest.fixture(params=MAY)
def person(db: None, request: pytest.FixtureRequest) -> tuple[str, Visitor]:
    """Somebody of each role, on a site with some of everything: a dead server, and a model that lacks a setting."""
    who = visitor(request.param)
    populate(who[0])
    User.objects.filter(pk=who[0].pk).update(first_name="Somebody")
    dead = Server.objects.order_by("pk").first()
    assert dead is not None
    Server.objects.filter(pk=dead.pk).update(reachable=False, last_error="It refused the connection.")
    last = ModelProfile.objects.order_by("pk").last()
    assert last is not None
    ModelProfile.objects.filter(pk=last.pk).update(missing_flag="--jinja")
    return request.param, who


PAGES = [one for one in ADDRESSES if one.permission in (PUBLIC, *ROLES["reviewer"])]


@every("address", PAGES)
def test_no_page_offers_what_the_person_may_not_do(
    address: Address, person: tuple[str, Visitor], out_there: None
) -> None:
    role, (who, client) = person
    if address.permission != PUBLIC and address.permission not in ROLES[role]:
        return
    with undone((who, client)):
        url = reverse(address.name, args=[KINDS[name].own(who) for name in address.parameters])
        answer: Any = client.get(url, QUERIES.get(address.name, {}))
        put_away(answer)
        if answer.status_code != 200 or not answer.headers.get("Content-Type", "").startswith("text/html"):
            return
        assert list(refused(flat(answer.content.decode()), role)) == []


def test_an_offer_that_ends_in_a_refusal_is_found() -> None:
    page = '<a href="/people/">People</a><form action="/models/detect/"></form><a href="/models/?q=a">Models</a>'
    assert sorted(refused(page, "viewer")) == [
        "/models/detect/ needs “start a test of a model”",
        "/people/ needs “administer this site”",
    ]
    assert len(list(refused(page, "user"))) == 1
