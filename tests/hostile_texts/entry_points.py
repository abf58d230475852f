"""Every place that reads texts which others wrote, with its limit: the table of docs/safety.md, as functions."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from chat.broadcast.client_frames import FRAME_LIMIT, TEXT_LIMIT
from chat.broadcast.error_codes import FrameError
from chat.mcp.client.connection import in_words
from chat.mcp.client.results import ResultReader
from chat.pages import export_writers
from chat.templatetags import readable
from chat.tools import list_directory
from chat.tools.files import image_sizes
from chat.tools.files.workspace import WorkspaceEntry
from chat.tools.sandbox.program_steps import PrintedOutput
from chat.transcript.conversations import listing
from chat.transcript.messages import mcp_result_parts, table_chart, titles
from chat.websocket import frame_parsing
from tests.hostile_texts import further_readers
from tests.hostile_texts.units import text
from tests.toolsupport.core.formats.cases.case import TOOLS
from toolsupport import providers
from toolsupport.core import (
    call_validation,
    client_address,
    context_overflow,
    error_body,
    exchange_text,
    families,
    file_access_refusals,
    invisible_chars,
    json_repair,
    load_failures,
    modelfile,
    name_checks,
    reasoning,
    redaction,
    remote_tools,
    sanitize,
    server_address_rules,
    server_faults,
    server_refusals,
    shell_equivalents,
    spreadsheet,
    strict_json,
    tokenize,
    tool_lookup,
    unquoted_text,
    user_models,
)
from toolsupport.core.constrained import plain_patterns
from toolsupport.core.errors import ConfigError
from toolsupport.core.events import Finished, TextDelta
from toolsupport.core.exams import exam_files
from toolsupport.core.formats import FORMATS
from toolsupport.core.markdown_blocks import BlockSplitter
from toolsupport.core.prompt import token_counts
from toolsupport.core.pull_progress import PullReader
from toolsupport.core.quoted_calls import ResultIndex
from toolsupport.core.reply_reader import ReplyReader
from toolsupport.core.tool_index import IndexEntry, ToolIndex
from toolsupport.core.types import ChatMessage, Role, ToolCall, ToolSpec
from toolsupport.gateway import chat_request
from toolsupport.gateway.request_errors import InvalidField
from toolsupport.gateway.streamable_arguments import are_sure
from toolsupport.providers.line_splitter import LineSplitter
from toolsupport.providers.survey_types import ModelDetails, ModelReport, ServerReport
from toolsupport.registry.models import survey_truncation
from toolsupport.sources import guard
from toolsupport.sources.types import SourceError

# S1: seconds of the processor for a block of so many characters, and for a message.
BLOCK, BLOCK_SECONDS, MESSAGE_SECONDS = 20_000, 0.1, 1.0
KIB = 1024
# A reply is read in ten slices of this size, and others go on between them.
REPLY_SECONDS = 10 * BLOCK_SECONDS


@dataclass(frozen=True, slots=True)
class EntryPoint:
    """`read` gets a text of `size` characters; `worst` are units that cost most, which are tried every day.

    `seconds` are permitted where others do not wait: in a process of its own, or between pauses.
    """

    read: Callable[[str], object]
    size: int
    worst: tuple[str, ...] = ()
    seconds: float = 0

    @property
    def budget(self) -> float:
        return self.seconds or min(MESSAGE_SECONDS, BLOCK_SECONDS * max(1.0, self.size / BLOCK))


def cost(entry: EntryPoint, unit: str, size: int) -> float:
    """Return the seconds of the processor for a text of this unit: of two runs the cheaper one."""
    written, found = text(unit, size), []
    for _ in range(2):
        server_refusals.classify.cache_clear()
        begun = time.thread_time()
        entry.read(written)
        found.append(time.thread_time() - begun)
        if found[0] < entry.budget / 4:
            break
    return min(found)


def refusing(read: Callable[[str], object], *refusal: type[Exception]) -> Callable[[str], object]:
    """Return a reader for which a refusal with a reason is in order."""

    def run(written: str) -> object:
        try:
            return read(written)
        except refusal as error:
            return error

    return run


def reply(name: str, piece: int = 64) -> Callable[[str], object]:
    """Return a reader of replies in one format, in the pieces in which a server streams them."""

    def run(written: str) -> object:
        reader = ReplyReader(name, TOOLS)
        for at in range(0, len(written), piece):
            reader.feed([TextDelta(written[at : at + piece])])
        return reader.feed([Finished("stop")])

    return run


def quoted(written: str, *keys: str) -> bytes:
    """Return JSON with the text under these keys, the outer one first."""
    value: Any = sanitize.text(written)
    for key in reversed(keys):
        value = {key: value}
    return json.dumps(value).encode()


def errors(written: str) -> Iterator[object]:
    """Read the bodies of an error that hold this text: plain, one message, many messages, a line for each."""
    each = sanitize.text(written[:2000])
    many = [{"message": f"{each} {number}"} for number in range(max(1, len(written) // max(1, len(each))))]
    yield server_refusals.classify(400, written)
    yield server_refusals.classify(400, quoted(written, "error", "message").decode())
    yield server_refusals.classify(400, json.dumps({"error": many}))
    yield server_refusals.classify(400, "\n".join(f"data: {json.dumps(one)}" for one in many))


def arguments(written: str) -> object:
    """Check a call whose texts, names and schema are this text."""
    written = sanitize.text(written)
    schema = {
        "properties": {"a": {"type": "string", "pattern": "^[a-z]*$", "enum": [written[:50]]}, written[:60]: {}},
        "patternProperties": {"^x-": {"type": "integer"}},
        "additionalProperties": {"items": {"anyOf": [{"type": "integer"}, {"type": "null"}]}},
    }
    offered = (ToolSpec("note", "", schema),)
    parts = [written[at : at + 100] for at in range(0, len(written), 100)]
    return [
        call_validation.check(ToolCall("1", "note", given), offered)
        for given in ({"a": written}, {"list": parts}, {part: 1 for part in parts}, {"b": written})
    ]


def definitions(written: str) -> object:
    """Read a list of tools whose names, descriptions and schemas are this text."""
    written = sanitize.text(written)
    tools = [
        {
            "name": f"{written[:100]}{number}",
            "description": written[:500],
            "inputSchema": {"properties": {written[:200]: {}}},
        }
        for number in range(max(1, len(written) // 800))
    ]
    taken, _ = remote_tools.taken(tools)
    return [remote_tools.spec_of("server", one) for one in taken.values()]


def named(written: str) -> object:
    """Read one name of a model, a server or a tool."""
    return [
        families.find(written),
        name_checks.problem(written),
        name_checks.path_problem(written),
        tool_lookup.find_tool(written, TOOLS),
        call_validation.check(ToolCall("1", written, {}), TOOLS),
        remote_tools.callable_name("server", written),
    ]


def searched(written: str) -> object:
    index = ToolIndex([IndexEntry(f"tool_{number}", written) for number in range(20)])
    return index.find(written, 5)


def results(written: str) -> object:
    """Read the result of an MCP tool: as parts of each kind, structured, and as it is shown."""
    reader = ResultReader("server", None)  # type: ignore[arg-type]  # nothing is saved
    written = sanitize.text(written)
    parts = [{"type": "text", "text": written}, {"type": "resource_link", "uri": written, "name": written}]
    found = reader.read({"content": parts, "structuredContent": {"result": written}})
    return mcp_result_parts.parts(found.content), mcp_result_parts.pictures(written)


def conversation(written: str) -> object:
    written = sanitize.text(written)
    tool = {"function": {"name": "a", "description": written[:1000], "parameters": {"properties": {written[:99]: {}}}}}
    given = {"model": "m", "messages": [{"role": "user", "content": written}], "tools": [tool]}
    return chat_request.read(json.dumps(given).encode())


def lines(written: str) -> object:
    splitter = LineSplitter(2 * KIB * KIB)
    data = written.encode(errors="replace")
    return [splitter.feed(data[at : at + 4 * KIB]) for at in range(0, len(data), 4 * KIB)], splitter.flush()


def image(written: str) -> object:
    """Read the size of an image of each kind whose bytes are this text."""
    data = written.encode(errors="replace")
    kinds = {"jpeg": b"\xff\xd8", "webp": b"RIFF\0\0\0\0WEBP", "png": b"", "gif": b"GIF89a"}
    return [image_sizes.size_of(begins + data, f"image/{kind}") for kind, begins in kinds.items()]


def printed(written: str) -> object:
    """Take what a program prints, in pieces and at once."""
    output = PrintedOutput(len(written), lambda _: None)
    for at in range(0, len(written) // 2, 100):
        output.take("", written[at : at + 100])
    output.take("", written)
    return output.text


def message_of_mcp(written: str) -> object:
    """Count and parse a message of an MCP server; its loop is not needed for a count."""
    line = quoted(written, "params", "data")
    return line.count(b"{") + line.count(b"[") + line.count(b","), in_words(ValueError(written))


def reported(written: str) -> object:
    """Bound what a model server reports: every field of it is this text."""
    details = ModelDetails(template_hash=written, capabilities=(written,) * 100, system=written, quantization=written)
    models = tuple(ModelReport(f"{written[:190]}{number}", written, details=details) for number in range(20))
    return survey_truncation.bounded(ServerReport(written, models))


def progress(written: str) -> object:
    """Read lines of a download whose state, layer and error are this text."""
    reader = PullReader()
    for key in ("status", "digest", "error"):
        reader.feed(quoted(written, key))
    return reader.error


def tokens(written: str) -> object:
    """Estimate the tokens of a message and of a call that hold this text."""
    call = ToolCall("1", "a", {"b": written})
    return token_counts._length(ChatMessage(Role.ASSISTANT, written, calls=(call,)))


def blocks(written: str) -> object:
    """Find the blocks of an answer that is shown while it is written."""
    found = BlockSplitter()
    return [found.feed(written[at : at + 64]) for at in range(0, len(written), 64)]


def exam(written: str) -> object:
    """Read an exam whose every text is this one."""
    written = sanitize.text(written)
    case = {"messages": [{"role": "user", "content": written[:3000]}], "answer": {"contains": [[written[:300]]]}}
    cases = [{"id": f"{written[:60]}{number}"} | case for number in range(20)]
    return exam_files.read(json.dumps({"name": written[:100], "cases": cases}).encode())


def streamed(written: str) -> object:
    """Read a reply of both kinds of servers, whose text and whose call are this text in pieces."""
    written, read = sanitize.text(written), []
    pieces = [written[at : at + 50] for at in range(0, len(written), 50)]
    call = [{"index": 0, "id": "a", "function": {"name": "t"}}]
    for piece in pieces:
        call[0]["function"] = {"arguments": piece}
        message = {"content": piece, "tool_calls": call}
        read.append((b"data: " + json.dumps({"choices": [{"delta": message}]}).encode() + b"\n\n", "openai"))
        read.append((json.dumps({"message": {"content": piece}, "done": False}).encode() + b"\n", "ollama"))
    codecs = {kind: providers.provider(kind).codec(2 * KIB * KIB) for kind in ("openai", "ollama")}
    return [codecs[kind].feed(line) for line, kind in read], [codec.flush() for codec in codecs.values()]


ENTRY_POINTS: Mapping[str, EntryPoint] = {
    "a file that is read": EntryPoint(further_readers.file, 256 * KIB),
    "a change of a file": EntryPoint(further_readers.change, 256 * KIB, ("a\nb\n",)),
    "a graded call": EntryPoint(further_readers.graded, 64 * KIB, ("a ",)),
    "messages for a model": EntryPoint(further_readers.rendered, 64 * KIB),
    "a search of models": EntryPoint(further_readers.models, 16 * KIB, ("a ",)),
    "a pattern of a schema": EntryPoint(plain_patterns.plain, 4_000),
    "arguments that have begun": EntryPoint(lambda written: are_sure('{"path": "' + written, TOOLS[1]), 4_000),
    "a sentence about a test": EntryPoint(readable.with_code, 4_000),
    "a result as a chart": EntryPoint(table_chart.fit, 64 * KIB),
    "an image": EntryPoint(image, 256 * KIB),
    "a listing": EntryPoint(
        lambda written: [list_directory._line(WorkspaceEntry(written[:255], "file", size)) for size in range(500)], 255
    ),
    "the output of a program": EntryPoint(printed, 64 * KIB),
    "an estimate of tokens": EntryPoint(tokens, 64 * KIB),
    "a message of an MCP server": EntryPoint(message_of_mcp, 256 * KIB),
    "what a model server reports": EntryPoint(reported, 64 * KIB),
    "the progress of a download": EntryPoint(progress, 64 * KIB),
    "addresses in a header": EntryPoint(
        lambda written: client_address.client("127.0.0.1", written, client_address.PRIVATE), 16 * KIB, ("1.", "::1,")
    ),
    "numbers of a table": EntryPoint(
        lambda written: table_chart.chart(
            ["a", "b"], [["name", written[at : at + 64]] for at in range(0, len(written), 64)]
        ),
        64 * KIB,
    ),
    "blocks of an answer": EntryPoint(blocks, BLOCK, ("a\nb\n", "\\\n", "}\n{\n")),
    "an exam": EntryPoint(refusing(exam, ConfigError), 64 * KIB),
    "a stream of a model server": EntryPoint(streamed, 64 * KIB, ("😀",)),
    "a place in a list": EntryPoint(listing.PagePlace.of, 4_000),
    "a call's arguments": EntryPoint(arguments, 64 * KIB),
    "definitions of tools": EntryPoint(definitions, 64 * KIB),
    "a body of a program": EntryPoint(refusing(conversation, InvalidField), 64 * KIB),
    "a body of a program, as it is": EntryPoint(
        refusing(lambda written: chat_request.read(written.encode(errors="replace")), InvalidField), 64 * KIB
    ),
    "a frame of a page": EntryPoint(
        refusing(lambda written: frame_parsing.parse(quoted(written, "text").decode()), FrameError), TEXT_LIMIT
    ),
    "a frame of a page, as it is": EntryPoint(refusing(frame_parsing.parse, FrameError), FRAME_LIMIT),
    "JSON from outside": EntryPoint(refusing(strict_json.read, ValueError), 256 * KIB),
    "broken JSON of a model": EntryPoint(
        lambda written: json_repair.read_json('{"a": ' + written), 200_000, ('"', '{"a":')
    ),
    "an error of a server": EntryPoint(
        lambda written: list(errors(written)), 60_000, ("1", "the ", "a", "工具", "<script")
    ),
    "numbers of an error": EntryPoint(lambda written: context_overflow.exceeded(400, written), 64 * KIB),
    "a model that is not loaded": EntryPoint(
        lambda written: [load_failures.is_loading(written), server_faults.model_missing(404, written)], 64 * KIB
    ),
    "a page as an error": EntryPoint(lambda written: error_body.unwrap("<html>" + written), 64 * KIB),
    "a refusal in words": EntryPoint(file_access_refusals.claims_no_file_access, 64 * KIB),
    "secrets in a text": EntryPoint(redaction.redact, 64 * KIB, ("tokentoken_", "password", "a://b:")),
    "a raw request": EntryPoint(lambda written: exchange_text.request_text(quoted(written, "a", "b")), 64 * KIB),
    "a raw reply": EntryPoint(
        lambda written: exchange_text.reply_text(written.encode(errors="replace"), b"", 0), 64 * KIB
    ),
    "a template of a model": EntryPoint(reasoning.template_begins_inside, 64 * KIB, ("{{", "{% if a %}", "<think>")),
    "a rendered prompt": EntryPoint(reasoning.prompt_begins_inside, 64 * KIB),
    "a Modelfile": EntryPoint(lambda written: modelfile.settings(written, written), 64 * KIB),
    "names": EntryPoint(named, 2_000),
    "words for a search": EntryPoint(tokenize.terms, 64 * KIB),
    "the search for tools": EntryPoint(searched, 4_000, ("ﷺ",)),
    "the words of a message": EntryPoint(unquoted_text.own_words, TEXT_LIMIT, ("```", "[TOOL_", "> ")),
    "a result that is quoted": EntryPoint(
        lambda written: ResultIndex([ChatMessage(Role.TOOL, written)]).hold(written[:1000]),
        64 * KIB,
        ("> ", "`", "~~~"),
    ),
    "a result of an MCP tool": EntryPoint(results, 64 * KIB, ("[image: a]\n", "[")),
    "a title": EntryPoint(titles.title_of, TEXT_LIMIT, ("![", "*", "**", "> ", "1. ", "[", "[a](", "```")),
    "a search in chats": EntryPoint(lambda written: listing.marked(written, written.split()[:8] or ["a"]), 4_000),
    "a command": EntryPoint(lambda written: shell_equivalents.understood(written), 64 * KIB, ("cat ", "'", '"', "\\")),
    "a query": EntryPoint(
        refusing(lambda written: guard.checked("sqlite", written), SourceError), BLOCK, ("(", "NOT "), 5
    ),
    "an import of models": EntryPoint(
        refusing(lambda written: user_models.read(written.encode(errors="replace")), Exception), 256 * KIB
    ),
    "an address": EntryPoint(refusing(server_address_rules.checked, Exception), 4_000),
    "cells of a table": EntryPoint(lambda written: spreadsheet.lines([[written, written[:50]]] * 3), 64 * KIB),
    "an exported chat": EntryPoint(export_writers.fenced, 64 * KIB),
    "characters that cannot be seen": EntryPoint(invisible_chars.written_out, 64 * KIB),
    "characters that cannot be kept": EntryPoint(sanitize.replaced, 64 * KIB),
    "lines of a stream": EntryPoint(lines, 256 * KIB),
    **{
        f"a reply, {name}": EntryPoint(reply(name), BLOCK, ("{{", '<tool_call>{"'), REPLY_SECONDS)
        for name in ("native", *FORMATS)
    },
}
