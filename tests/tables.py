"""One test for a whole table: every row runs, and all rows that fail are reported together."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import Any

Test = Callable[..., Any]
Row = dict[str, Any]


def every(names: str | Sequence[str], rows: Iterable[Any]) -> Callable[[Test], Test]:
    """Like `pytest.mark.parametrize`, but as one test: collecting thousands of tests takes longer than running them."""
    keys = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    table = [dict(zip(keys, row if len(keys) > 1 else (row,), strict=True)) for row in rows]
    assert table, f"there are no rows of {names}"

    def decorate(test: Test) -> Test:
        @wraps(test)
        def run(**given: Any) -> None:
            with table_of(len(table)) as failed:
                for row in table:
                    with noted(row, failed):
                        test(**given, **row)

        @wraps(test)
        async def run_in_loop(**given: Any) -> None:
            with table_of(len(table)) as failed:
                for row in table:
                    with noted(row, failed):
                        await test(**given, **row)

        chosen: Any = run_in_loop if inspect.iscoroutinefunction(test) else run
        signature = inspect.signature(test)
        left = [one for name, one in signature.parameters.items() if name not in keys]
        chosen.__signature__ = signature.replace(parameters=left)
        return chosen

    return decorate


@contextmanager
def table_of(rows: int) -> Iterator[list[Exception]]:
    """Gather what the rows raise, and raise it at the end."""
    failed: list[Exception] = []
    yield failed
    if failed:
        raise ExceptionGroup(f"{len(failed)} of {rows} rows failed", failed[:20])


@contextmanager
def noted(row: Row, failed: list[Exception]) -> Iterator[None]:
    """Keep an error with its row, so that the other rows run too."""
    try:
        yield
    except Exception as error:
        error.add_note(f"row: {str(row)[:2000]}")
        failed.append(error)
