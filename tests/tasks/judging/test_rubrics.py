from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import ValidationError

from schemas.errors import UsageError
from tasks.judging.rubrics import RUBRICS, Rubric, load_rubric


def rubric_fields() -> dict[str, Any]:
    fields = yaml.safe_load((RUBRICS / "summary.yaml").read_text(encoding="utf-8"))
    assert isinstance(fields, dict)
    return fields


def test_summary_has_its_four_dimensions() -> None:
    assert load_rubric("summary").names == ("completeness", "conciseness", "faithfulness", "fluency")


@pytest.mark.parametrize("path", sorted(RUBRICS.glob("*.yaml")), ids=lambda path: path.stem)
def test_every_shipped_rubric_loads(path: Path) -> None:
    assert load_rubric(path.stem).id == path.stem


def test_hash_follows_every_text() -> None:
    fields = rubric_fields()
    before = Rubric.model_validate(fields).sha256
    fields["dimensions"][0]["anchors"]["zh"][4] += "！"
    assert Rubric.model_validate(fields).sha256 != before


def test_unknown_name_suggests_the_nearest() -> None:
    with pytest.raises(UsageError, match="There is no rubric 'sumary'") as caught:
        load_rubric("sumary")
    assert "did you mean summary?" in str(caught.value)


def drop_language(fields: dict[str, Any]) -> None:
    del fields["instruction"]["zh"]


def drop_anchor_language(fields: dict[str, Any]) -> None:
    del fields["dimensions"][0]["anchors"]["en"]


def drop_anchor(fields: dict[str, Any]) -> None:
    fields["dimensions"][0]["anchors"]["en"].pop()


def repeat_dimension(fields: dict[str, Any]) -> None:
    fields["dimensions"].append(fields["dimensions"][0])


def misspell(fields: dict[str, Any]) -> None:
    fields["instructions"] = fields.pop("instruction")


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (drop_language, "instruction: no text in zh"),
        (drop_anchor_language, "dimension completeness: no text in en"),
        (drop_anchor, "at least 5 items"),
        (repeat_dimension, "dimension names must be unique"),
        (misspell, "Extra inputs are not permitted"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_damaged_rubric_is_refused(damage: Any, message: str, tmp_path: Path) -> None:
    fields = rubric_fields()
    damage(fields)
    with pytest.raises(ValidationError, match=message):
        Rubric.model_validate(fields)
    (tmp_path / "summary.yaml").write_text(yaml.safe_dump(fields, allow_unicode=True), encoding="utf-8")
    with pytest.raises(UsageError, match="breaks a rule") as caught:
        load_rubric("summary", tmp_path)
    assert message in str(caught.value)


def test_id_must_be_the_file_name(tmp_path: Path) -> None:
    (tmp_path / "other.yaml").write_text((RUBRICS / "summary.yaml").read_text(encoding="utf-8"), encoding="utf-8")
    with pytest.raises(UsageError, match="not its file name"):
        load_rubric("other", tmp_path)
