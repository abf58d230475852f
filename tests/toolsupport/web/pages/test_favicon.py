"""Browsers find the icon of the site beside files and answers that name none."""

from __future__ import annotations

import pytest
from django.contrib.staticfiles import finders
from django.test import Client


@pytest.mark.django_db
def test_the_usual_address_leads_to_the_icon(client: Client) -> None:
    answer = client.get("/favicon.ico")
    assert answer.status_code == 302
    assert finders.find(answer.headers["Location"].removeprefix("/static/"))
    assert client.post("/favicon.ico").status_code == 405
