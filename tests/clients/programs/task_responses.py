"""The task with the openai package, Responses, streamed."""

from __future__ import annotations

import json

from openai import OpenAI
from task_tools import BASE, FUNCTIONS, KEY, TASK, described, run, solved

client = OpenAI(base_url=BASE, api_key=KEY, max_retries=0)
KEYS = ("name", "description", "parameters")
TOOLS = [{"type": "function", **dict(zip(KEYS, described(one), strict=True))} for one in FUNCTIONS.values()]


def solve(model):
    items = [{"role": "user", "content": TASK}]
    while True:
        with client.responses.stream(model=model, input=items, tools=TOOLS, store=False) as stream:
            response = stream.get_final_response()
        items += [item.model_dump(exclude_none=True) for item in response.output]
        calls = [item for item in response.output if item.type == "function_call"]
        if not calls:
            return response.output_text
        for call in calls:
            result = run(call.name, json.loads(call.arguments))
            items.append({"type": "function_call_output", "call_id": call.call_id, "output": result})


solved(solve)
