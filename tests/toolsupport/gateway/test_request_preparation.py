"""The parts of a program's request that the site adds."""

from __future__ import annotations

from typing import Any

import pytest

from tests.factories import ModelProfileFactory
from tests.toolsupport.gateway.conftest import FOLDER, LIST
from toolsupport.core import prompt
from toolsupport.core.types import Role
from toolsupport.gateway import chat_request
from toolsupport.gateway.request_preparation import Caller, prepare
from toolsupport.registry.knowledge import overrides
from toolsupport.registry.knowledge.overrides import NewOverride
from toolsupport.registry.settings import team_settings

OWN = {"role": "system", "content": "You are Bob."}
PROMPTS = ("You are Ada.", "You are Bob.", "You work for us.")


# F8: a server leaves the SYSTEM of a Modelfile out as soon as there is a system message, such as our instructions.
@pytest.mark.django_db
@pytest.mark.parametrize("tools", [{"tools": [LIST]}, {}], ids=["tools", "no tools"])
@pytest.mark.parametrize(("said", "expected"), [([], "You are Ada."), ([OWN], "You are Bob.")])
def test_the_modelfile_s_system_holds_unless_the_program_has_one(
    said: list[Any], expected: str, tools: dict[str, Any]
) -> None:
    profile = ModelProfileFactory(name="ada:1b", modelfile={"system": "You are Ada."})
    overrides.add(NewOverride(profile.pk, "tools", True))
    team_settings.put("base_system_prompt", "You work for us.")
    asked = chat_request.asked({"model": "ada:1b", "messages": [*said, FOLDER]} | tools)
    prepared = prepare(asked, Caller(1, 1))
    sent = [message for message in prompt.messages(prepared.request_spec, prepared.log) if message.role is Role.SYSTEM]
    assert len(sent) == 1 and [words for words in PROMPTS if words in sent[0].content] == [expected]
    assert ("tools" in sent[0].content) is bool(tools)
