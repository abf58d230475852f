"""Finds the model family that a name belongs to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache

from toolsupport.core.families import name_words
from toolsupport.core.families.table import FAMILIES, VERSION, FamilyProfile

__all__ = ["FAMILIES", "VERSION", "FamilyIndex", "FamilyProfile", "begins_inside", "find", "named"]


class FamilyIndex:
    """An index of families by the words of their patterns."""

    def __init__(self, families: Iterable[FamilyProfile]) -> None:
        self._by_words = {key: family for family in families for key in map(name_words.pattern_words, family.patterns)}
        self._longest = max(map(len, self._by_words), default=0)

    def find(self, model_id: str) -> FamilyProfile | None:
        """Return the family of a model id: the longest pattern wins, and only whole words match."""
        own = name_words.words(model_id)
        return next((family for family, rest in self._candidates(own) if _means(family, rest)), None)

    def _candidates(self, own: tuple[str, ...]) -> Iterator[tuple[FamilyProfile, tuple[str, ...]]]:
        """Return the families whose pattern begins the name, with the remaining words, longest pattern first."""
        sized = tuple(name_words.ANY_SIZE if name_words.is_size(word) else word for word in own)
        for length in range(min(len(own), self._longest), 0, -1):
            family = self._by_words.get(own[:length]) or self._by_words.get(sized[:length])
            if family:
                yield family, own[length:]


def _means(family: FamilyProfile, rest: tuple[str, ...]) -> bool:
    """Return whether a name with these further words is of the family; its no is not that of a model made for tools."""
    if family.tools is False and name_words.trained_for_calls(rest):
        return False
    return family.excepted.isdisjoint(rest) and name_words.same_model(rest)


_SHIPPED = FamilyIndex(FAMILIES)


@lru_cache(maxsize=4096)
def find(model_id: str) -> FamilyProfile | None:
    """Return the family of a server's model id, None if the shipped table has none.

    The longest pattern wins, and only whole words match: `qwen3-coder:30b` is not qwen3, `gemma3n` is not gemma3.
    """
    return _SHIPPED.find(model_id)


def begins_inside(family: FamilyProfile, model_id: str) -> bool | None:
    """Return whether replies of this model begin inside reasoning; None if unknown."""
    found = family.begins_inside
    if isinstance(found, tuple):
        return True if not set(found).isdisjoint(name_words.words(model_id)) else None
    return found


def named(name: str) -> FamilyProfile | None:
    """Return the shipped family with exactly this name."""
    return next((family for family in FAMILIES if family.name == name), None)
