"""Which addresses can have passkeys."""

from __future__ import annotations

import pytest

from tests.tables import every
from toolsupport.core import passkey_origins


@pytest.mark.parametrize(
    ("origin", "site"),
    [
        ("https://tools.example.org", "tools.example.org"),
        ("https://tools.example.org:8443", "tools.example.org"),
        ("https://intranet", "intranet"),
        ("http://localhost:8000", "localhost"),
        ("http://tools.localhost", "tools.localhost"),
    ],
)
def test_an_address_with_a_name_can(origin: str, site: str) -> None:
    assert (passkey_origins.site_of(origin), passkey_origins.why_not(origin)) == (site, "")


@every(
    ("origin", "words"),
    [
        ("http://tools.example.org", "https"),
        ("http://127.0.0.1:8000", "IP address"),
        ("https://192.0.2.7", "IP address"),
        ("https://[::1]:8000", "IP address"),
        ("http://localhost.evil.example", "https"),
        ("https://", "host name"),
        ("https://a_b", "host name"),
        ("https://[broken", "https"),
        ("", "https"),
    ],
)
def test_others_cannot(origin: str, words: str) -> None:
    assert passkey_origins.site_of(origin) == "" and words in passkey_origins.why_not(origin)
