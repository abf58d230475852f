"""A model that calls tools by writing a program."""

from __future__ import annotations

from toolsupport.simulator.languages import pythonic
from toolsupport.simulator.nouns import Prompt, Reply
from toolsupport.simulator.quirks import honest
from toolsupport.simulator.quirks.writes import written
from toolsupport.simulator.reading import told
from toolsupport.simulator.rules import answers
from toolsupport.simulator.rules.wishes import Kind, Wish, understand


def reply(prompt: Prompt) -> Reply:
    """A program for all that is wanted; then what it printed, which may be one result for several calls."""
    heard = told.prompt(prompt)
    wishes = understand(heard.asked, [tool.name for tool in heard.tools])
    if not heard.results or len(heard.results) >= len(wishes):
        return written(honest.reply(heard), pythonic.code)
    printed = "\n".join(result.content for result in heard.results)
    return Reply(answers.with_result(Wish(Kind.UNKNOWN, heard.asked), printed))
