"""The doctor's findings about tools that need something of the machine."""

from __future__ import annotations

from dataclasses import replace

import pytest

from chat.doctor_checks import tool_findings
from chat.tools import BUILTINS, bash
from toolsupport.services.doctor import Finding


def test_a_tool_that_cannot_work_is_worth_knowing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(BUILTINS, "bash", replace(bash.TOOL, needs=lambda: "Install it."))
    assert Finding("tool bash", None, "Install it.") in list(tool_findings())
    monkeypatch.setitem(BUILTINS, "bash", replace(bash.TOOL, needs=lambda: ""))
    assert Finding("tool bash", True, "can work here") in list(tool_findings())
