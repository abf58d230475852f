"""The sentences that rows of chats hold as codes: notices, ends of answers, questions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from toolsupport.core import left_out_settings, server_flags
from toolsupport.core.sentence_codes import SentenceTable, formatted
from toolsupport.core.sentences import SENTENCES as OF_MODELS

# Notices: a closed list (D4). A row holds the code and the facts; rows of earlier versions hold the sentence.
NOTICES: Mapping[str, str] = MappingProxyType(
    {
        "switched": "Switched to {model}. Tools: {state} ({source})",
        "exam_missing": "{model} has not passed its required exam {exam} on its current build. {state}",
        "detecting": "Testing what {model} can do with tools.",
        "detected": "Tested {model}: {verdict}.",
        "inconclusive": "The test of {model} was inconclusive: {why:bare}.",
        "no_answer": "The question was not answered, so tools stay off for {model}.",
        "saved": "Saved for everyone: {model} {verdict}.",
        "proposed": "In this chat {model} {verdict}. Proposed for everyone.",
        "off_for_this_chat": "Tools are off in this chat for {model}.",
        "model_changed": "Model changed. Finishing this round…",
        "fallback": "{model} {failed}. Continuing with {fallback}.",
        "constrained_retry": "Constrained retry: {model} writes the call of {tool} again, in the form of its schema.",
        "tools_cut": "{model} takes fewer tools at once, so {tools} were left out.",
        "tools_refused": "The server refused tools for {model}. Answered without them.",
        "tools_need_setting": "{model} answers without tools.",
        "prompt_too_long": (
            "This chat and its tools may not fit into the {context} tokens of {model}, which must also hold "
            "the answer. {help}"
        ),
        "tools_no_room": (
            "The {context} tokens of {model} are too few for this chat with all of its tools. Left out: {tools}."
        ),
        "context_raised": (
            "This chat does not fit into {before} tokens, so {model} now gets {context}. The server reloads the model."
        ),
        "cut_raised": (
            "The server cut the beginning of the request, so this answer may miss something. {model} had {before} "
            "tokens and now gets {context}. The server reloads the model."
        ),
        "context_taken_back": (
            "{model} could not be loaded with {failed} tokens. Its context is {context} again, and this size is not "
            "tried again. The server’s answer: {why}."
        ),
        "through_bash": (
            "{model} answered that it cannot access files. It is asked again, with bash instead of the file tools in "
            "this chat. No shell runs: the same file tools do the work."
        ),
        "prompt_cut": "The server cut the beginning of the request: {model} has {context} tokens. {help}",
        "tools_dropped": (
            "The server counted {counted} tokens for this request, fewer than its tools alone have. It seems to have "
            "dropped them, so {model} did not see any tools."
        ),
        "read_by_admin": "{person}, an administrator, read this chat. Reason: {reason}",
        "flag_to_set": server_flags.SENTENCE,
        "settings_left_out": left_out_settings.SENTENCE,
    }
)

# Why an answer ended early: `{}` is the number after the code in the row.
ENDINGS: Mapping[str, str] = MappingProxyType(
    {
        "by_you": "Stopped by you.",
        "superseded": "Stopped, because you sent a new message instead of an answer.",
        "owner_out": "Stopped, because its owner may no longer chat.",
        "shutdown": "The server stopped during this answer.",
        "process_gone": "The server stopped before this answer was finished.",
        "unsaved": "Stopped, because too much text was waiting to be saved. The text above is saved.",
        "storage": "The database could not be written (is the disk full?), so this answer ends here.",
        "internal": "The server failed. Its log has the reason.",
        "model_changed": "The model was changed during this answer.",
        "most_rounds": "The model called tools in {} rounds without finishing.",
        "most_calls": "The model made {} calls without finishing.",
        "same_call": "The model made the same call {} times.",
    }
)
# Questions to people, how much a call would change, why it needs approval; and parts of notices.
QUESTIONS: Mapping[str, str] = MappingProxyType(
    {
        "create_file": "Create {path}?",
        "replace_file": "Replace {path}?",
        "add_to_file": "Add to {path}?",
        "edit_file": "Edit {path}?",
        "run_program": "Run this Python program?",
        "run_command": "Run this command?",
        "use_prompts": "Use these prompts from the next request on: {names:list}?",
        "stop_prompts": "Remove all prompts from this chat?",
        "remember": "Remember {lines} in this chat?",
        "forget_all": "Forget everything in the memory of this chat?",
        "use_tool": "Use {tool}?",
        "act_on": "{act} {target}?",
        "use_server_tool": "Use {tool} of server {server}?",
        "supports_tools": "Does {model} support tools?",
        "this_model_supports_tools": "Does this model support tools?",
        "answer_for_all": "Your answer applies to everyone. A test takes about {seconds} s.",
        "answer_for_chat": (
            "Your answer applies in this chat and is proposed for everyone. A test takes about {seconds} s."
        ),
        "remember_refusal": "{model}: This model appears not to support tools. Update its metadata?",
        "one_line": "1 line",
        "lines": "{count} lines",
        "as_long_as_before": "{lines}, as before",
        "line_becomes": "1 line becomes {after}",
        "lines_become": "{before} lines become {after}",
        "takes_tools": "takes tools",
        "takes_no_tools": "takes no tools",
        "follows_evidence": "follows the evidence again",
        "with_detail": "{words} ({detail})",
        "formats_failed_here": "{formats} do not arrive. {next}",
        "native_from_now": "This chat continues with native tool calls",
        "format_from_now": "This chat continues with {format}",
        "tools_off_here": "Tools are off in this chat",
        "model_failed": "could not answer: {why:bare}",
        "model_failed_others_skipped": "could not answer: {why:bare}. Not used: {skipped}",
        "unreadable_calls": "wrote calls that cannot be read as {format}",
        "needs_native_setting": "needs a server setting for native tools",
        "refused_native_tools": "cannot use native tools: its server refused them",
        "refused_schema": "cannot use constrained output: its server refused it ({message:quoted})",
        "ignored_schema": "cannot use constrained output: its server did not enforce it",
        "unknown_number": "an unknown number of",
        "by_program": "A program with one of your keys requested it.",
        "answer_not_requested": "The answer could not be requested. The log of the server has the error.",
        "exam_failed": "It failed.",
        "exam_waits": "The exam runs when the server is idle.",
        "exam_in_other_format": "It was made in another call format.",
        "in_prose": "The model wrote this call in its answer instead of calling the tool.",
        "after_outside_content": "Requested after reading outside content.",
    }
)
# How a question was answered, for a later answer to it. Any other code is the end of the answer that asked it.
ANSWERED: Mapping[str, str] = MappingProxyType(
    {
        "once": "allowed once",
        "file": "changes of this file are allowed",
        "chat": "allowed in this chat",
        "edit": "allowed with changes",
        "deny": "denied",
        "yes": "yes",
        "no": "no",
        "auto": "test it",
        "none": "no answer in time",
        "save": "save for everyone",
        "session": "only this chat",
        "text": "use text mode",
    }
)
EXPIRED = "The approval has expired. Nothing was run."
SENTENCES = SentenceTable(QUESTIONS, beside=OF_MODELS)
sentence = SENTENCES.sentence
CODE = re.compile(r"([a-z_]+)(?::(\d{1,9}))?")


def notice(code: str, facts: Mapping[str, str]) -> str:
    """Return the text of a notice. Raises KeyError for an unknown code or a missing fact."""
    return formatted(NOTICES[code], facts)


def too_late(answer: str) -> str:
    """Return why a question accepts no more answers; `answer` is the one that it has."""
    if answer == "expired":
        return EXPIRED
    words = ANSWERED.get(answer)
    return (
        f"This was already answered: {words}." if words else "This question is closed: the answer that asked it ended."
    )


def ending(reason: str) -> str:
    """Return why an answer ended: the words of a code; other texts, as of servers and of old rows, unchanged."""
    found = CODE.fullmatch(reason)
    words = ENDINGS.get(found[1]) if found else None
    return words.format(found[2]) if found and words else reason


# Built-in tool → its description for people; the one in requests is for models.
ABOUT_TOOLS: Mapping[str, str] = MappingProxyType(
    {
        "read_file": "Reads a text file of the chat.",
        "list_directory": "Lists the files and folders of the chat.",
        "write_file": "Creates a text file or replaces one.",
        "edit_file": "Changes one place in a text file.",
        "bash": "Runs a shell command in a sandbox without network.",
        "python_execution": "Runs a Python program in a sandbox. The program can call the other tools.",
        "search_schemas": "Finds tables and columns of the databases.",
        "execute_sql": "Runs a read-only SQL query on a database.",
        "memory_dump": "Stores facts to remember, which the model reads with every later message of the chat.",
        "hot_swap": "Lets the model choose which of the team's prompts it follows in the chat.",
        "tool_search": "Finds approved MCP tools by what they do.",
    }
)
