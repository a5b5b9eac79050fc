"""Each part of a partition's meaning changes its fingerprint, and nothing else does; incomplete ones keep their order."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tasks.lake.partitions import canonical_json, content_sha256, incomplete_name, newest_incomplete, partition_key

BASE: dict[str, Any] = {
    "layer": "items",
    "keys": {"dataset": "a"},
    "settings": {"sample": 300},
    "parents": ["p", "q"],
    "version": "1",
}


@pytest.mark.parametrize(
    "change",
    [{"layer": "responses"}, {"keys": {"dataset": "b"}}, {"settings": {"sample": 20}}, {"parents": ["p"]}, {"version": "2"}],
    ids=lambda change: next(iter(change)),
)
def test_each_component_changes_the_key(change: dict[str, Any]) -> None:
    assert partition_key(**{**BASE, **change}).fingerprint != partition_key(**BASE).fingerprint


def test_order_of_settings_and_parents_does_not() -> None:
    one = partition_key("items", {"dataset": "a"}, {"seed": 0, "sample": 3}, ["p", "q"], "1")
    two = partition_key("items", {"dataset": "a"}, {"sample": 3, "seed": 0}, ["q", "p"], "1")
    assert one.fingerprint == two.fingerprint


def test_canonical_json_is_sorted_compact_and_keeps_chinese() -> None:
    assert canonical_json({"b": 1, "a": "情"}) == '{"a":"情","b":1}'


def test_canonical_json_refuses_what_is_not_a_number() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        canonical_json({"a": float("nan")})


def test_content_hash_ignores_measured_columns_only() -> None:
    frame = pl.DataFrame({"item": ["a", "b"], "latency_s": [0.1, 0.2]})
    slower = frame.with_columns(latency_s=pl.Series([0.3, 0.4]))
    other = frame.with_columns(item=pl.Series(["a", "c"]))
    assert content_sha256(frame, ["latency_s"]) == content_sha256(slower, ["latency_s"])
    assert content_sha256(frame, ["latency_s"]) != content_sha256(other, ["latency_s"])
    assert content_sha256(frame) != content_sha256(slower)


def test_content_hash_does_not_depend_on_chunks() -> None:
    frame = pl.DataFrame({"item": ["a", "b"]})
    assert content_sha256(pl.concat([frame[:1], frame[1:]], rechunk=False)) == content_sha256(frame)


def test_the_tenth_incomplete_partition_is_newer_than_the_ninth(tmp_path: Path) -> None:
    nine, ten = (tmp_path / f"{'a' * 64}.incomplete.{number}.{number:016d}.parquet" for number in (9, 10))
    nine.touch()
    ten.touch()
    assert newest_incomplete(tmp_path, "a" * 64) == ten
    assert incomplete_name(tmp_path, "a" * 64, "b" * 64) == f"{'a' * 64}.incomplete.11.{'b' * 16}.parquet"
