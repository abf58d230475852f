"""A two-round tool loop with the llm package."""

from __future__ import annotations

import json
import sys

import llm
from llm.default_plugins.openai_models import Chat

BASE, KEY, *MODELS = sys.argv[1:]


def chained(name, stream):
    made = []

    def list_directory(path: str) -> str:
        """Lists a folder."""
        made.append(["list_directory", {"path": path}])
        return "config.json"

    model = Chat(name, model_name=name, api_base=BASE, supports_tools=True)
    chain = model.chain("What's in this folder?", tools=[llm.Tool.function(list_directory)], stream=stream, key=KEY)
    answer = chain.text()
    return [made, answer]


print(json.dumps({way: {name: chained(name, way == "streamed") for name in MODELS} for way in ("whole", "streamed")}))
