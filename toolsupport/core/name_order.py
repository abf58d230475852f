"""Defines the order of names in lists that people read."""

from __future__ import annotations


def by_name(*names: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the sort key of a name, and of what follows it, in any case; the case decides between equal names."""
    return tuple(name.casefold() for name in names), names
