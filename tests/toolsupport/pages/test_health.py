"""Whether the site is alive."""

from __future__ import annotations

import pytest
from django.test import Client


@pytest.mark.django_db
def test_alive_for_everybody(client: Client):  # O4
    answer = client.get("/healthz")
    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})
    assert "no-store" in answer.headers["Cache-Control"]
    assert client.head("/healthz").status_code == 200
    assert client.post("/healthz").status_code == 405
