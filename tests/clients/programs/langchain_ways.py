"""A two-round tool loop with LangChain's ChatOpenAI and bound tools, whole and streamed."""

from __future__ import annotations

import json
import sys

from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI

BASE, KEY, *MODELS = sys.argv[1:]


@tool
def list_directory(path: str) -> str:
    """Lists a folder."""
    return "config.json"


def loop(ask):
    asked = [HumanMessage("What's in this folder?")]
    first = ask(asked)
    asked.append(first)
    asked += [ToolMessage(list_directory.invoke(call["args"]), tool_call_id=call["id"]) for call in first.tool_calls]
    return [[[call["name"], call["args"]] for call in first.tool_calls], ask(asked).content]


def whole(model):
    return loop(model.invoke)


def streamed(model):
    def ask(asked):
        pieces = list(model.stream(asked))
        return sum(pieces[1:], pieces[0])

    return loop(ask)


def chat(name):
    return ChatOpenAI(base_url=BASE, api_key=KEY, model=name, stream_usage=True).bind_tools([list_directory])


print(json.dumps({way.__name__: {name: way(chat(name)) for name in MODELS} for way in (whole, streamed)}))
