"""Rows of a layer as models, made from its columns."""

from collections.abc import Iterable
from types import GenericAlias
from typing import Any, Literal

import dataframely as dy
from pydantic import Field, create_model

from schemas.base import Frozen


def row_model(schema: type[dy.Schema], names: Iterable[str] = ()) -> type[Frozen]:
    """Return a model of rows of a layer, with the types and descriptions of its columns. `names`: of some columns; none = all."""
    columns = schema.columns()
    fields: dict[str, Any] = {name: _field(columns[name]) for name in names or columns}
    return create_model(f"{schema.__name__}Row", __base__=Frozen, **fields)


def _field(column: dy.Column) -> tuple[Any, Any]:
    return (_type(column) | None if column.nullable else _type(column)), Field(description=column.description)


def _type(column: dy.Column) -> Any:
    if isinstance(column, dy.List):
        return GenericAlias(tuple, (_type(column.inner), ...))
    if isinstance(column, dy.Struct):
        fields: dict[str, Any] = {name: _field(inner) for name, inner in column.inner.items()}
        return create_model("_".join(fields), __base__=Frozen, **fields)
    if isinstance(column, dy.Enum):
        return Literal[*column.categories]
    return column.dtype.to_python()
