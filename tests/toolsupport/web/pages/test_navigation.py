"""Everybody sees the sections they may enter."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import AnonymousUser, User
from django.test import RequestFactory

from tests.factories import UserFactory
from toolsupport.web.pages.navigation import navigation


def _titles(user: User | AnonymousUser, path: str = "/") -> list[str]:
    request = RequestFactory().get(path)
    request.user = user
    return [section["title"] for section in navigation(request)["navigation"]]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("role", "titles"),
    [
        (None, []),
        ("viewer", ["Models", "Exams", "Tools", "History", "Insights", "Servers"]),
        ("user", ["Chat", "Models", "Exams", "Tools", "History", "Insights", "Servers"]),
    ],
)
def test_sections_by_role(role: str | None, titles: list[str]):
    assert _titles(UserFactory(role=role)) == titles


def test_strangers_see_none():
    assert _titles(AnonymousUser()) == []
    shown = navigation(RequestFactory().get("/"))
    assert shown == {"navigation": [], "section_here": "Menu", "quotas_near": 0, "may_chat": False}


@pytest.mark.django_db
def test_the_section_one_is_in_is_marked():
    request = RequestFactory().get("/models/3/")
    request.user = UserFactory(role="user")
    current = {section["title"]: section["current"] for section in navigation(request)["navigation"]}
    assert current == {
        "Chat": False,
        "Models": True,
        "Tools": False,
        "History": False,
        "Insights": False,
        "Exams": False,
        "Servers": False,
    }
