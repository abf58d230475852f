"""No answer of a simulated model claims an act that was denied, expired, stopped or failed."""

from __future__ import annotations

import json
import re

from tests.tables import every
from toolsupport.simulator.quirks import honest
from toolsupport.simulator.rules import answers
from toolsupport.simulator.rules.intents import Intent, IntentKind
from toolsupport.simulator.types import HistoryMessage, ModelInput, OfferedTool, SimulatedCall

# What this product tells models, and what others do.
NOT_DONE = (
    "The person did not allow this call. Do not try it again; ask what to do instead.",
    "This call was not allowed in time, so it was not run.",
    "A new message came before anybody answered, so it was not run.",
    "The call was changed after it was allowed, so it was not run.",
    "The approval is too old, so it was not run. Request it again.",
    "The permission for this tool was withdrawn, so it was not run. Call it again to ask a person.",
    "write_file became another tool after this was allowed, so it was not run. Call it again to ask a person.",
    "A person stopped this tool.",
    "Not run: a call before it was not allowed.",
    "Not run: too many calls in one answer.",
    "Not finished: the answer was stopped.",
    "This call was not finished: it was interrupted before it gave a result.",
    "The program was stopped: it made too many calls, or the same one too often.",
    "A person would have to allow this, and the program holds too much to wait. Call it earlier in it.",
    "write_file was not run: there is no such tool.",
    "write_file was switched off meanwhile.",
    "write_file was stopped: it took longer than 30 seconds.",
    "write_file failed. The server's log has the reason.",
    "The tool ran, but its result could not be stored. The server's log has the reason.",
    "The arguments of write_file do not fit: path: 3 is not of type 'string'. Call it again with arguments that fit.",
    'There is no tool called "writefile". Did you mean "write_file"?',
    "There is not enough room: only 3 KiB are free in this workspace.",
    "Nothing was changed: the old text does not occur. Give a longer piece that occurs exactly once.",
    "memory is not connected. Continue without it, or try again later.",
    "create_entities of memory no longer matches its approved definition. An administrator must check it.",
    "one line\nof output\nthen\nmore\nand\n[A person stopped this tool.]",
    "Permission denied",
    "User rejected the request",
    "The user declined this tool call.",
    "Denied by policy.",
    "Error: operation timed out",
    "timeout",
    "Request expired",
    "Cancelled by the user",
    "Tool execution was aborted.",
    "The file was not written.",
    "No file was saved.",
    "I couldn't save that.",
    "You don't have permission to do this.",
    "Approval required",
    "Forbidden",
    "Awaiting approval",
    "This will be written once an administrator agrees.",
    '{"success": false, "message": "quota"}',
    '{"status": "denied"}',
    '{"ok": false}',
    '{"isError": true, "content": "quota"}',
    '{"error": {"message": "quota"}}',
    '{"content": "The person did not allow this call. Do not try it again; ask what to do instead."}',
    '[{"type": "text", "text": "The person did not allow this call."}]',
)
# Words for an act that only a result which confirms it may lead to.
CLAIMS = re.compile(
    r"\bDone\b|\bI (?:wrote|added|changed|ran|will remember)\b|\bNoted\b|\bholds \d|\bhas \d+ lines?\b|is empty\.$"
    r"| = \*\*|\bThe program gave\b|\bsum of column\b|\bIt is \*\*"
)
VALUES = {"path": "notes.md", "content": "hi", "command": "ls", "expression": "1+1", "column": "cups", "place": "Tokyo"}
ACTS = (IntentKind.WRITE, IntentKind.APPEND, IntentKind.EDIT, IntentKind.REMEMBER)
# Sentences that no rule can know: only acts are held to them, since every other answer quotes what came.
UNFORESEEN = (
    "Awaiting approval",
    "This will be written",
    "No file was saved",
    "The file was not written",
    "I couldn't",
)


# M8
@every("text, kind", [(text, kind) for text in NOT_DONE for kind in IntentKind])
def test_nothing_is_claimed_of_what_did_not_happen(text: str, kind: IntentKind) -> None:
    if kind not in ACTS and text.startswith(UNFORESEEN):
        return
    for more in ({}, {"keeper": "create_entities", "subject": "tea"}):
        said = answers.with_result(Intent(kind, "do it", VALUES | more), text)
        assert not CLAIMS.search(said), said


READ_TEXTS = (
    "timeout = 30",
    "There is no warranty.",
    "Permission bits: 0644",
    "stop = false",
    "[settings]\ninvalid = 1",
)


@every("text", READ_TEXTS)
def test_what_a_file_holds_is_no_denial(text: str) -> None:
    assert "`notes.md` has" in answers.with_result(Intent(IntentKind.READ, "read", VALUES), text), text


DONE_TEXTS = (
    "Wrote 1 line to notes.md.",
    "Added 2 lines to not-now.md.",
    "Changed notes.md.",
    "Remembered 1 line.",
    "",
    "ok",
    "Successfully wrote to /tmp/error.log",
    "File 'failed.txt' has been updated.",
    '{"success": true}',
    '[{"name": "tea", "entityType": "thing"}]',
)


@every("text, kind", [(text, kind) for text in DONE_TEXTS for kind in ACTS])
def test_what_was_done_is_told(text: str, kind: IntentKind) -> None:
    assert re.match("Done|Noted", answers.with_result(Intent(kind, "do it", VALUES), text)), text


def test_words_that_confirm_nothing_are_quoted() -> None:
    said = answers.with_result(Intent(IntentKind.WRITE, "write", VALUES), "The moon is full.")
    assert "Done" not in said and "The moon is full." in said


TEXT = {"type": "object", "properties": {"text": {"type": "string"}}}
TOOLS = (OfferedTool("get_code", "Gives a code", {}), OfferedTool("record_note", "Records a note", TEXT))


def test_a_chain_ends_where_a_call_was_denied() -> None:
    asked = HistoryMessage("user", "Call get_code, then call record_note with the code it returns")
    called = HistoryMessage("assistant", calls=(SimulatedCall("get_code", {}),))
    denied = HistoryMessage("tool", NOT_DONE[0], name="get_code")
    said = honest.reply(ModelInput((asked, called, denied), TOOLS))
    assert not said.calls and "did not allow" in said.content and "did not call `record_note`" in said.content
    fine = HistoryMessage("tool", json.dumps({"code": "a-1234"}), name="get_code")
    assert honest.reply(ModelInput((asked, called, fine), TOOLS)).calls[0].name == "record_note"
