"""Which family of models a name belongs to."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from toolsupport.core.families import names
from toolsupport.core.families.table import FAMILIES, VERSION, Family

__all__ = ["FAMILIES", "VERSION", "Family", "find"]

_BY_WORDS = {_key: _family for _family in FAMILIES for _key in map(names.pattern_words, _family.patterns)}
_LONGEST = max(map(len, _BY_WORDS))


@lru_cache(maxsize=4096)
def find(model_id: str) -> Family | None:
    """The family a server's model id belongs to, None where the table knows nothing.

    The longest pattern wins, and only whole words count: `qwen3-coder:30b` is not qwen3, `gemma3n` is not gemma3.
    """
    own = names.words(model_id)
    return next((family for family, rest in _candidates(own) if _means(family, rest)), None)


def _candidates(own: tuple[str, ...]) -> Iterator[tuple[Family, tuple[str, ...]]]:
    """Families whose pattern begins the name, with the words that are left, longest pattern first."""
    sized = tuple(names.ANY_SIZE if names.is_size(word) else word for word in own)
    for length in range(min(len(own), _LONGEST), 0, -1):
        family = _BY_WORDS.get(own[:length]) or _BY_WORDS.get(sized[:length])
        if family:
            yield family, own[length:]


def _means(family: Family, rest: tuple[str, ...]) -> bool:
    return family.excepted.isdisjoint(rest) and names.same_model(rest)
