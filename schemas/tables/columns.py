"""The mark of columns that differ from run to run, and columns that several layers begin with."""

import dataframely as dy


class OfItem(dy.Schema):
    """Columns that rows about one item begin with."""

    dataset = dy.String(primary_key=True, min_length=1)
    item_id = dy.String(primary_key=True, min_length=1)


class OfAskedItem(OfItem):
    """Columns that rows about one item, asked once, begin with."""

    model = dy.String(primary_key=True, min_length=1)
    setting = dy.String(primary_key=True, min_length=1)
    repetition = dy.Int64(primary_key=True, min=0)


class OfSystem(dy.Schema):
    """Columns that rows about one model in one setting begin with."""

    model = dy.String(primary_key=True, min_length=1)
    setting = dy.String(primary_key=True, min_length=1)


def likeliest_tokens(description: str) -> dy.List:
    """Return a column of likeliest tokens at one place, with their natural logarithms."""
    return dy.List(dy.Struct({"token": dy.String(), "logprob": dy.Float64()}), nullable=True, description=description)


MEASURED = {"measured": True}
"""Marks columns that differ from run to run (latency); they are left out of the content hash."""


def measured_columns(schema: type[dy.Schema]) -> tuple[str, ...]:
    """Return the columns that differ from run to run, which the content hash leaves out."""
    return tuple(name for name, column in schema.columns().items() if (column.metadata or {}).get("measured"))
