"""Refers to a method without keeping its object alive.

An object whose parts hold its bound methods is freed by the garbage collector alone. Parts that hold these references
instead are freed with it, as soon as nothing else refers to it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec
from weakref import WeakMethod

P = ParamSpec("P")


def weak(method: Callable[P, None]) -> Callable[P, None]:
    """Return a function that calls the method of an object; once that is gone, it does nothing."""
    reference = WeakMethod(method)

    def call(*arguments: P.args, **named: P.kwargs) -> None:
        if (bound := reference()) is not None:
            bound(*arguments, **named)

    return call
