"""Models of rows are made from the columns of a layer."""

import dataframely as dy
import pytest
from pydantic import ValidationError

from schemas.tables.columns import row_model
from schemas.tables.items import Items


class Cups(dy.Schema):
    name = dy.String(primary_key=True, description="on the lid")
    kind = dy.Enum(["tea", "ice"])
    litres = dy.Float64(nullable=True)
    sips = dy.List(dy.Struct({"at": dy.Int64(), "by": dy.String(nullable=True)}), nullable=True)


def test_a_row_has_the_types_of_its_columns() -> None:
    sips = [{"at": 1, "by": None}]
    row = row_model(Cups).model_validate({"name": "a", "kind": "tea", "litres": None, "sips": sips})
    assert row.model_dump(mode="json") == {"name": "a", "kind": "tea", "litres": None, "sips": sips}
    assert row_model(Cups).model_json_schema()["properties"]["name"]["description"] == "on the lid"
    for wrong in ({"kind": "milk"}, {"name": None}, {"sips": [{"at": "soon"}]}):
        with pytest.raises(ValidationError, match="for CupsRow"):
            row_model(Cups).model_validate({"name": "a", "kind": "tea", "litres": None, "sips": None} | wrong)


def test_list_may_hold_nulls_where_its_column_does() -> None:
    assert row_model(Items, ("option_points",)).model_validate({"option_points": (2.0, None)}).model_dump() == {
        "option_points": (2.0, None)
    }


def test_a_row_may_have_some_columns_alone() -> None:
    assert list(row_model(Cups, ("name", "litres")).model_fields) == ["name", "litres"]
