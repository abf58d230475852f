"""The task with LangChain's ChatOpenAI and bound tools."""

from __future__ import annotations

from langchain_core.messages import HumanMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from task_tools import BASE, FUNCTIONS, KEY, TASK, solved

TOOLS = {name: tool(function) for name, function in FUNCTIONS.items()}


def solve(model):
    chat = ChatOpenAI(base_url=BASE, api_key=KEY, model=model, max_retries=0).bind_tools(list(TOOLS.values()))
    messages = [HumanMessage(TASK)]
    while (answer := chat.invoke(messages)).tool_calls:
        messages += [answer, *(TOOLS[call["name"]].invoke(call) for call in answer.tool_calls)]
    return answer.content


solved(solve)
