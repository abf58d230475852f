"""The task with an agent of OpenAI's Agents SDK, which uses the Responses API: whole and streamed in turn."""

from __future__ import annotations

import asyncio
import json

from agents import Agent, FunctionTool, ModelSettings, OpenAIResponsesModel, Runner, set_tracing_disabled
from openai import AsyncOpenAI
from task_tools import BASE, FUNCTIONS, KEY, MODELS, TASK, described, run, solved

set_tracing_disabled(True)


def tool(function):
    name, description, schema = described(function)

    async def invoke(_, arguments):
        return run(name, json.loads(arguments))

    return FunctionTool(name, description, schema, invoke, strict_json_schema=False)


TOOLS = [tool(function) for function in FUNCTIONS.values()]


async def answer(model):
    async with AsyncOpenAI(base_url=BASE, api_key=KEY) as client:
        asked = OpenAIResponsesModel(model, client)
        # Calls of one answer would run at the same time otherwise, and the test before the edit.
        agent = Agent("worker", model=asked, model_settings=ModelSettings(parallel_tool_calls=False), tools=TOOLS)
        if MODELS.index(model) % 2 == 0:
            return (await Runner.run(agent, TASK)).final_output
        running = Runner.run_streamed(agent, TASK)
        async for _ in running.stream_events():
            pass
        return running.final_output


solved(lambda model: asyncio.run(answer(model)))
