"""Columns that several layers begin with, the mark of those that differ from run to run, and rows of columns as models."""

from collections.abc import Collection, Mapping
from types import GenericAlias
from typing import Any, Literal

import dataframely as dy
from pydantic import Field, create_model

from schemas.base import Frozen


class OfItem(dy.Schema):
    """Columns that rows about one item begin with."""

    dataset = dy.String(primary_key=True, min_length=1, description="id of the dataset")
    item_id = dy.String(primary_key=True, min_length=1, description="id of the item in its dataset")


class OfSystem(dy.Schema):
    """Columns that rows about one model in one setting begin with."""

    model = dy.String(primary_key=True, min_length=1, description="model under test")
    setting = dy.String(primary_key=True, min_length=1, description="how it was asked")


class OfAskedItem(OfItem, OfSystem):
    """Columns that rows about one item, asked once, begin with."""

    repetition = dy.Int64(primary_key=True, min=0, description="0-based number of the time that the item was asked")


def likeliest_tokens(description: str) -> dy.List:
    """Return a column of likeliest tokens at one place, with their natural logarithms."""
    return dy.List(dy.Struct({"token": dy.String(), "logprob": dy.Float64()}), nullable=True, description=description)


MEASURED = {"measured": True}
"""Marks columns that differ from run to run (latency); they are left out of the content hash."""


ADDED = {**MEASURED, "added": True}
"""Marks columns that files of earlier versions lack; null says that the value is not known. The content hash leaves them out."""


def added_columns(schema: type[dy.Schema]) -> tuple[str, ...]:
    """Return the columns that files of earlier versions lack."""
    return tuple(name for name, column in schema.columns().items() if (column.metadata or {}).get("added"))


def measured_columns(schema: type[dy.Schema]) -> tuple[str, ...]:
    """Return the columns that differ from run to run, which the content hash leaves out."""
    return tuple(name for name, column in schema.columns().items() if (column.metadata or {}).get("measured"))


def row_model(schema: type[dy.Schema], without: Collection[str] = ()) -> type[Frozen]:
    """Return a model of rows of a layer, with the types and descriptions of its columns, `without` some of them."""
    return _model(f"{schema.__name__}Row", {name: column for name, column in schema.columns().items() if name not in without})


def _model(name: str, columns: Mapping[str, dy.Column]) -> type[Frozen]:
    fields: dict[str, Any] = {field: (_type(column), Field(description=column.description)) for field, column in columns.items()}
    return create_model(name, __base__=Frozen, **fields)


def _type(column: dy.Column) -> Any:
    match column:
        case dy.List():
            kind: Any = GenericAlias(tuple, (_type(column.inner), ...))
        case dy.Struct():
            kind = _model("_".join(column.inner), column.inner)
        case dy.Enum():
            kind = Literal[*column.categories]
        case _:
            kind = column.dtype.to_python()
    return kind | None if column.nullable else kind
