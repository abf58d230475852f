"""Estimates the size of a model by its name and family, if its server does not report it."""

from __future__ import annotations

import re

from toolsupport.core.families import FamilyProfile, name_words
from toolsupport.core.tool_limits import BILLION, LARGE, SMALL

# Models that only hosting services run, whose sizes are not published. Other models are trained on their replies
# (`gpt4all`, `qwen3-14b-claude`), so the name must begin like this.
_HOSTED = re.compile(
    r"(?:claude|gemini(?! nano)|chatgpt|grok|sonar|gpt (?:[3-9]|35)(?:\.\d+|o)?(?![a-z])|o[1-9]"
    r"|deepseek (?:chat|reasoner)|mistral (?:large|medium)|pixtral large|magistral medium|devstral medium"
    r"|qwen(?: [\d.]+)? (?:max|plus|turbo|flash)|command a|nova (?:pro|premier|lite|micro)|kimi (?:latest|k2)"
    r"|glm (?:4 (?:plus|air|long)|4\.[5-9]|5)|codestral latest|doubao|ernie (?:x\d|[\d.]+ (?:\d+k|turbo|speed))"
    r"|yi (?:large|lightning)|moonshot v\d|minimax m\d"
    r"|jamba [\d. ]*large|reka core|inflection|palmyra|hunyuan (?:large|pro|turbos?|standard|t1)|step \d \d+k)\b"
)
_WHOLE = re.compile(r"(\d+(?:\.\d+)?)([bmt])")
_EXPERTS = re.compile(r"(\d+)x(\d+(?:\.\d+)?)b")
_EFFECTIVE = re.compile(r"e(\d+(?:\.\d+)?)b")
_OF_EXPERTS = re.compile(r"(\d+)e")
_UNITS = {"m": BILLION // 1000, "b": BILLION, "t": 1000 * BILLION}
# 1m in a name is the length of a context.
_LEAST = 10_000_000


def parameters(name: str, family: FamilyProfile | None) -> int | None:
    """Return the number of all parameters, not only the active ones; None if unknown."""
    words = name_words.words(name)
    found = next((size for word in words if (size := _size(word)) is not None), None)
    experts = next((int(match[1]) for word in words if (match := _OF_EXPERTS.fullmatch(word))), 1)
    return found * experts if found is not None else _of_family(family)


def hosted(name: str) -> bool:
    """Return whether the name is that of a large model which only hosting services run."""
    return _HOSTED.match(" ".join(name_words.words(name))) is not None


def _size(word: str) -> int | None:
    if match := _EXPERTS.fullmatch(word):
        return int(int(match[1]) * float(match[2]) * BILLION)
    if match := _EFFECTIVE.fullmatch(word):  # Gemma's e4b holds about twice as many
        return int(2 * float(match[1]) * BILLION)
    match = _WHOLE.fullmatch(word)
    size = int(float(match[1]) * _UNITS[match[2]]) if match else 0
    return size if size >= _LEAST else None


def _of_family(family: FamilyProfile | None) -> int | None:
    """Return the smallest published size if all sizes lead to the same limits."""
    written = (re.split(r"[ -]", size)[0] for size in (family.sizes if family else ()))
    sizes = [_size(size) for size in written]
    known = [size for size in sizes if size is not None]
    if not known or len(known) < len(sizes):
        return None
    return min(known) if len({(size < SMALL, size > LARGE) for size in known}) == 1 else None
