"""A JSON object that many rows store, encoded once."""

from __future__ import annotations

from typing import Any


class SharedJson(dict[str, Any]):
    """A JSON object that nothing changes once it is made, and its `text`: "" until it was encoded.

    The capabilities of a model take 3 KB in the row of each of its answers.
    """

    text = ""
