"""Finds the offered tool for an intent, by the tools' definitions."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace

from toolsupport.simulator.rules import remember_requests
from toolsupport.simulator.rules.intents import Intent, IntentKind
from toolsupport.simulator.types import OfferedTool

# Names of parameters, by their meaning.
SYNONYMS = {
    "path": "path file filename filepath file_path file_name directory dir dirname dir_path directory_path "
    "folder folder_path location uri target pathname",
    "content": "content contents text data body",
    "command": "command cmd shell_command script commandline",
    "expression": "expression expr formula calculation equation query input",
    "code": "code source program",
    "old": "old old_text old_string old_str search find before",
    "source": "source database",
    "new": "new new_text new_string new_str replacement replace after",
    "zone": "timezone time_zone tz zone",
    "zone_from": "source_timezone from_timezone source_tz from_tz",
    "zone_to": "target_timezone to_timezone target_tz to_tz",
    "clock": "time",
    "things": "entities",
    "facts": "observations",
    "subject": "name entityname",
    "sort": "entitytype",
}
MEANINGS = {name: meaning for meaning, names in SYNONYMS.items() for name in names.split()}


@dataclass(frozen=True, slots=True)
class ToolRole:
    """Names, descriptions and parameters of one kind of tool. `never` are parameters that exclude it."""

    verbs: frozenset[str]
    nouns: frozenset[str]
    about: str
    takes: frozenset[str]
    never: frozenset[str] = frozenset()


def _role(words: str, about: str, takes: str, never: str = "") -> ToolRole:
    verbs, _, nouns = words.partition("|")
    return ToolRole(_set(verbs), _set(nouns), about, _set(takes), _set(never))


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


ROLES = {
    IntentKind.LIST: _role(
        "list ls dir browse tree show get | directory directories folder folders files dir ls contents entries",
        r"\b(?:list|show|entries|names)\b.*\b(?:director|folder|files)",
        "",
        "content command old expression",
    ),
    IntentKind.READ: _role(
        "read open cat view load get show fetch | file text document contents content",
        r"\b(?:read|return|show|get)s?\b.*\b(?:contents?|text|file)\b",
        "path",
        "content command old",
    ),
    IntentKind.WRITE: _role(
        "write save create put store | file text document note contents",
        r"\b(?:write|save|create|store)s?\b.*\bfile",
        "path content",
        "old command",
    ),
    IntentKind.APPEND: _role("append add | file text document note", r"\bappends?\b", "path content", "old command"),
    IntentKind.EDIT: _role(
        "edit replace patch change | file text", r"\b(?:replace|edit)s?\b", "path old new", "command"
    ),
    IntentKind.REMEMBER: _role(
        "memory remember memorize save note dump | memory memo note remember dump",
        r"\b(?:remember|memor)",
        "content",
        "path old command",
    ),
    IntentKind.RUN: _role(
        "bash shell run exec execute sh terminal | bash shell command terminal cmd sh",
        r"\b(?:run|execute)s?\b.*\b(?:command|shell|bash)",
        "command",
    ),
    IntentKind.QUERY: _role("execute run | sql", r"\b(?:run)s?\b.*\bSQL\b", "source"),
    IntentKind.TIME: _role("get current now | time clock", r"\btime\b", "zone", "clock"),
    IntentKind.CONVERT: _role("convert | time timezone", r"\bconvert", "zone_from zone_to clock"),
    IntentKind.COMPUTE: _role(
        "calc calculator calculate compute evaluate eval math | calc calculator calculate compute math expression",
        r"\b(?:calculat|arithmetic|mathemat)",
        "expression",
        "path content",
    ),
    IntentKind.PROGRAM: _role(
        "python code run execute | python execution code interpreter",
        r"\bpython\b",
        "code",
        "path content command",
    ),
}
# Tools that store facts about subjects, best first. They are preferred: they store for longer than one conversation.
GRAPHS = (
    _role("create add | entity entities", r"\bentit", "things"),
    _role("create add | observation observations", r"\bobservation", "facts", "things"),
)
# The tool that finds more tools.
FINDER = _role("search find discover | tool tools", r"\b(?:find|search)\b.*\btools?\b", "expression")
# Shell commands for what no other tool does.
SHELL = {
    IntentKind.LIST: "ls {path}",
    IntentKind.READ: "cat {path}",
    IntentKind.WRITE: "printf '%s\\n' {content} > {path}",
    IntentKind.APPEND: "echo {content} >> {path}",
    IntentKind.EDIT: "sed -i {script} {path}",
}

# Words in the names of tools that do not show their purpose.
PLAIN = _set(
    "get set do run make use call fetch find search list read write show tool file query data new test my python"
)


def meanings(tool: OfferedTool) -> set[str]:
    """Return the meanings of the tool's parameters, as far as their names show them."""
    return {MEANINGS[name.lower()] for name in tool.properties if name.lower() in MEANINGS}


def words(name: str) -> list[str]:
    """Split a name in snake_case, camelCase or with dots into words."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|[^A-Za-z0-9]+", " ", name).lower().split()


def purpose(tool: OfferedTool) -> str:
    """Return the first sentence of a description: later sentences explain, and name other things too."""
    return re.split(r"(?<=[.!?:])\s|\n\s*\n", tool.description.strip(), maxsplit=1)[0]


def score(tool: OfferedTool, role: ToolRole) -> int:
    """Return how well a tool fits a role; 0 is not at all."""
    given, named = meanings(tool), set(words(tool.name))
    if role.takes - given or role.never & given:
        return 0
    by_name = 3 if named & role.verbs and named & role.nouns else 0
    by_words = 2 if re.search(role.about, purpose(tool), re.IGNORECASE) else 0
    return by_name + by_words


def find(intent: Intent, tools: Sequence[OfferedTool]) -> tuple[OfferedTool, Intent] | None:
    """Return the tool for an intent, and the intent in that tool's parameters; None if none fits."""
    if intent.kind in FINDERS:
        return FINDERS[intent.kind](intent, tools)
    if intent.kind == IntentKind.CALL:
        return next(((tool, intent) for tool in tools if tool.name == intent["tool"]), None)
    if intent.kind in ROLES:
        return _best(intent, tools) or _through_shell(intent, tools)
    return _by_subject(intent, tools) if intent.kind == IntentKind.UNKNOWN else None


def _of_database(intent: Intent, tools: Sequence[OfferedTool]) -> tuple[OfferedTool, Intent] | None:
    """Return the database tool, with the first database in its definition."""
    found = _best(intent, tools)
    named = re.search(r"\bDatabases: ([\w-]+)", found[0].description) if found else None
    return (found[0], replace(intent, values={**intent.values, "source": named[1]})) if found and named else None


def _of_memory(intent: Intent, tools: Sequence[OfferedTool]) -> tuple[OfferedTool, Intent] | None:
    """Return a tool that stores facts about subjects, else one that stores a text."""
    graph = next(filter(None, (_player(role, tools) for role in GRAPHS)), None)
    if graph is None:
        return _best(intent, tools)
    found = remember_requests.values(intent["content"])
    return graph, replace(intent, values={**intent.values, **found, "keeper": graph.name})


FINDERS = {IntentKind.QUERY: _of_database, IntentKind.REMEMBER: _of_memory}


def finder(tools: Sequence[OfferedTool]) -> OfferedTool | None:
    """Return the tool that finds more tools."""
    return _player(FINDER, tools)


def _best(intent: Intent, tools: Sequence[OfferedTool]) -> tuple[OfferedTool, Intent] | None:
    best = _player(ROLES[intent.kind], tools)
    return (best, intent) if best else None


def _player(role: ToolRole, tools: Sequence[OfferedTool]) -> OfferedTool | None:
    """Return the tool that fits a role best."""
    best = max(tools, key=lambda tool: score(tool, role), default=None)
    return best if best and score(best, role) else None


def _through_shell(intent: Intent, tools: Sequence[OfferedTool]) -> tuple[OfferedTool, Intent] | None:
    if intent.kind not in SHELL:
        return None
    values = dict(intent.values) | ({"script": _script(intent)} if intent.kind == IntentKind.EDIT else {})
    quoted = {name: shlex.quote(value) for name, value in values.items()}
    command = SHELL[intent.kind].format(**{"path": ".", "content": "''", **quoted})
    found = _best(Intent(IntentKind.RUN, intent.text, {"command": command}), tools)
    return (found[0], replace(intent, values={**intent.values, "command": command})) if found else None


def _script(intent: Intent) -> str:
    """Return the sed script: the old text literally, and the new one."""
    old, new = re.sub(r"([\\/.*\[\]^$])", r"\\\1", intent["old"]), re.sub(r"([\\/&])", r"\\\1", intent["new"])
    return f"s/{old}/{new}/"


def _by_subject(intent: Intent, tools: Sequence[OfferedTool]) -> tuple[OfferedTool, Intent] | None:
    """Return a tool with a word in its name that the person used too: `get_weather` for the weather."""
    words_used = set(re.findall(r"[a-z0-9]+", intent.text.lower()))
    return next(((tool, intent) for tool in tools if words_used & (set(words(tool.name)) - PLAIN)), None)
