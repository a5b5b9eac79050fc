import json
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import dataframely as dy
import polars as pl
import pytest

from schemas.dataset import DatasetSpec, LocalFile
from schemas.errors import RecordError
from schemas.item import Adapter, Item, Record
from schemas.question_types import QUESTION_TYPES
from schemas.tables.items import Contexts, Items, RejectedItems
from tasks.datasets.building import build_items
from tasks.datasets.own_items import local_dataset
from tests.rows import each_row


def adapt_pair(record: Record) -> Item:
    fields = record.fields
    return Item(
        language="en",
        question_type="single_choice",
        question=fields["question"],
        options=tuple(fields["options"]),
        gold_indices=None if fields["gold"] is None else (fields["gold"],),
    )


def spec_with(adapter: Adapter, expected_rows: int | None = None) -> DatasetSpec:
    own = local_dataset("pairs", "Pairs", LocalFile(path=Path("pairs.jsonl")))
    return replace(own, adapter=adapter, required=("question",), expected_rows=expected_rows)


def row(number: int, **changes: Any) -> dict[str, Any]:
    return {"question": f"Which one, number {number}?", "options": ["this", "that"], "gold": number % 2, **changes}


def write(tmp_path: Path, rows: list[dict[str, Any]]) -> list[Path]:
    path = tmp_path / "anything"
    path.write_text("\n".join(json.dumps(value) for value in rows), encoding="utf-8")
    return [path]


def test_an_item_knows_where_it_comes_from(tmp_path: Path) -> None:
    fields = row(1)
    built = build_items(spec_with(adapt_pair), write(tmp_path, [fields]), 300, 0)
    canonical = '{"gold": 1, "options": ["this", "that"], "question": "Which one, number 1?"}'
    digest = sha256(canonical.encode()).hexdigest()
    assert (built.items.height, built.rejected.height) == (1, 0)
    assert {name: value for name, value in built.items.row(0, named=True).items() if value is not None} == {
        "dataset": "pairs",
        "item_id": f"pairs-{digest[:12]}",
        "cluster": f"pairs-{digest[:12]}",
        "source_file": "pairs.jsonl",
        "source_row": 0,
        "source_row_sha256": digest,
        "language": "en",
        "question_type": "single_choice",
        "question": "Which one, number 1?",
        "options": ["this", "that"],
        "gold_indices": [1],
        "fixed_order": False,
    }
    assert Items.is_valid(built.items)


def test_rejected_rows_are_kept_with_rules_they_broke(tmp_path: Path) -> None:
    rows = [row(0), row(1, gold=None), row(2, options=["same", "same"]), row(3, gold=2), row(4, question="")]
    built = build_items(spec_with(adapt_pair), write(tmp_path, rows), 300, 0)
    assert (built.items.height, built.rejected.height) == (1, 4)
    assert built.items["source_row"].to_list() == [0]
    assert built.rejected.schema == pl.Schema(RejectedItems)
    assert dict(zip(built.rejected["source_row"], built.rejected["broken_rules"].to_list(), strict=True)) == {
        1: ["gold_indices_point_at_options", "single_choice_has_one_gold"],
        2: ["options_are_distinct_and_not_empty"],
        3: ["gold_indices_point_at_options"],
        4: ["question|min_length"],
    }
    assert set(built.rejected["rows_in_all"]) == {5}


def test_validation_comes_before_sampling(tmp_path: Path) -> None:
    # 20 rows, every other one without gold: a sample of 10 taken first would hold about 5 good ones.
    rows = [row(number, gold=None if number % 2 else 0) for number in range(20)]
    built = build_items(spec_with(adapt_pair), write(tmp_path, rows), 10, 0)
    assert (built.items.height, built.rejected.height) == (10, 10)


def test_repeated_rows_are_numbered(tmp_path: Path) -> None:
    built = build_items(spec_with(adapt_pair), write(tmp_path, [row(1), row(2), row(1), row(1)]), 300, 0)
    first, second = (Record(fields=row(number), file="", row=0).sha256[:12] for number in (1, 2))
    expected = sorted([f"pairs-{first}", f"pairs-{first}-2", f"pairs-{first}-3", f"pairs-{second}"])
    assert built.items["item_id"].to_list() == expected


def adapt_two(record: Record) -> list[Item]:
    return [adapt_pair(record).model_copy(update={"question": question}) for question in ("Which emotion?", "Which cause?")]


def test_several_items_of_one_record_are_numbered_too(tmp_path: Path) -> None:
    built = build_items(spec_with(adapt_two), write(tmp_path, [row(1), row(1)]), 300, 0)
    base = f"pairs-{Record(fields=row(1), file='', row=0).sha256[:12]}"
    assert built.items.select("item_id", "question").rows() == [
        (f"{base}-2.1", "Which emotion?"),
        (f"{base}-2.2", "Which cause?"),
        (f"{base}.1", "Which emotion?"),
        (f"{base}.2", "Which cause?"),
    ]
    assert built.items.height + built.rejected.height == 4


def adapt_named(record: Record) -> Item:
    return adapt_pair(record).model_copy(update={"item_id": record.fields["id"]})


def test_source_names_are_kept_and_repeats_rejected(tmp_path: Path) -> None:
    rows = [row(1, id="a"), row(2, id="b"), row(3, id="a")]
    built = build_items(spec_with(adapt_named), write(tmp_path, rows), 300, 0)
    assert built.items["item_id"].to_list() == ["b"]
    assert built.rejected.select("source_row", "broken_rules").rows() == [(0, ["primary_key"]), (2, ["primary_key"])]


def adapt_nothing(record: Record) -> list[Item]:
    return [adapt_pair(record)] if record.row == 0 else []


@each_row(
    ("adapter", "second", "got"),
    [
        (adapt_pair, {"question": "Which?"}, "KeyError: 'options'"),
        (adapt_pair, row(0, options=5), "TypeError: "),
        (adapt_pair, row(0, options=[1, 2]), "ValidationError: "),
        (adapt_pair, row(0, gold="first"), "ValidationError: "),
        # A record is never dropped silently.
        (adapt_nothing, row(1), "no item"),
    ],
)
def test_an_adapter_that_fails_names_the_row(tmp_path: Path, adapter: Adapter, second: dict[str, Any], got: str) -> None:
    with pytest.raises(RecordError, match="no item of pairs can be built from this record") as caught:
        build_items(spec_with(adapter), write(tmp_path, [row(0), second]), 300, 0)
    assert caught.value.where == "pairs.jsonl, row 1 (0-based)"
    assert str(caught.value.got).startswith(got)


def test_rules_agree_with_schema(tmp_path: Path) -> None:
    rows = [row(0), row(1, gold=None), row(2, options=["same", " "]), row(3, gold=-1), row(4, options=["only one"])]
    built = build_items(spec_with(adapt_pair), write(tmp_path, rows), None, 0)
    rejected = built.rejected.drop("broken_rules", "reason", "rows_in_all")
    result = Items.filter(pl.concat([pl.DataFrame(built.items), rejected]))
    assert built.items.equals(result.result)
    assert rejected.equals(result.failure.invalid())
    assert dict(built.rejected["broken_rules"].explode().value_counts().rows()) == result.failure.counts()


@pytest.mark.parametrize("schema", [Items, Contexts])
def test_no_rule_of_ours_is_undecided(schema: type[dy.Schema]) -> None:
    """dataframely would let the row pass."""
    rows = pl.DataFrame(schema.create_empty()).clear(len(QUESTION_TYPES))
    if schema is Items:
        rows = rows.with_columns(pl.Series("question_type", list(QUESTION_TYPES), dtype=rows.schema["question_type"]))
    rules = {name: rule.expr for name, rule in schema._validation_rules(with_cast=False).items() if "|" not in name}
    assert len(rules) > 2
    assert [name for name, rule in rules.items() if rows.select(rule).to_series().has_nulls()] == []
