"""Checks, identifies and describes tools that other programs offer."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from toolsupport.core import call_validation, name_checks, text_diff
from toolsupport.core.invisible_chars import UNSEEN, written_out
from toolsupport.core.schema_keywords import DATA, MAPPINGS
from toolsupport.core.schema_limits import SchemaBudget, UnsupportedSchema
from toolsupport.core.schema_spelling import in_json_schema, spelled
from toolsupport.core.sentences import sentence
from toolsupport.core.types import JSON, ToolSpec

NAME_LENGTH = 64
MARK = "__"  # between the name of a server and that of its tool
SERVER_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_-]{0,30}[A-Za-z0-9])?")
DESCRIPTION_LENGTH = 1024
ABOUT_LENGTH = 160
MOST_TOOLS = 500
MOST_CHARACTERS = 32 * 1024  # of one definition, written as JSON
OBJECTS = MAPPINGS | {"items", "additionalProperties"}  # keywords whose value is an object
UNWRITABLE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class RemoteServer:
    """How one server is reached: the address of an http server, or the command of one that is started here.

    `env` holds its environment variables with their values, and is never shown.
    """

    id: int
    name: str
    kind: str
    url: str = ""
    token: str = field(default="", repr=False)
    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}), repr=False)
    cwd: str = ""


@dataclass(frozen=True, slots=True)
class RemoteTool:
    """A tool with its approved definition. `approved`: it may be offered in that form; `enabled`: it is switched on.

    `connected`: its server is in use. `in_house`: data that models send to it stays internal. `missing` is any other
    reason why it cannot be called, or "".
    """

    server: RemoteServer
    name: str
    spec: ToolSpec
    digest: str
    read_only: bool = False
    in_house: bool = False
    enabled: bool = True
    connected: bool = True
    approved: bool = True
    missing: str = ""

    @property
    def level(self) -> str:
        """Read-only if an administrator marked it so; the server's own claims are ignored."""
        return "A1" if self.read_only else "A3"


@dataclass(frozen=True, slots=True)
class CheckedTools:
    """The tools of one server: the accepted definitions and their digests by name, and why others were left out."""

    accepted: Mapping[str, JSON]
    digests: Mapping[str, str]
    left_out: tuple[str, ...]


def canonical(definition: JSON) -> str:
    """Serialise the definition in one canonical form. Raises ValueError for NaN and infinities, which JSON has not."""
    return json.dumps(definition, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def digest(definition: JSON) -> str:
    """Return the digest that pins a definition: all of it, including the parts that nothing reads here."""
    return hashlib.sha256(canonical(definition).encode("utf-8", "surrogatepass")).hexdigest()


def why_not(definition: Any) -> str:
    """Return the reason why a definition is rejected, "" if it is accepted."""
    name = definition.get("name") if isinstance(definition, dict) else None
    if not isinstance(name, str) or not name or len(name) > 128 or name_checks.problem(name):
        return sentence("tool_without_name")
    if alike := name_checks.imitated(name):
        return sentence("tool_imitates", tool=name, other=alike)
    schema = definition.get("inputSchema")
    if not isinstance(schema, dict):
        return sentence("tool_no_object", tool=name)
    if reason := _why_not_stored(name, definition):
        return reason
    try:
        in_standard = spelled(schema)
        SchemaBudget(in_standard)
    except UnsupportedSchema as error:
        return sentence("tool_schema", tool=name, reason=str(error))
    if in_standard.get("type", "object") != "object":
        return sentence("tool_no_object", tool=name)
    # Model servers refuse a whole request for such a tool, and no call of it could be checked.
    reason = call_validation.unusable(spec_of("", definition).parameters)
    return sentence("tool_unusable", tool=name, reason=reason) if reason else ""


def _why_not_stored(name: str, definition: JSON) -> str:
    try:
        written = canonical(definition)
    except ValueError:
        return sentence("tool_odd_number", tool=name)
    if len(written) > MOST_CHARACTERS:
        return sentence("tool_too_long", tool=name, most=MOST_CHARACTERS)
    unstorable = "\\u0000" in written or UNWRITABLE.search(written)
    return sentence("tool_unstorable", tool=name) if unstorable else ""


def taken(definitions: Sequence[Any]) -> tuple[dict[str, JSON], tuple[str, ...]]:
    """Return the accepted definitions by name, and the reasons for the rejected ones.

    A name that occurs twice is rejected both times: it would be unclear which of the two was approved.
    """
    found: dict[str, JSON] = {}
    twice: set[str] = set()
    reasons = []
    for definition in definitions[:MOST_TOOLS]:
        reason = why_not(definition)
        name = "" if reason else str(definition["name"])
        twice.update({name} & found.keys())
        reasons += [reason] if reason else []
        found |= {} if reason else {name: definition}
    reasons += [sentence("tool_twice", tool=name) for name in sorted(twice)]
    if len(definitions) > MOST_TOOLS:
        reasons.append(sentence("tools_over_limit", most=MOST_TOOLS))
    return {name: one for name, one in found.items() if name not in twice}, tuple(reasons)


def checked(definitions: Sequence[Any]) -> CheckedTools:
    """Check a server's list. It compiles the schemas, which may take seconds: in a thread of its own."""
    accepted, left_out = taken(definitions)
    return CheckedTools(accepted, {name: digest(one) for name, one in accepted.items()}, left_out)


def callable_name(server: str, tool: str) -> str:
    """Return `server__tool` as model servers accept it; if characters had to be removed, a digest keeps it unique."""
    written = f"{server}{MARK}{tool}"
    name = re.sub(r"[^A-Za-z0-9_-]", "_", written)
    if name == written and len(name) <= NAME_LENGTH:
        return name
    mark = hashlib.sha256(written.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{name[: NAME_LENGTH - 9]}_{mark}"


def spec_of(server: str, definition: JSON) -> ToolSpec:
    """Build the spec for the model from an accepted definition: bounded description, no invisible characters."""
    described = definition.get("description")
    text = UNSEEN.sub("", described if isinstance(described, str) else "").strip()
    if len(text) > DESCRIPTION_LENGTH:
        text = text[: DESCRIPTION_LENGTH - 1].rstrip() + "…"
    schema = {key: value for key, value in _mended(definition["inputSchema"]).items() if key != "$schema"}
    spec = ToolSpec(callable_name(server, definition["name"]), text, {"type": "object"} | schema)
    return in_json_schema(spec.completed())


def _mended(schema: Any) -> Any:
    """Return a schema with the empty objects that PHP writes as `[]`, and the empty lists that it writes as `{}`."""
    if isinstance(schema, list):
        return [_mended(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    return {name: part if name in DATA else _mended_part(name, part) for name, part in schema.items()}


def _mended_part(name: str, part: Any) -> Any:
    if name in OBJECTS and part == []:
        return {}
    if name in MAPPINGS and isinstance(part, dict):
        return {key: {} if one == [] else _mended(one) for key, one in part.items()}
    return [] if name == "required" and part == {} else _mended(part)


def claims_read_only(definition: JSON) -> bool:
    """Return whether the server calls its tool read-only: a claim for people to read, which lowers no level."""
    hints = definition.get("annotations")
    return isinstance(hints, dict) and hints.get("readOnlyHint") is True and hints.get("destructiveHint") is not True


def first_sentence(description: str) -> str:
    """Return the first sentence of a description, or its first line, at most ABOUT_LENGTH characters of it."""
    line = description.partition("\n")[0]
    begins, end, _ = line.partition(". ")
    sentence = f"{begins}." if end else line
    return sentence if len(sentence) <= ABOUT_LENGTH else f"{sentence[: ABOUT_LENGTH - 1].rstrip()}…"


def difference(before: JSON, after: JSON) -> str:
    """Return the difference of two definitions line by line; the whole second one if there was none before."""
    change = text_diff.TextChange("offered now", _written(before), _written(after), was="approved")
    # Nothing is left out, as all of it is approved. Where comparing takes long, all old lines precede the new ones.
    few = text_diff.is_short(change)
    return "\n".join(text_diff.compared_lines(change) if few else text_diff.replaced_lines(change))


def _written(definition: JSON) -> str:
    if not definition:
        return ""
    written = json.dumps(definition, indent=2, sort_keys=True, ensure_ascii=False)
    # Invisible characters are written out: they would be approved unread.
    return written_out(written)
