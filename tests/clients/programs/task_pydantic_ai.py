"""The task with an agent of Pydantic AI."""

from __future__ import annotations

from pydantic_ai import Agent, Tool
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from task_tools import BASE, FUNCTIONS, KEY, TASK, solved

provider = OpenAIProvider(base_url=BASE, api_key=KEY)
# Calls of one answer would run at the same time otherwise, and the test before the edit.
TOOLS = [Tool(function, takes_ctx=False, sequential=True) for function in FUNCTIONS.values()]


def solve(model):
    return Agent(OpenAIChatModel(model, provider=provider), tools=TOOLS).run_sync(TASK).output


solved(solve)
