"""Describes a tool call in words: its verb by state, its object, its state and a fact of its result."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from chat.statuses import CallStatus
from toolsupport.core.remote_tools import MARK

# The answers to an approval that a card shows differently, and the mark of a file that did not exist before.
DENY, EXPIRED, ABSENT = "deny", "expired", "no file"


@dataclass(frozen=True, slots=True)
class ToolVerb:
    """The verb of a tool: its base form, its form while it runs and after it ran, and the noun of a group.

    `icon` is a name of icons.svg. Without `many` the group counts times.
    """

    base: str
    now: str
    done: str
    icon: str = "tool"
    many: str = ""


VERBS = {
    "read_file": ToolVerb("read", "Reading", "Read", "file", "files"),
    "list_directory": ToolVerb("list", "Listing", "Listed", "folder", "folders"),
    "write_file": ToolVerb("write", "Writing", "Wrote", "edit", "files"),
    "edit_file": ToolVerb("edit", "Editing", "Edited", "edit", "files"),
    "execute_sql": ToolVerb("query", "Querying", "Queried", "database"),
    "bash": ToolVerb("run", "Running", "Ran", "play", "commands"),
    "python_execution": ToolVerb("run", "Running", "Ran", "play", "programs"),
    "memory_dump": ToolVerb("remember", "Remembering", "Remembered", "edit", "texts"),
    "search_schemas": ToolVerb("search tables for", "Searching tables for", "Searched tables for", "search", "phrases"),
    "tool_search": ToolVerb("search tools for", "Searching tools for", "Searched tools for", "search", "phrases"),
    "hot_swap": ToolVerb("use prompts", "Using prompts", "Used prompts", "swap"),
}
# The words for a permission for a whole chat, which covers the whole tool.
SCOPES = {
    "replace": "Replace files in this chat",
    "create": "Create and replace files in this chat",
    "add to": "Add to and replace files in this chat",
    "edit": "Edit files in this chat",
    "query": "Query databases in this chat",
    "remember": "Change the memory in this chat",
    "forget everything": "Change the memory in this chat",
    "use prompts": "Change the prompts in this chat",
    "remove all prompts": "Change the prompts in this chat",
}
CREATE = ToolVerb("create", "Creating", "Created", "edit", "files")
REPLACE = ToolVerb("replace", "Replacing", "Replaced", "edit", "files")
APPEND = ToolVerb("add to", "Adding to", "Added to", "edit", "files")
FORGET = ToolVerb("forget everything", "Forgetting everything", "Forgot everything", "edit", "texts")
NO_PROMPTS = ToolVerb("remove all prompts", "Removing all prompts", "Removed all prompts", "swap")
OTHER = ToolVerb("use", "Using", "Used")
# Tool → the argument whose content it stores, and the verb if that is empty.
EMPTYING = {"memory_dump": ("text", FORGET), "hot_swap": ("prompts", NO_PROMPTS)}

# State → form of the verb; in every other state the call did not run.
WANTS = (CallStatus.PENDING, CallStatus.WAITING)
COULD_NOT = (CallStatus.FAILED, CallStatus.TIMEOUT)
STATES = {
    CallStatus.PENDING: "Queued",
    CallStatus.WAITING: "Needs approval",
    CallStatus.FAILED: "Failed",
    CallStatus.TIMEOUT: "Timed out",
    CallStatus.DENIED: "Not allowed",
    CallStatus.STOPPED: "Stopped",
    CallStatus.REJECTED: "Not run",
    "interrupted": "Interrupted",
}
ANSWERS = {DENY: "Denied", EXPIRED: "Expired"}
# A result of read_file that is not text, or not all of it.
READ_NOTE = re.compile(r"(?:\A|\n\n)\[(?:Cut here|The file is empty|This is a binary file)[^\n\]]{0,200}\]\Z")
ROWS = re.compile(r"\[(?:The first \d{1,9} of )?(No|\d{1,9}) rows?\b[^\n\]]{0,200}\]\Z")


def verb_of(name: str, arguments: Mapping[str, object], basis: str = "") -> ToolVerb:
    """Return the verb of a call; `basis` is that of its approval, which shows whether a file existed."""
    if name == "write_file" and arguments.get("append") is True:
        return APPEND
    if name == "write_file" and basis:
        return CREATE if basis == ABSENT else REPLACE
    argument, emptying = EMPTYING.get(name, ("", OTHER))
    return emptying if argument and _blank(arguments.get(argument)) else VERBS.get(name, OTHER)


def _blank(value: object) -> bool:
    return value == [] or (isinstance(value, str) and not value.strip())


def act_of(verb: ToolVerb) -> str:
    """Return the word with which the buttons of an approval begin: "Replace", "Add"."""
    return verb.base.split()[0].capitalize()


def in_state(verb: ToolVerb, status: str) -> str:
    """Return the verb in the tense of a state: "Wants to read", "Reading", "Read", "Could not read", "Did not read"."""
    if status in WANTS:
        return f"Wants to {verb.base}"
    if status == CallStatus.RUNNING:
        return verb.now
    if status == CallStatus.DONE:
        return verb.done
    return f"{'Could' if status in COULD_NOT else 'Did'} not {verb.base}"


def state_word(status: str, answer: str = "") -> str:
    """Return the word beside a call that has not simply run; an expired approval is not a denied one."""
    if status == CallStatus.DENIED and answer in ANSWERS:
        return ANSWERS[answer]
    return STATES.get(status, "")


def target_of(name: str, target: str) -> str:
    """Return the object of a call; for a tool without a verb of its own, the tool with its MCP server."""
    if name in VERBS:
        return "this folder" if target == "." else target
    server, mark, tool = name.partition(MARK)
    return f"{tool} of {server}" if mark else name


def scope_of(name: str, verb: ToolVerb) -> str:
    """Return the words of a permission for a chat: "Run commands in this chat", "Use draw of box in this chat"."""
    if verb.base in SCOPES:
        return SCOPES[verb.base]
    return " ".join(filter(None, [verb.base.capitalize(), verb.many or target_of(name, ""), "in this chat"]))


def anonymous(name: str) -> str:
    """Return the object of a call whose arguments are not shown: "a file", or the name of a tool without a verb."""
    verb = VERBS.get(name)
    if verb is None:
        return target_of(name, "")
    return f"a {verb.many.removesuffix('s')}" if verb.many else ""


def fact(name: str, result: str) -> str:
    """Return the most useful fact of a result on one line: "5 lines", "3 entries", "6 rows"."""
    if name == "read_file":
        return "" if READ_NOTE.search(result[-300:]) else counted(len(result.splitlines()), "line")
    if name == "list_directory":
        return counted(sum(not line.startswith("[") for line in result.splitlines()), "entry", "entries")
    found = ROWS.search(result[-300:]) if name == "execute_sql" else None
    return "" if found is None else counted(0 if found[1] == "No" else int(found[1]), "row")


RISKS = {"A0": "read", "A1": "read", "A2": "files", "A3": "code", "A4": "outside"}


def risk_of(name: str, level: str) -> str:
    """Return the risk of a tool; the arguments of an MCP tool leave the site at any level."""
    return "outside" if MARK in name else RISKS.get(level, "outside")


def counted(count: int, one: str, many: str = "") -> str:
    """Return "1 line", "5 lines"."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"
