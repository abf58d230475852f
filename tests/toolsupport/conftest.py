"""Fixtures of the tests of models and servers."""

from __future__ import annotations

import pytest

from tests.toolsupport.stand_in import Servers
from toolsupport import providers


@pytest.fixture
def servers_out_there(monkeypatch: pytest.MonkeyPatch) -> Servers:
    stand_in = Servers()
    monkeypatch.setattr(providers, "survey", stand_in.survey)
    monkeypatch.setattr(providers, "describe", stand_in.describe)
    monkeypatch.setattr(providers, "running", stand_in.running)
    return stand_in
