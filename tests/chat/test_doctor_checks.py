"""The doctor's findings about tools that need something of the machine."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from chat.doctor_checks import overdue_rows, tool_findings
from chat.models import Conversation
from chat.tools import BUILTINS, bash
from tests.factories import ConversationFactory
from toolsupport.services.doctor import Finding


def test_a_tool_that_cannot_work_is_worth_knowing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(BUILTINS, "bash", replace(bash.TOOL, needs=lambda: "Install it."))
    assert Finding("tool bash", None, "Install it.") in list(tool_findings())
    monkeypatch.setitem(BUILTINS, "bash", replace(bash.TOOL, needs=lambda: ""))
    assert Finding("tool bash", True, "can work here") in list(tool_findings())


@pytest.mark.django_db
@pytest.mark.parametrize(("days", "kept", "found"), [(12, 10, True), (10.5, 10, False), (12, 0, False)])
def test_rows_that_should_be_gone_are_reported(settings: Any, days: float, kept: int, found: bool) -> None:  # P8
    settings.ENV = settings.ENV | {"TOOLSUPPORT_KEEP_CHATS_DAYS": kept}
    old = ConversationFactory()
    Conversation.objects.filter(pk=old.pk).update(updated_at=timezone.now() - timedelta(days=days))
    words = "Too old and not deleted yet: 1 chats. Start the site, or run: manage.py prune"
    assert list(overdue_rows()) == [Finding("old rows", None, words)] * found
