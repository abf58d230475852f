"""The team's settings."""

from __future__ import annotations

import pytest
from pytest_django import Settings

from toolsupport.config.environment import GIVEN
from toolsupport.models import Setting
from toolsupport.registry.settings import team_settings
from toolsupport.registry.settings.team_settings import SettingSpec

pytestmark = pytest.mark.django_db


def test_a_setting_has_a_default_until_it_is_set():
    assert team_settings.get("base_system_prompt")
    team_settings.put("base_system_prompt", "")
    assert team_settings.get("base_system_prompt") == ""


def test_unknown_and_impossible_values_are_refused():
    with pytest.raises(KeyError):
        team_settings.put("colour", "red")
    for value in ("1", 0, 1.5):
        with pytest.raises(ValueError, match="default_model"):
            team_settings.put("default_model", value)


def test_a_row_that_cannot_be_is_not_believed():
    Setting.objects.create(key="default_model", value="seven")
    assert team_settings.default_model() is None


def test_the_environment_outranks_the_page(settings: Settings, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(team_settings.KNOWN, "example", SettingSpec("default", lambda value: True, "EXAMPLE"))
    team_settings.put("example", "page")
    assert (team_settings.get("example"), team_settings.locked("example")) == ("page", False)
    settings.ENV = settings.ENV | {"EXAMPLE": "environment", GIVEN: {"EXAMPLE"}}
    assert (team_settings.get("example"), team_settings.locked("example")) == ("environment", True)
