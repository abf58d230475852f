"""The tool that chooses prompts: by name, all or none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from chat.tools import hot_swap
from chat.tools.stores import NamedPrompt
from chat.tools.tool import ToolContext
from toolsupport.core.errors import ToolError

OFFERED = (NamedPrompt("translator", "Renders everything in German"), NamedPrompt("code-review"))


class Chosen:
    """Remembers what was chosen."""

    offered: Sequence[NamedPrompt] = OFFERED
    names: Sequence[str] | None = None

    async def choose(self, names: Sequence[str]) -> None:
        self.names = names


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("wanted", "chosen"),
    [(["translator"], ["translator"]), (["Code Review", "translator"], ["code-review", "translator"]), ([], [])],
)
async def test_prompts_are_chosen_by_name(context: ToolContext, wanted: list[str], chosen: list[str]) -> None:  # T3
    prompts = Chosen()
    result = await hot_swap.run(replace(context, prompts=prompts), {"prompts": wanted})
    assert prompts.names == chosen and not result.is_error


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({"prompts": ["poet"]}, "There are: translator, code-review"),
        ({"prompts": ["translator", "poet"]}, "no prompt named 'poet'"),
        ({"prompts": "translator"}, "as a list"),
        ({"prompts": [1]}, "as a list"),
        ({}, "as a list"),
    ],
)
async def test_what_is_not_there_changes_nothing(context: ToolContext, arguments: dict[str, object], why: str) -> None:
    prompts = Chosen()
    with pytest.raises(ToolError, match=why):
        await hot_swap.run(replace(context, prompts=prompts), arguments)
    assert prompts.names is None


@pytest.mark.asyncio
async def test_there_must_be_a_conversation(context: ToolContext) -> None:
    with pytest.raises(ToolError, match="in a conversation only"):
        await hot_swap.run(context, {"prompts": []})


def test_a_model_is_told_of_the_prompts_there_are() -> None:
    told = hot_swap.with_prompts(hot_swap.SPEC, OFFERED)
    assert "translator: Renders everything in German; code-review." in told.description
    assert told.parameters["properties"]["prompts"]["items"]["enum"] == ["translator", "code-review"]
    assert "enum" not in hot_swap.SPEC.parameters["properties"]["prompts"]["items"]
