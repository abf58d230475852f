"""API keys lie encrypted."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest_django import Settings

from toolsupport.core.errors import ConfigError
from toolsupport.registry.servers.key_encryption import decrypt, encrypt


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=200))
def test_what_goes_in_comes_out(secret: str):
    assert decrypt(encrypt(secret)) == secret


def test_the_row_does_not_hold_the_secret():
    stored = encrypt("sk-canary-123456")
    assert "canary" not in stored
    assert stored != encrypt("sk-canary-123456")


def test_no_key_is_no_secret():
    assert encrypt("") == "" == decrypt("")


def test_another_secret_key_cannot_read_it_and_says_what_to_do(settings: Settings):
    stored = encrypt("sk-canary-123456")
    settings.SECRET_KEY = "another"
    with pytest.raises(ConfigError, match="Enter the API key again"):
        decrypt(stored)


def test_a_former_secret_key_still_reads_it(settings: Settings):
    former = settings.SECRET_KEY
    stored = encrypt("sk-canary-123456")
    settings.SECRET_KEY = "another"
    settings.SECRET_KEY_FALLBACKS = [former]
    assert decrypt(stored) == "sk-canary-123456"
