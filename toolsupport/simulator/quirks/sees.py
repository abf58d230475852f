"""A model with vision: it describes the images it receives by rules, and otherwise behaves like the honest model."""

from __future__ import annotations

import re

from toolsupport.simulator.quirks import honest
from toolsupport.simulator.reading import pictures
from toolsupport.simulator.reading.pictures import Picture
from toolsupport.simulator.rules.intents import IntentKind, understand
from toolsupport.simulator.types import ModelInput, SimulatedReply

ABOUT_IMAGES = re.compile(r"\b(?:image|picture|photo|screenshot|colou?rs?|see|attached)s?\b", re.IGNORECASE)
RULES = "I see by rules only: the type, the size and the main colour, nothing of what is shown."


def reply(prompt: ModelInput) -> SimulatedReply:
    """Describe the images of the latest message, or the last ones when the message asks about images."""
    response = honest.reply(prompt)
    images = _meant(prompt)
    if response.calls or prompt.results or not images:
        return response
    wanted = understand(prompt.asked, [tool.name for tool in prompt.tools])
    rest = "" if all(intent.kind == IntentKind.UNKNOWN for intent in wanted) else f"\n\n{response.content}"
    return SimulatedReply(described(images) + rest)


def _meant(prompt: ModelInput) -> tuple[bytes, ...]:
    shown = [message.images for message in prompt.messages if message.role == "user"]
    if not shown or shown[-1] or not ABOUT_IMAGES.search(prompt.asked):
        return shown[-1] if shown else ()
    return next((images for images in reversed(shown) if images), ())


def described(images: tuple[bytes, ...]) -> str:
    """What was received, one line for each image."""
    lines = [_line(number, pictures.read(image)) for number, image in enumerate(images, start=1)]
    head = "I received 1 image:" if len(images) == 1 else f"I received {len(images)} images:"
    return "\n".join([head, "", *lines, "", RULES])


def _line(number: int, picture: Picture) -> str:
    facts = [
        f"a {picture.kind}" if picture.kind else "of a type that I do not know",
        f"{picture.width} × {picture.height} pixels" if picture.width else "",
        f"{picture.size:,} bytes",
        f"mostly **{picture.colour}**" if picture.colour else "its main colour is beyond my rules",
    ]
    return f"{number}. {', '.join(filter(None, facts))}"
