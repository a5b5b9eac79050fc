"""A table of rows that one test goes through: quicker than a test of its own for each row, and every row that fails is told."""

from collections.abc import Callable, Iterable
from inspect import Parameter, signature
from typing import Any

import pytest


def each_row(names: str | tuple[str, ...], rows: Iterable[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Call the test with each row in place of these parameters; it fails with all rows that failed."""
    wanted = (names,) if isinstance(names, str) else names
    table = [(row,) if isinstance(names, str) else tuple(row) for row in rows]
    assert table

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        def test_of_all_rows(**others: Any) -> None:
            failed = []
            for row in table:
                try:
                    test(**dict(zip(wanted, row, strict=True)), **others)
                except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001  told below, with its row
                    failed.append(f"{row}: {type(error).__name__}: {error}")
            assert not failed, "\n".join([f"{len(failed)} of {len(table)} rows failed", *failed])

        whole = signature(test)
        left = [one.replace(kind=Parameter.KEYWORD_ONLY) for name, one in whole.parameters.items() if name not in wanted]
        test_of_all_rows.__signature__ = whole.replace(parameters=left)  # type: ignore[attr-defined]
        for name in ("__name__", "__qualname__", "__module__", "__doc__"):
            setattr(test_of_all_rows, name, getattr(test, name))
        return test_of_all_rows

    return decorate
