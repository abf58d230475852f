"""Checks decoded JSON against Go types, with Go's error messages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

KINDS = {bool: "bool", int: "number", float: "number", str: "string", list: "array", dict: "object"}


@dataclass(frozen=True, slots=True)
class GoPath:
    """The innermost Go struct and the path of fields from it to the value."""

    struct: str = ""
    path: tuple[str, ...] = ()

    def step(self, struct: str, name: str) -> GoPath:
        return GoPath(struct, (*self.path, name))


class GoType(Protocol):
    """A Go type: `fault` is the error of Go's decoder for the value, "" if it fits."""

    def fault(self, value: Any, where: GoPath) -> str: ...


def mismatch(value: Any, go: str, where: GoPath) -> str:
    kind = KINDS[type(value)]
    # Go quotes a number with a fraction where an integer is required.
    shown = f"{kind} {value}" if isinstance(value, float) and go == "int" else kind
    place = f"Go struct field {where.struct}.{'.'.join(where.path)}" if where.path else "Go value"
    return f"json: cannot unmarshal {shown} into {place} of type {go}"


def first_fault(faults: Any) -> str:
    return next(filter(None, faults), "")


@dataclass(frozen=True, slots=True)
class GoScalar:
    """A scalar value. `json` are the Python types that fit."""

    go: str
    json: tuple[type, ...]

    def fault(self, value: Any, where: GoPath) -> str:
        # bool is a subclass of int in Python, and a type of its own in Go.
        fits = value is None or type(value) in self.json
        return "" if fits else mismatch(value, self.go, where)


@dataclass(frozen=True, slots=True)
class GoSlice:
    """A Go slice."""

    item: GoType
    go: str

    def fault(self, value: Any, where: GoPath) -> str:
        if value is None:
            return ""
        if not isinstance(value, list):
            return mismatch(value, self.go, where)
        return first_fault(self.item.fault(item, where) for item in value)


@dataclass(frozen=True, slots=True)
class GoMap:
    """A Go map; `item` None accepts anything."""

    go: str
    item: GoType | None = None

    def fault(self, value: Any, where: GoPath) -> str:
        if value is None:
            return ""
        if not isinstance(value, dict):
            return mismatch(value, self.go, where)
        item = self.item
        return first_fault(item.fault(part, where) for part in value.values()) if item else ""


@dataclass(frozen=True, slots=True)
class GoStruct:
    """A Go struct. `name` None: errors name the outer struct, as with a custom decoder."""

    go: str
    name: str | None
    fields: Mapping[str, GoType] = field(default_factory=dict)

    def fault(self, value: Any, where: GoPath) -> str:
        if value is None:
            return ""
        if not isinstance(value, dict):
            return mismatch(value, self.go, where)
        name = where.struct if self.name is None else self.name
        known = ((key, part) for key, part in value.items() if key in self.fields)
        return first_fault(self.fields[key].fault(part, where.step(name, key)) for key, part in known)


@dataclass(frozen=True, slots=True)
class GoCustom:
    """A type with a custom decoder: `check` returns its error, or ""."""

    check: Callable[[Any], str]

    def fault(self, value: Any, where: GoPath) -> str:
        return "" if value is None else self.check(value)


@dataclass(frozen=True, slots=True)
class GoStringOrList:
    """A string or a list of strings, as a property's type may be."""

    def fault(self, value: Any, where: GoPath) -> str:
        return "" if isinstance(value, str) else GoSlice(STRING, "[]string").fault(value, where)


STRING = GoScalar("string", (str,))
BOOL = GoScalar("bool", (bool,))
INT = GoScalar("int", (int,))
FLOAT = GoScalar("float64", (int, float))
ANY_MAP = GoMap("map[string]interface {}")
