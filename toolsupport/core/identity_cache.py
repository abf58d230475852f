"""Caches a result computed from an object, as long as callers pass the same object."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

Given = TypeVar("Given")
Made = TypeVar("Made")


class IdentityCache(Generic[Given, Made]):
    """The latest objects with what was made of them. Neither may change; the objects are kept, so no id comes back."""

    def __init__(self, make: Callable[[Given], Made], most: int) -> None:
        self._make, self._most = make, most
        self._made: dict[int, tuple[Given, Made]] = {}

    def of(self, given: Given) -> Made:
        """Return the result for an object. Raises the errors of computing it."""
        found = self._made.get(id(given))
        if found is None:
            if len(self._made) >= self._most:
                self._made.clear()
            found = self._made[id(given)] = given, self._make(given)
        return found[1]
