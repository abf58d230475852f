"""The task with the anthropic package, streamed."""

from __future__ import annotations

from anthropic import Anthropic
from task_tools import BASE, FUNCTIONS, KEY, TASK, described, run, solved

client = Anthropic(base_url=BASE.removesuffix("/v1"), api_key=KEY, max_retries=0)
KEYS = ("name", "description", "input_schema")
TOOLS = [dict(zip(KEYS, described(one), strict=True)) for one in FUNCTIONS.values()]


def solve(model):
    messages = [{"role": "user", "content": TASK}]
    while True:
        with client.messages.stream(model=model, max_tokens=1000, messages=messages, tools=TOOLS) as stream:
            message = stream.get_final_message()
        messages.append({"role": "assistant", "content": message.content})
        calls = [block for block in message.content if block.type == "tool_use"]
        if not calls:
            return "".join(block.text for block in message.content if block.type == "text")
        results = [
            {"type": "tool_result", "tool_use_id": call.id, "content": run(call.name, call.input)} for call in calls
        ]
        messages.append({"role": "user", "content": results})


solved(solve)
