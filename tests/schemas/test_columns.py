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
    row = row_model(Items, without={*Items.column_names()} - {"option_points"}).model_validate({"option_points": (2.0, None)})
    assert row.model_dump() == {"option_points": (2.0, None)}


def test_a_row_may_lack_columns() -> None:
    assert list(row_model(Cups, without=("kind", "sips")).model_fields) == ["name", "litres"]
