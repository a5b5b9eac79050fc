"""Datasets with long contexts: which samples are built, and what becomes of those that yield no valid item."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from schemas.context import Context, ContextOptions, LazySample, SampleBuilder
from schemas.dataset import DatasetSpec, LocalFile
from schemas.errors import SourceError, UsageError
from schemas.item import Item, Record
from schemas.tables.items import Contexts, Items
from tasks.datasets.building import BuiltItems, build_items
from tasks.datasets.own_items import local_dataset

Build = Callable[[Record], tuple[Item, Context]]


def build_one(record: Record) -> tuple[Item, Context]:
    fields = record.fields
    item = Item(
        language="en", question_type="extractive", context=fields["text"], question="What?", references=tuple(fields["answers"])
    )
    return item, Context(task="qa", tokens=len(fields["text"]), renamed=(("Ann", "Eva"),))


def with_sample_per_record(build: Build = build_one, built: list[str] | None = None) -> SampleBuilder:
    def build_samples(records: Sequence[Record], _options: ContextOptions, _seed: int) -> Sequence[LazySample]:
        def noted(record: Record) -> tuple[Item, Context]:
            if built is not None:
                built.append(record.fields["id"])
            return build(record)

        return [LazySample(record.fields["id"], record, lambda record=record: noted(record)) for record in records]  # type: ignore[misc]

    return build_samples


def no_item(_record: Record) -> list[Item]:
    return []


def spec_with(builder: SampleBuilder | None) -> DatasetSpec:
    own = replace(local_dataset("long", "Long", LocalFile(path=Path("long.jsonl"))), adapter=no_item, required=("id",))
    return replace(own, adapter=None, sample_builder=builder, task="qa") if builder else own


@pytest.mark.parametrize(
    ("has_builder", "changes"),
    [(True, {"task": None}), (False, {"task": "qa"}), (True, {"adapter": no_item}), (False, {"adapter": None})],
)
def test_entry_has_adapter_or_builder_with_task(has_builder: bool, changes: dict[str, Any]) -> None:
    spec = spec_with(with_sample_per_record() if has_builder else None)
    with pytest.raises(ValueError, match="dataset long: give an adapter, or a sample builder and its task"):
        replace(spec, **changes)


def row(number: int, **changes: Any) -> dict[str, Any]:
    return {"id": f"i{number:02d}", "text": "x" * (number + 1), "answers": ["yes"], **changes}


def build(
    tmp_path: Path,
    rows: list[dict[str, Any]],
    sample: int | None = None,
    seed: int = 0,
    builder: SampleBuilder | None = None,
) -> BuiltItems:
    path = tmp_path / "anything"
    path.write_text("\n".join(json.dumps(value) for value in rows), encoding="utf-8")
    return build_items(spec_with(builder or with_sample_per_record()), [path], sample, seed)


def test_items_and_contexts_are_written_under_same_names(tmp_path: Path) -> None:
    found = build(tmp_path, [row(1), row(0)])
    assert Items.is_valid(found.items)
    assert Contexts.is_valid(found.contexts)
    assert found.items.select("dataset", "item_id", "source_file", "source_row", "context").rows() == [
        ("long", "i00", "long.jsonl", 1, "x"),
        ("long", "i01", "long.jsonl", 0, "xx"),
    ]
    assert found.contexts.select("dataset", "item_id", "task", "tokens", "renamed", "needle").rows() == [
        ("long", "i00", "qa", 1, [["Ann", "Eva"]], None),
        ("long", "i01", "qa", 2, [["Ann", "Eva"]], None),
    ]
    assert (found.items.height, found.rejected.height) == (2, 0)


def test_only_what_is_sampled_is_built(tmp_path: Path) -> None:
    built: list[str] = []
    found = build(tmp_path, [row(number) for number in range(40)], sample=7, builder=with_sample_per_record(built=built))
    assert sorted(built) == found.items["item_id"].to_list() == found.contexts["item_id"].to_list()
    assert (found.items.height, found.rejected.height) == (7, 0)


def build_or_fail(record: Record) -> tuple[Item, Context]:
    if record.fields["answers"] == ["refuse"]:
        raise ValueError("no place for it")
    return build_one(record)


def test_rejected_item_is_kept_and_replaced(tmp_path: Path) -> None:
    # Of 40, every fourth cannot be built and another fourth has no reference.
    answers = {0: ["refuse"], 1: []}
    rows = [row(number, answers=answers.get(number % 4, ["yes"])) for number in range(40)]
    builder = with_sample_per_record(build_or_fail)
    found = build(tmp_path, rows, sample=15, builder=builder)
    assert found.items.height == found.contexts.height == 15
    assert set(found.items["item_id"]) <= {f"i{number:02d}" for number in range(40) if number % 4 > 1}
    assert found.rejected.columns == [*found.items.columns, "broken_rules", "reason", "rows_in_all"]
    expected = {
        0: (["item_can_be_built"], "ValueError: no place for it", None),
        1: (["references_are_given_and_not_empty"], None, "What?"),
    }
    kinds = found.rejected.select("item_id", "broken_rules", "reason", "question", "source_row_sha256").rows()
    assert {int(name[1:]) % 4 for name, *_ in kinds} == {0, 1}
    for name, rules, reason, question, digest in kinds:
        assert (rules, reason, question) == expected[int(name[1:]) % 4]
        assert digest == Record(fields=rows[int(name[1:])], file="", row=0).sha256
    everything = build(tmp_path, rows, builder=builder)
    assert (everything.items.height, everything.rejected.height) == (20, 20)
    # All that there could be, however few of them a sample needs.
    assert set(found.rejected["rows_in_all"]) == set(everything.rejected["rows_in_all"]) == {40}
    # The first that are good of the whole ranking are the sample.
    assert set(found.items["item_id"]) < set(everything.items["item_id"])


@pytest.mark.parametrize("good", [0, 1])
def test_unfillable_sample_is_as_large_as_possible(tmp_path: Path, good: int) -> None:
    found = build(tmp_path, [*(row(number) for number in range(good)), row(9, answers=[])], sample=5)
    assert (found.items.height, found.contexts.height, found.rejected.height) == (good, good, 1)


@pytest.mark.parametrize(
    ("fields", "rule"),
    [
        ({"needle_start": 3}, "a_placed_needle_has_a_span"),
        ({"needle_start": 3, "needle_end": 3}, "spans_are_not_empty"),
        ({"needle_token_start": 5, "needle_token_end": 4}, "spans_are_not_empty"),
    ],
)
def test_context_that_breaks_rule_rejects_its_item(tmp_path: Path, fields: dict[str, int], rule: str) -> None:
    def build_marked(record: Record) -> tuple[Item, Context]:
        item, context = build_one(record)
        return item, context.model_copy(update=fields if record.row == 0 else {})

    found = build(tmp_path, [row(0), row(1)], builder=with_sample_per_record(build_marked))
    assert found.items["item_id"].to_list() == found.contexts["item_id"].to_list() == ["i01"]
    assert found.rejected.select("item_id", "broken_rules").rows() == [("i00", [rule])]


@pytest.mark.parametrize("kind", [KeyError, TypeError, ValueError, AttributeError])
def test_whatever_a_broken_record_raises_is_a_reason(tmp_path: Path, kind: type[Exception]) -> None:
    def fail(_record: Record) -> tuple[Item, Context]:
        raise kind("this")

    found = build(tmp_path, [row(0)], builder=with_sample_per_record(fail))
    assert found.rejected["reason"].to_list() == [f"{kind.__name__}: {kind('this')}"]


def test_error_with_next_step_is_passed_on(tmp_path: Path) -> None:
    def fail(_record: Record) -> tuple[Item, Context]:
        raise UsageError("the tokenizer is not installed")

    with pytest.raises(UsageError, match="tokenizer"):
        build(tmp_path, [row(0)], builder=with_sample_per_record(fail))


def test_files_that_no_item_can_be_listed_of(tmp_path: Path) -> None:
    def build_samples(records: Sequence[Record], _options: ContextOptions, _seed: int) -> Sequence[LazySample]:
        raise ValueError(f"{len(records)} records are too few")

    with pytest.raises(SourceError, match="no items of long can be built") as caught:
        build(tmp_path, [row(0)], builder=build_samples)
    assert (caught.value.where, caught.value.got) == ("long.jsonl", "ValueError: 1 records are too few")


def test_two_items_of_one_name_are_fault(tmp_path: Path) -> None:
    with pytest.raises(SourceError) as caught:
        build(tmp_path, [row(0), row(1), row(0)])
    assert caught.value.got == "several items named i00"
