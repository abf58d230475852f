"""One test for a whole table: every row runs, and all rows that fail are reported together."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any

Test = Callable[..., None]


def every(names: str, rows: Iterable[Any]) -> Callable[[Test], Test]:
    """Like `pytest.mark.parametrize`, but as one test: collecting thousands of tests takes longer than running them."""
    keys, table = [name.strip() for name in names.split(",")], list(rows)
    assert table, f"there are no rows of {names}"

    def decorate(test: Test) -> Test:
        @wraps(test)
        def run(**given: Any) -> None:
            failed: list[Exception] = []
            for row in table:
                values = dict(zip(keys, row if len(keys) > 1 else (row,), strict=True))
                try:
                    test(**given, **values)
                except Exception as error:
                    error.add_note(f"row: {str(values)[:2000]}")
                    failed.append(error)
            if failed:
                raise ExceptionGroup(f"{len(failed)} of {len(table)} rows failed", failed[:20])

        signature = inspect.signature(test)
        left = [one for name, one in signature.parameters.items() if name not in keys]
        run.__signature__ = signature.replace(parameters=left)  # type: ignore[attr-defined]
        return run

    return decorate
