"""Writes why arguments do not fit a schema, for the model that has to write them again.

A long value is shortened in its middle: the reason stands behind it. Where no alternative fits, those count that can be
meant: for `{"kind": "dog", "id": "x"}` what is wrong with the id of a dog, not that it is no cat.
"""

from __future__ import annotations

from collections.abc import Sequence

import jsonschema_rs

LONGEST = 300
LONGEST_REASON = 120  # of one alternative
MOST_ALTERNATIVES = 4
DEEPEST = 3
FALSE = "False schema does not allow "
BEHIND = 150  # characters of the end that stay: most reasons are shorter

Alternative = Sequence[jsonschema_rs.ValidationError]


def complaint(error: jsonschema_rs.ValidationError) -> str:
    """Return the place and the reason of an error, in at most LONGEST characters."""
    return _complaint(error, LONGEST, DEEPEST)


def _complaint(error: jsonschema_rs.ValidationError, most: int, levels: int) -> str:
    alternatives = _meant(error) if levels else []
    if len(alternatives) == 1:
        return _complaint(alternatives[0][0], most, levels - 1)
    place = ".".join(str(step) for step in error.instance_path)
    words = error.message
    if isinstance(error.kind, jsonschema_rs.ValidationErrorKind.FalseSchema):
        words = f"only declared properties are allowed, none with the value {words.removeprefix(FALSE)}"
    if alternatives:
        reasons = (_complaint(one[0], LONGEST_REASON, levels - 1) for one in alternatives)
        words = f"no alternative fits ({' / '.join(reasons)})"
    return _shortened(f"{place}: {words}" if place else words, most)


def _meant(error: jsonschema_rs.ValidationError) -> list[Alternative]:
    """Return the errors of each alternative that can be meant; none for other errors, or too many alternatives."""
    if not isinstance(
        error.kind, jsonschema_rs.ValidationErrorKind.AnyOf | jsonschema_rs.ValidationErrorKind.OneOfNotValid
    ):
        return []
    found: list[Alternative] = [one for one in error.kind.context if one]
    likely = [one for one in found if not any(_is_of_another_kind(part, error) for part in one)]
    found = likely or found
    return found if len(found) <= MOST_ALTERNATIVES else []


def _is_of_another_kind(part: jsonschema_rs.ValidationError, whole: jsonschema_rs.ValidationError) -> bool:
    """Return whether an error of an alternative is that the value has another type, or names another kind."""
    if isinstance(part.kind, jsonschema_rs.ValidationErrorKind.Constant):
        return True
    return isinstance(part.kind, jsonschema_rs.ValidationErrorKind.Type) and part.instance_path == whole.instance_path


def _shortened(words: str, most: int) -> str:
    if len(words) <= most:
        return words
    behind = min(BEHIND, most // 2)
    return f"{words[: most - behind - 1]}…{words[-behind:]}"
