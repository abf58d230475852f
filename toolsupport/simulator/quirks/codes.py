"""A model that calls tools by writing a program."""

from __future__ import annotations

from dataclasses import replace

from toolsupport.simulator.languages import pythonic
from toolsupport.simulator.quirks import honest
from toolsupport.simulator.quirks.writes import written
from toolsupport.simulator.reading import text_prompt
from toolsupport.simulator.rules import answers, tool_matching
from toolsupport.simulator.rules.intents import Intent, IntentKind, understand
from toolsupport.simulator.types import ModelInput, SimulatedReply

# Programs without tools, used if the system prompt allows programs in a fence.
PROGRAMS = {
    IntentKind.LIST: 'import os\nprint("\\n".join(sorted(os.listdir({0[path]!r}))))',
    IntentKind.READ: "print(open({0[path]!r}).read())",
    IntentKind.WRITE: 'open({0[path]!r}, "w").write({0[content]!r})',
    IntentKind.COMPUTE: "print({0[expression]})",
    IntentKind.PROGRAM: "{0[code]}",
}
FENCE = "```python"


def reply(prompt: ModelInput) -> SimulatedReply:
    """Write a program for all intents; after it ran, quote its output, which may be one result for several calls."""
    read = text_prompt.prompt(prompt)
    intents = understand(read.asked, [tool.name for tool in read.tools])
    if not any(tool_matching.find(intent, read.tools) for intent in intents):
        read = replace(read, tools=())
    if len(intents) > len(read.results) > 0:
        printed = "\n".join(result.content for result in read.results)
        return SimulatedReply(answers.with_result(Intent(IntentKind.UNKNOWN, read.asked), printed))
    programs = [] if read.tools or read.results else _programs(intents, prompt)
    if programs:
        return SimulatedReply("\n".join([FENCE, *programs, "```"]), awkward=True)
    return written(honest.reply(read), pythonic.code)


def _programs(intents: list[Intent], prompt: ModelInput) -> list[str]:
    """Write programs without any tool, if the prompt allows that."""
    run = any(FENCE in message.content for message in prompt.messages if message.role == "system")
    return [PROGRAMS[intent.kind].format(intent) for intent in intents if run and intent.kind in PROGRAMS]
