"""Many partitions in one go are those that are read one by one."""

from pathlib import Path

import polars as pl
import pytest

from schemas.errors import LakeError
from schemas.lineage import CodeVersion, PartitionRef
from schemas.tables.scores import TaskScores
from tasks.lake.fingerprint import partition_key
from tasks.lake.lake import Lake
from tasks.lake.many_partitions import read_partitions
from tests.tasks.lake.test_lake import CODE, make_frame, on_disk


@pytest.fixture
def stored(tmp_path: Path) -> list[PartitionRef]:
    """Partitions of one layer with scores of their own: 0, 10, 20 and 30."""
    keys = [partition_key("task_scores", {"model": "m"}, {"sample": sample}, [], "1") for sample in range(4)]
    lake = Lake(tmp_path, CODE)
    return [lake.write(key, make_frame(10.0 * number), TaskScores) for number, key in enumerate(keys)]


@pytest.fixture
def lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lake:
    """The lake, which cannot read partitions one by one."""
    lake = Lake(tmp_path, CODE)

    def refuse(*_: object) -> None:
        raise AssertionError("read alone")

    monkeypatch.setattr(lake, "read", refuse)
    return lake


def test_rows_come_in_the_order_of_the_partitions(lake: Lake, stored: list[PartitionRef]) -> None:
    rows = read_partitions(lake, [stored[2], stored[0], stored[3]], TaskScores)
    assert rows["score_0_100"].to_list() == [20.0, 20.0, 0.0, 0.0, 30.0, 30.0]
    assert rows["task"].to_list() == ["a", "t"] * 3


def test_a_partition_of_two_runs_comes_twice(lake: Lake, stored: list[PartitionRef]) -> None:
    rows = read_partitions(lake, [stored[1], stored[3], stored[1]], TaskScores)
    assert rows["score_0_100"].to_list() == [10.0, 10.0, 30.0, 30.0, 10.0, 10.0]


def changed(path: Path) -> None:
    pl.read_parquet(path).with_columns(score_0_100=pl.lit(99.0)).write_parquet(path)


def shortened(path: Path) -> None:
    pl.read_parquet(path).head(1).write_parquet(path)


def other_columns(path: Path) -> None:
    pl.read_parquet(path).drop("task").write_parquet(path)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-20])


def emptied(path: Path) -> None:
    path.write_bytes(b"")


@pytest.mark.parametrize("damage", [changed, shortened, other_columns, cut, emptied, Path.unlink])
def test_a_damaged_one_is_named(tmp_path: Path, stored: list[PartitionRef], damage: object) -> None:
    lake = Lake(tmp_path, CodeVersion("another process", None))
    path = on_disk(lake, stored[2])
    assert callable(damage)
    damage(path)
    with pytest.raises(LakeError) as error:
        read_partitions(lake, stored, TaskScores)
    assert error.value.where == str(path)
