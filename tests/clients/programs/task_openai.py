"""The task with the openai package, chat completions."""

from __future__ import annotations

import json

from openai import OpenAI
from task_tools import BASE, FUNCTIONS, KEY, TASK, described, run, solved

client = OpenAI(base_url=BASE, api_key=KEY, max_retries=0)
KEYS = ("name", "description", "parameters")
TOOLS = [{"type": "function", "function": dict(zip(KEYS, described(one), strict=True))} for one in FUNCTIONS.values()]


def solve(model):
    messages = [{"role": "user", "content": TASK}]
    while True:
        message = client.chat.completions.create(model=model, messages=messages, tools=TOOLS).choices[0].message
        messages.append(message)
        if not message.tool_calls:
            return message.content
        for call in message.tool_calls:
            result = run(call.function.name, json.loads(call.function.arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})


solved(solve)
