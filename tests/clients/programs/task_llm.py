"""The task with the llm package."""

from __future__ import annotations

import llm
from llm.default_plugins.openai_models import Chat
from task_tools import BASE, FUNCTIONS, KEY, TASK, solved

TOOLS = [llm.Tool.function(function) for function in FUNCTIONS.values()]


def solve(model):
    chat = Chat(model, model_name=model, api_base=BASE, supports_tools=True)
    return chat.chain(TASK, tools=TOOLS, key=KEY).text()


solved(solve)
