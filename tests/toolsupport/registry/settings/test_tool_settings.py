"""Which tools are enabled: safe ones by default, the rest on request."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User

from chat.tools.tool import LEVELS
from toolsupport.models import Audit
from toolsupport.registry.settings import team_settings, tool_settings

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("level", LEVELS)
def test_code_and_outside_effects_are_off_until_they_are_switched_on(level: str) -> None:
    assert tool_settings.enabled("probe", level, team_settings.everything()) is (level in ("A0", "A1", "A2"))


@pytest.mark.parametrize("on", [True, False])
def test_a_switch_counts_for_its_tool_alone(on: bool, bob: User) -> None:
    tool_settings.switch("other", not on, "A1", bob.pk)
    tool_settings.switch("probe", on, "A3", bob.pk)
    team = team_settings.everything()
    assert tool_settings.enabled("probe", "A3", team) is on
    assert tool_settings.enabled("other", "A1", team) is not on


# SAFETY 3.12: what runs code is not switched on without a trace.
@pytest.mark.parametrize("level", LEVELS)
def test_who_switches_code_on_stands_in_the_audit(level: str, bob: User, monkeypatch: pytest.MonkeyPatch) -> None:
    tool_settings.switch("probe", True, level, bob.pk)
    told = [(row.actor, row.subject, row.reason) for row in Audit.objects.all()]
    words = {"A3": "runs code", "A4": "reaches outside"}.get(level)
    assert told == ([(bob, "probe", f"probe, which {words}: switched on.")] if words else [])
    monkeypatch.setattr(Audit.objects, "bulk_create", lambda *_, **__: 1 / 0)
    if level in ("A3", "A4"):
        with pytest.raises(ZeroDivisionError):
            tool_settings.switch("another", True, level, bob.pk)
    assert not tool_settings.enabled("another", "A3", team_settings.everything())
