"""Renders the canonical log of a conversation for the model that is asked next.

The log may contain anything: notices, calls without a result (a person pressed Stop), results without a call, two
questions in a row, calls of another model. The output satisfies the strictest known template:

  one system message or none, first; after it a user message; no empty message;
  never two user messages in a row, and two assistant messages only across results;
  native: the results follow their calls at once, one for each, in order, under ids that are unique in the request;
          an assistant message stands between a result and the next user message;
  text:   calls are in the assistant's text, and all their results in one user message, in the format's form;
  words:  for a model without tools, calls and results are described, and no message has a call.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType

from toolsupport.core.formats import FORMATS
from toolsupport.core.formats.format import Format
from toolsupport.core.prompt.call_ids import CallIds
from toolsupport.core.prompt.system_prompt import paragraphs
from toolsupport.core.types import ChatMessage, Role, ToolCall

INTERRUPTED = "No result: the call was interrupted before it was done."
BROKEN_OFF = "(The answer was cut off here.)"
BEGINNING = "(The conversation begins here.)"
IMAGES_FOLLOW = "[Its images follow after the results.]"
IMAGES_OF_RESULTS = "The images of the results above, in their order:"
UNSPOKEN = (Role.SYSTEM, Role.NOTICE)
# Programs of Claude offer longer names of the tools of MCP servers, so a model may have called one.
LONGEST_NAME, LONGEST_MCP_NAME = 64, 128

Render = Callable[[Iterable[ChatMessage]], Iterator[ChatMessage]]


@dataclass(frozen=True, slots=True)
class RenderTarget:
    """The model for which a log is rendered.

    `format` is "native", a name of FORMATS, or "" for a model without tools. `call_format` is the format its family was
    trained on. `one_call`: its template takes a single call per message. `words_after_results`: a person's message
    directly after results is meant so, as programs send it; else an answer was cut off there. `images_in_results`: its
    server takes images in the results of tools; else a person's message after them shows the images.
    """

    format: str = ""
    call_format: str = ""
    one_call: bool = False
    words_after_results: bool = False
    images_in_results: bool = True

    @property
    def needs_answer(self) -> bool:
        """Whether an answer must stand between results and a person's message: templates of Mistral demand one."""
        return not self.words_after_results or self.call_format.startswith("mistral")


def history(messages: Sequence[ChatMessage], target: RenderTarget) -> tuple[ChatMessage, ...]:
    """Return the log as it may be sent to this target. Raises KeyError for an unknown format."""
    render = _renderer(target)
    system = "\n\n".join(message.content for message in messages if message.role is Role.SYSTEM and message.content)
    spoken = [_without_blank(one) for one in messages if one.role not in UNSPOKEN and not _says_nothing(one)]
    fresh = _with_fresh_thinking(spoken, _turn(spoken, target.words_after_results))
    rendered = _joined(render(_paired(fresh, CallIds(target.call_format))))
    head = [ChatMessage(Role.SYSTEM, system)] if system else []
    if not rendered or rendered[0].role is not Role.USER:
        head.append(ChatMessage(Role.USER, BEGINNING))
    return (*head, *rendered)


def _renderer(target: RenderTarget) -> Render:
    known = NOT_IN_TEXT.get(target.format)
    if known is None:
        return partial(_written, FORMATS[target.format])
    if target.format != "native":
        return known
    render = partial(_one_by_one if target.one_call else _native, target.needs_answer)
    # First, so that an answer stands between the results and their images too where one must.
    return render if target.images_in_results else lambda messages: render(_images_apart(messages))


def _turn(messages: Sequence[ChatMessage], words_after_results: bool) -> int:
    """Return the number of the question of the current turn: agents put reminders behind results in the same turn."""
    for number in range(len(messages) - 1, -1, -1):
        after_results = number > 0 and messages[number - 1].role is Role.TOOL
        if messages[number].role is Role.USER and not (words_after_results and after_results):
            return number
    return -1


def _with_fresh_thinking(messages: Sequence[ChatMessage], latest: int) -> list[ChatMessage]:
    """Keep the reasoning of the current turn only; drop any before its question."""
    return [
        replace(message, thinking="") if number < latest and message.thinking else message
        for number, message in enumerate(messages)
    ]


def _paired(messages: Sequence[ChatMessage], ids: CallIds) -> Iterator[ChatMessage]:
    """Give each call exactly one result after it, with unique ids; drop results without a call."""
    results = _results(messages)
    for number, message in enumerate(messages):
        if message.role is Role.TOOL:
            continue
        if not message.calls:
            yield message
            continue
        named = [replace(call, name=_sendable(call.name)) for call in message.calls]
        calls = ids.renamed(named)
        yield replace(message, calls=calls)
        for asked, call in zip(message.calls, calls, strict=True):
            found = results.get((number, asked.id)) or deque([ChatMessage(Role.TOOL, INTERRUPTED)])
            yield replace(found.popleft(), call_id=call.id, name=call.name)


def _results(messages: Sequence[ChatMessage]) -> dict[tuple[int, str], deque[ChatMessage]]:
    """Return the results by the number of the message that asked for them, and the id of the call.

    A result belongs to the latest call of its id: servers repeat ids, and programs may write each of several calls
    into a message of its own, before all of their results.
    """
    asked: dict[str, int] = {}
    found: dict[tuple[int, str], deque[ChatMessage]] = {}
    for number, message in enumerate(messages):
        asked.update((call.id, number) for call in message.calls)
        if message.role is Role.TOOL and message.call_id in asked:
            found.setdefault((asked[message.call_id], message.call_id), deque()).append(message)
    return found


def _sendable(name: str) -> str:
    """Replace characters of a made-up name that servers refuse in a history."""
    longest = LONGEST_MCP_NAME if name.startswith("mcp__") else LONGEST_NAME
    return re.sub(r"[^A-Za-z0-9_-]", "_", name)[:longest] or "unknown"


def _native(needs_answer: bool, messages: Iterable[ChatMessage]) -> Iterator[ChatMessage]:
    last = None
    for message in messages:
        if needs_answer and last is Role.TOOL and message.role is Role.USER:
            yield ChatMessage(Role.ASSISTANT, BROKEN_OFF)
        last = message.role
        yield message


def _one_by_one(needs_answer: bool, messages: Iterable[ChatMessage]) -> Iterator[ChatMessage]:
    """Write parallel calls as if they were made one after the other."""
    waiting: deque[ToolCall] = deque()
    for message in _native(needs_answer, messages):
        if message.role is Role.TOOL:
            yield message
            if waiting:
                yield ChatMessage(Role.ASSISTANT, calls=(waiting.popleft(),))
        else:
            waiting = deque(message.calls[1:])
            yield replace(message, calls=message.calls[:1])


def _images_apart(messages: Iterable[ChatMessage]) -> Iterator[ChatMessage]:
    """Move the images of results into a message after them: OpenAI's API refuses them anywhere else."""
    images: tuple[bytes, ...] = ()
    for message in messages:
        if message.role is Role.TOOL and message.images:
            images += message.images
            message = replace(message, content=paragraphs(message.content, IMAGES_FOLLOW), images=())
        elif message.role is not Role.TOOL and images:
            yield ChatMessage(Role.USER, IMAGES_OF_RESULTS, images=images)
            images = ()
        yield message
    if images:
        yield ChatMessage(Role.USER, IMAGES_OF_RESULTS, images=images)


def _written(format_: Format, messages: Iterable[ChatMessage]) -> Iterator[ChatMessage]:
    """Write calls in the text format, and their results in one message."""
    results: list[ChatMessage] = []
    for message in messages:
        if message.role is Role.TOOL:
            results.append(message)
            continue
        yield from _handed_back(format_, results)
        results = []
        calls = format_.write_calls(message.calls) if message.calls else ""
        yield replace(message, content=paragraphs(message.content, calls), calls=())
    yield from _handed_back(format_, results)


def _handed_back(format_: Format, results: Sequence[ChatMessage]) -> Iterator[ChatMessage]:
    if results:
        images = tuple(image for result in results for image in result.images)
        yield ChatMessage(Role.USER, format_.write_results(results), images=images)


def _stated(messages: Iterable[ChatMessage]) -> Iterator[ChatMessage]:
    for message in messages:
        if message.role is Role.TOOL:
            yield ChatMessage(Role.USER, result_in_words(message.name, message.content), images=message.images)
        else:
            stated = [_call_in_words(call) for call in message.calls]
            yield replace(message, content=paragraphs(message.content, *stated), calls=(), thinking="")


def result_in_words(name: str, text: str) -> str:
    """Return the result of a tool for a message of the user."""
    return f"Result of the tool {name}:\n{text}"


def _call_in_words(call: ToolCall) -> str:
    return f"I used the tool {call.name} with {json.dumps(call.arguments, ensure_ascii=False)}."


NOT_IN_TEXT: Mapping[str, Render] = MappingProxyType({"native": partial(_native, True), "": _stated})


def _joined(messages: Iterable[ChatMessage]) -> list[ChatMessage]:
    """Join neighbouring messages of the same role, a whole row at once: pairs would cost the square of its length."""
    joined: list[ChatMessage] = []
    row: list[ChatMessage] = []
    for message in messages:
        if row and not _may_join(row[-1], message):
            joined.append(_join(row))
            row = []
        row.append(message)
    return [*joined, _join(row)] if row else joined


def _says_nothing(message: ChatMessage) -> bool:
    spoken = message.role in (Role.USER, Role.ASSISTANT)
    return spoken and not (message.calls or message.images or message.content.strip())


def _without_blank(message: ChatMessage) -> ChatMessage:
    """Empty a blank text beside calls or images: Anthropic's API refuses a text block without a visible character."""
    blank = message.role is not Role.TOOL and message.content and not message.content.strip()
    return replace(message, content="") if blank else message


def _may_join(one: ChatMessage, other: ChatMessage) -> bool:
    return one.role is other.role and one.role is not Role.TOOL and not one.calls


def _join(row: Sequence[ChatMessage]) -> ChatMessage:
    if len(row) == 1:
        return row[0]
    return replace(
        row[-1],
        content=paragraphs(*(message.content for message in row)),
        thinking=paragraphs(*(message.thinking for message in row)),
        images=tuple(image for message in row for image in message.images),
    )
