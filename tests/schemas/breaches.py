"""One valid row of a table, changed in one place."""

from typing import Any

import dataframely as dy
import polars as pl
import pytest


def frame(schema: type[dy.Schema], row: dict[str, Any]) -> pl.DataFrame:
    """The row as a frame with the schema's types, its rules unchecked."""
    return pl.DataFrame([row], schema={name: column.dtype for name, column in schema.columns().items()})


def accepts(schema: type[dy.Schema], row: dict[str, Any]) -> None:
    schema.validate(frame(schema, row))


def rejects(schema: type[dy.Schema], row: dict[str, Any], rule: str) -> None:
    """Exactly this rule refuses the row."""
    _, failures = schema.filter(frame(schema, row))
    assert failures.counts() == {rule: 1}
    with pytest.raises(dy.exc.ValidationError):
        schema.validate(frame(schema, row))
