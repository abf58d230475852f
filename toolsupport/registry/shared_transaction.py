"""Lets several writes share one transaction, in which none of them needs a savepoint.

A savepoint is two statements more for every write. It would undo one write alone; without it, a write that fails after
it has begun undoes all of them, and the caller of `shared` repeats each alone.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import ParamSpec, TypeVar

from django.db import transaction

P = ParamSpec("P")
Result = TypeVar("Result")


class _Sharing(threading.local):
    on = False


_sharing = _Sharing()


@contextmanager
def shared() -> Iterator[None]:
    """Run writes in one transaction; it undoes all of them if `connection.needs_rollback` is set afterwards."""
    with transaction.atomic():
        _sharing.on = True
        try:
            yield
        finally:
            _sharing.on = False


def whole(work: Callable[P, Result]) -> Callable[P, Result]:
    """Decorate a write that is stored completely or not at all, in a transaction of its own or in a shared one."""

    @wraps(work)
    def write(*args: P.args, **kwargs: P.kwargs) -> Result:
        with transaction.atomic(savepoint=not _sharing.on):
            return work(*args, **kwargs)

    return write
