"""Reads the file user_models.json strictly, with the place of the first error, and writes it in one canonical form."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from toolsupport.core import name_checks, strict_json
from toolsupport.core.errors import ConfigError
from toolsupport.core.types import JSON

MOST_BYTES = 4 * 1024 * 1024
MOST_ENTRIES = 10_000
DEEPEST = 32
LONGEST_ID = 200
LIST = "user_models"
UNSTORABLE = re.compile("[\0\ud800-\udfff]")
DESCRIPTION = "Custom model"
DEFAULT_CONTEXT = 4096


@dataclass(frozen=True, slots=True)
class UserModel:
    """One model of the file. `server` and `build` are our extensions: its server, and the measured build.

    `build` holds digest, template_hash and server_version; it is empty if nothing was measured, or on an unknown build.
    `extra` holds every unknown field.
    """

    id: str
    name: str
    source: str = ""
    last_seen: datetime | None = None
    tool_support: bool | None = None
    tool_support_source: str = ""
    tool_support_confirmed_at: datetime | None = None
    description: str = DESCRIPTION
    abilities: tuple[str, ...] = ()
    context_profiles: tuple[Any, ...] = ()
    default_context: int = DEFAULT_CONTEXT
    server: str = ""
    build: Mapping[str, str] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> tuple[str, str, str]:
        """The identity of an entry within its file."""
        return self.server, self.source, self.id


@dataclass(frozen=True, slots=True)
class UserModelsFile:
    """A whole file; `extra` holds the fields beside the list."""

    entries: tuple[UserModel, ...]
    extra: Mapping[str, Any] = field(default_factory=dict)


def read(data: bytes) -> UserModelsFile:
    """Parse the file. Raises ConfigError with the place and a description of the error for people."""
    if len(data) > MOST_BYTES:
        raise ConfigError(f"The file has more than {MOST_BYTES // 1024**2} MiB.")
    value = _loaded(_decoded(data))
    _check_tree(value)
    if not isinstance(value, dict) or not isinstance(value.get(LIST), list):
        raise ConfigError(f'The file must be an object with a list "{LIST}".')
    if len(value[LIST]) > MOST_ENTRIES:
        raise ConfigError(f"{LIST}: more than {MOST_ENTRIES:,} models.")
    entries = tuple(read_entry(one, f"{LIST}[{index}]") for index, one in enumerate(value[LIST]))
    for index, entry in enumerate(entries):
        _check_names(entry, f"{LIST}[{index}]")
    _check_unique(entries)
    return UserModelsFile(entries, {key: inner_value for key, inner_value in value.items() if key != LIST})


def write(document: UserModelsFile) -> str:
    """Return the text of the file: keys in alphabetical order, two spaces, one newline at the end."""
    value = {**document.extra, LIST: [entry_json(entry) for entry in document.entries]}
    return json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n"


def entry_json(entry: UserModel) -> JSON:
    """Return an entry as JSON, as in the file."""
    known: JSON = {
        "id": entry.id,
        "name": entry.name,
        "source": entry.source,
        "last_seen": _moment(entry.last_seen),
        "tool_support": entry.tool_support,
        "tool_support_source": entry.tool_support_source or None,
        "tool_support_confirmed_at": _moment(entry.tool_support_confirmed_at),
        "description": entry.description,
        "abilities": list(entry.abilities),
        "context_profiles": list(entry.context_profiles),
        "default_context": entry.default_context,
    }
    ours = {"server": entry.server, "build": dict(entry.build)}
    return {**entry.extra, **known, **{name: value for name, value in ours.items() if value}}


def read_entry(value: Any, place: str = "entry") -> UserModel:
    """Parse one entry from its JSON. Raises ConfigError that begins with the place."""
    if not isinstance(value, dict):
        raise _wrong(place, "an object", value)
    if not isinstance(value.get("id"), str) or not 0 < len(value["id"]) <= LONGEST_ID:
        raise _wrong(f"{place}.id", f"a text of 1 to {LONGEST_ID} letters", value.get("id"))
    given = {name: inner_value for name, inner_value in value.items() if name in FIELDS and inner_value is not None}
    read_fields = {name: FIELDS[name](inner_value, f"{place}.{name}") for name, inner_value in given.items()}
    extra = {name: inner_value for name, inner_value in value.items() if name not in FIELDS}
    return UserModel(**{"name": value["id"], **read_fields}, extra=extra)


def _text(value: Any, place: str) -> str:
    if not isinstance(value, str):
        raise _wrong(place, "a text", value)
    return value


def _short(value: Any, place: str) -> str:
    if len(_text(value, place)) > LONGEST_ID:
        raise _wrong(place, f"a text of at most {LONGEST_ID} letters", value)
    return str(value)


def _switch(value: Any, place: str) -> bool:
    if not isinstance(value, bool):
        raise _wrong(place, "true, false or null", value)
    return value


def _tokens(value: Any, place: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 2**31 - 1:
        raise _wrong(place, "a number of tokens", value)
    return value


def _texts(value: Any, place: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise _wrong(place, "a list of texts", value)
    return tuple(value)


def _list(value: Any, place: str) -> tuple[Any, ...]:
    if not isinstance(value, list):
        raise _wrong(place, "a list", value)
    return tuple(value)


def _time(value: Any, place: str) -> datetime:
    try:
        found = datetime.fromisoformat(value) if isinstance(value, str) else datetime.fromtimestamp(value, UTC)
        return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)
    except (TypeError, ValueError, OverflowError, OSError):
        raise _wrong(place, "a time as in 2026-11-03T10:00:00Z", value) from None


def _build(value: Any, place: str) -> dict[str, str]:
    if not isinstance(value, dict) or not all(isinstance(part, str) for part in value.values()):
        raise _wrong(place, "an object of texts", value)
    for name, longest in BUILD.items():
        if len(value.get(name, "")) > longest:
            raise _wrong(f"{place}.{name}", f"a text of at most {longest} letters", value[name])
    return {name: value.get(name, "") for name in BUILD}


# The fields of a build besides the server and the model, with their maximum lengths.
BUILD = {"digest": 100, "template_hash": 64, "server_version": 80}

# Field → its parser; null means "not set" everywhere.
FIELDS: Mapping[str, Callable[[Any, str], Any]] = {
    "id": _short,
    "name": _text,
    "source": _short,
    "last_seen": _time,
    "tool_support": _switch,
    "tool_support_source": _short,
    "tool_support_confirmed_at": _time,
    "description": _text,
    "abilities": _texts,
    "context_profiles": _list,
    "default_context": _tokens,
    "server": _short,
    "build": _build,
}


def _decoded(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise ConfigError(f"Line {line}: byte {error.start} is not UTF-8.") from None


def _loaded(text: str) -> Any:
    if why := strict_json.too_many(text.encode(errors="replace")):
        raise ConfigError(f"The file cannot be read: {why}.")
    try:
        return json.loads(text, object_pairs_hook=_object, parse_constant=_no_number)
    except json.JSONDecodeError as error:
        raise ConfigError(f"Line {error.lineno}, column {error.colno}: {error.msg}.") from None
    except RecursionError:
        raise ConfigError(f"The file is nested deeper than {DEEPEST} levels.") from None
    except ValueError:
        raise ConfigError("A number in the file has too many digits.") from None


def _object(pairs: list[tuple[str, Any]]) -> JSON:
    found = dict(pairs)
    if len(found) < len(pairs):
        counted = Counter(name for name, _ in pairs)
        twice = counted.most_common(1)[0][0]
        raise ConfigError(f"The key {_shown(twice)} appears twice in one object.")
    return found


def _no_number(constant: str) -> Any:
    raise ConfigError(f"{constant} is no number in JSON.")


@dataclass(frozen=True, slots=True)
class _FieldPath:
    """The path of a value; it is formatted only for an error."""

    parent: _FieldPath | None
    key: str | int
    depth: int

    def __str__(self) -> str:
        steps: list[str] = []
        here: _FieldPath | None = self
        while here is not None and here.parent is not None:
            steps.append(f"[{here.key}]" if isinstance(here.key, int) else f".{here.key[:40]}")
            here = here.parent
        return "".join(reversed(steps)).lstrip(".") or "the file"


def _check_tree(value: Any) -> None:
    """Reject values that a database or another JSON reader would not return unchanged."""
    for place, one in _nodes(value):
        if place.depth > DEEPEST:
            raise ConfigError(f"{place}: nested deeper than {DEEPEST} levels.")
        if isinstance(one, float) and not math.isfinite(one):
            raise ConfigError(f"{place}: the number is too large.")
        if isinstance(one, str) and UNSTORABLE.search(one):
            raise ConfigError(f"{place}: has a character that cannot be stored.")


def _nodes(value: Any) -> Iterator[tuple[_FieldPath, Any]]:
    """Yield every value and every key with its path, without recursion."""
    waiting: list[tuple[_FieldPath, Any]] = [(_FieldPath(None, "", 0), value)]
    while waiting:
        place, one = waiting.pop()
        yield place, one
        if isinstance(one, dict):
            yield from ((place, key) for key in one)
        inner = one.items() if isinstance(one, dict) else enumerate(one) if isinstance(one, list) else ()
        waiting.extend((_FieldPath(place, key, place.depth + 1), inner_value) for key, inner_value in inner)


def _check_names(entry: UserModel, place: str) -> None:
    """Refuse names that people could not see or distinguish. Whether `id` may be a path depends on the site."""
    for name in ("id", "name", "source", "server"):
        given = getattr(entry, name)
        if name in ("id", "name") or given:
            why = name_checks.problem(given) or (name != "id" and given != entry.id and name_checks.path_problem(given))
            if why:
                raise ConfigError(f"{place}.{name}: the name {_shown(given)} {why}.")


def _check_unique(entries: tuple[UserModel, ...]) -> None:
    seen: dict[tuple[str, str, str], int] = {}
    for index, entry in enumerate(entries):
        if entry.key in seen:
            raise ConfigError(f"{LIST}[{index}]: the model {_shown(entry.id)} is already at [{seen[entry.key]}].")
        seen[entry.key] = index


def _moment(moment: datetime | None) -> str | None:
    return moment.astimezone(UTC).isoformat() if moment else None


def _wrong(place: str, wanted: str, found: Any) -> ConfigError:
    return ConfigError(f"{place}: expected {wanted}, found {_shown(found)}.")


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=True)
    return text if len(text) <= 60 else f"{text[:57]}…"
