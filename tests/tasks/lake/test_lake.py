"""The lake: atomic writes, validated reads, incomplete partitions, clear errors."""

import os
from hashlib import sha256
from io import BytesIO
from pathlib import Path

import polars as pl
import pyarrow.parquet as pq
import pytest

from schemas.errors import LakeError
from schemas.lineage import CodeVersion, PartitionKey, PartitionRef
from schemas.tables.columns import measured_columns
from schemas.tables.items import RejectedItems
from schemas.tables.responses import Responses
from schemas.tables.scores import TaskScores
from tasks.lake.files import replace_file
from tasks.lake.lake import Lake, as_written
from tasks.lake.partitions import content_sha256, fingerprint_of, partition_key
from tests.tasks.rows import response, responses

CODE = CodeVersion("0.0.test", "c0ffee")


def make_key(model: str = "org/model", sample: int = 1) -> PartitionKey:
    return partition_key("task_scores", {"model": model}, {"sample": sample}, ["parent"], "1")


def make_frame(score: float | None = 50.0) -> pl.DataFrame:
    row = {"model": "m", "setting": "base", "task": "t", "score_0_100": score, "datasets_scored": 1, "datasets_total": 1}
    return pl.DataFrame([{**row, "n_scored": 8, "n_total": 8}, {**row, "task": "a", "n_scored": 8, "n_total": 8}])


def make_responses_key() -> PartitionKey:
    return partition_key("responses", {"dataset": "d"}, {}, ["parent"], "1")


def make_response(reply: str = "A", latency_s: float = 1.0) -> pl.DataFrame:
    row = response("1", reply, dataset="d", latency_s=latency_s)
    return pl.DataFrame([row], schema=Responses.create_empty().schema)


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake(tmp_path / "lake", CODE)


def on_disk(lake: Lake, ref: PartitionRef) -> Path:
    """A partition's file, of a lake that is a folder."""
    path = lake.path(ref)
    assert isinstance(path, Path)
    return path


def test_what_is_written_is_found_and_read(lake: Lake) -> None:
    written = lake.write(make_key(), make_frame(), TaskScores)
    assert lake.find(make_key()) == written
    assert lake.find(make_key(sample=2)) is None
    # Rows come back sorted by the primary key (model, setting, task).
    assert lake.read(written, TaskScores)["task"].to_list() == ["a", "t"]
    assert written.path == f"task_scores/model=org%2Fmodel/{written.fingerprint}.parquet"
    assert written.rows == 2
    assert written.parents == ("parent",)


@pytest.mark.parametrize("complete", [True, False])
def test_equal_content_keeps_its_bytes(lake: Lake, complete: bool) -> None:
    """Manifests name the bytes; latencies, which the content does not hold, would change them."""
    first = lake.write(make_responses_key(), make_response(latency_s=1.0), Responses, complete=complete)
    sealed = lake.file_sha256(first)
    assert lake.write(make_responses_key(), make_response(latency_s=2.0), Responses, complete=complete) == first
    assert lake.file_sha256(first) == sealed
    assert sealed == sha256(lake.path(first).read_bytes()).hexdigest()


def test_incomplete_partition_that_comes_again_is_newest(lake: Lake) -> None:
    def write(reply: str) -> PartitionRef:
        return lake.write(make_responses_key(), make_response(reply=reply), Responses, complete=False)

    first, second = write("a"), write("b")
    assert write("b") == second
    # A clock that was set back, or a copy, gives the older file the later time.
    os.utime(on_disk(lake, first), ns=(2 * 10**18, 2 * 10**18))
    assert lake.find_latest(make_responses_key()) == second
    again = write("a")
    assert (again.identity, lake.read(first, Responses).height) == (first.identity, 1)
    assert lake.find_latest(make_responses_key()) == again
    for number, ref in enumerate((first, second, again), start=1):
        assert f".incomplete.{number}.{ref.content_sha256[:16]}." in ref.path


def test_footer_says_what_fingerprint_was_computed_from(lake: Lake) -> None:
    ref = lake.write(make_key(), make_frame(), TaskScores)
    footer = lake.read_footer(ref)
    assert (footer.partition, footer.package_version, footer.git_commit) == (ref, "0.0.test", "c0ffee")
    assert footer.settings == {"sample": 1, "evaluation_version": "1"}
    assert fingerprint_of(ref.layer, dict(ref.place), footer.settings, ref.parents) == ref.fingerprint


def test_file_describes_its_columns(lake: Lake) -> None:
    scores = lake.write(make_key(), make_frame(), TaskScores)
    rejected = lake.write_rejected(partition_key("items", {"dataset": "d"}, {}, [], "1"), RejectedItems.create_empty())
    assert rejected.layer == "items_rejected"
    for ref, schema in ((scores, TaskScores), (rejected, RejectedItems)):
        fields = pq.read_schema(on_disk(lake, ref))
        told = {field.name: (field.metadata or {}).get(b"description", b"").decode() for field in fields}
        assert told == {name: column.description for name, column in schema.columns().items()}


def test_files_with_and_without_descriptions_are_read_together(lake: Lake, tmp_path: Path) -> None:
    bare = tmp_path / "bare.parquet"
    rows = as_written(make_response(), Responses)
    rows.write_parquet(bare)
    paths = [bare, on_disk(lake, lake.write(make_responses_key(), rows, Responses))]
    assert pl.read_parquet(paths, hive_partitioning=False).equals(pl.concat([rows, rows]))


def test_nothing_temporary_stays(lake: Lake) -> None:
    lake.require_writable()
    assert list(lake.root.iterdir()) == []
    ref = lake.write(make_key(), make_frame(), TaskScores)
    assert [path.name for path in lake.path(ref).parent.iterdir()] == [f"{ref.fingerprint}.parquet"]


def test_newest_incomplete_partition_has_own_identity(lake: Lake) -> None:
    partial = lake.write(make_key(), make_frame(40.0), TaskScores, complete=False)
    assert lake.find(make_key()) is None
    assert lake.find_latest(make_key()) == partial
    assert partial.identity == f"{partial.fingerprint}.{partial.content_sha256[:16]}"
    complete = lake.write(make_key(), make_frame(50.0), TaskScores)
    assert lake.find_latest(make_key()) == complete
    assert complete.identity == complete.fingerprint
    # A run that refers to the incomplete file can still read it.
    assert lake.read(partial, TaskScores)["score_0_100"].to_list() == [40.0, 40.0]


@pytest.mark.parametrize("content", [b"no parquet", b"x" * 100_000, None], ids=["short", "long", "truncated"])
def test_a_file_that_is_no_partition_is_named(lake: Lake, content: bytes | None) -> None:
    path = lake.path(lake.write(make_key(), make_frame(), TaskScores))
    replace_file(path, path.read_bytes()[:-20] if content is None else content)
    with pytest.raises(LakeError, match="a partition of the lake is damaged") as caught:
        lake.find(make_key())
    assert caught.value.where == str(path)
    assert "next step: move the file away" in str(caught.value)


def test_changed_content_is_noticed(lake: Lake) -> None:
    ref = lake.write(make_key(), make_frame(), TaskScores)
    path, changed = lake.path(ref), BytesIO()
    footer = pl.read_parquet_metadata(BytesIO(path.read_bytes()))["moodflow"]
    lake.read_rows(ref).with_columns(score_0_100=pl.lit(99.0)).write_parquet(changed, metadata={"moodflow": footer})
    replace_file(path, changed.getvalue())
    assert lake.find(make_key()) == ref
    with pytest.raises(LakeError, match="damaged") as caught:
        lake.read(ref, TaskScores)
    assert caught.value.where == str(path)


def test_foreign_parquet_file_is_refused(lake: Lake) -> None:
    ref = lake.write(make_key(), make_frame(), TaskScores)
    make_frame().write_parquet(on_disk(lake, ref))
    with pytest.raises(LakeError, match="damaged") as caught:
        lake.find(make_key())
    assert "a footer written by MoodFlow" in str(caught.value)


def test_missing_file_is_error_and_not_empty_frame(lake: Lake) -> None:
    ref: PartitionRef = lake.write(make_key(), make_frame(), TaskScores)
    lake.path(ref).unlink()
    assert lake.find(make_key()) is None
    with pytest.raises(LakeError, match="a partition of the lake is missing") as caught:
        lake.read(ref, TaskScores)
    assert "move" not in (caught.value.next_step or "")


def test_file_of_another_version_is_not_called_damaged(lake: Lake) -> None:
    """A column came since: the rows are still what was written, and moving the record of a past run away would destroy it."""
    ref = lake.write(make_key(), make_frame(), TaskScores)
    path = on_disk(lake, ref)
    footer = pl.read_parquet_metadata(path)["moodflow"]
    older = pl.read_parquet(path, hive_partitioning=False).drop("score_0_100")
    old = ref.model_copy(update={"content_sha256": content_sha256(older)})
    older.write_parquet(path, metadata={"moodflow": footer})
    with pytest.raises(LakeError, match="written by another version") as caught:
        lake.read(old, TaskScores)
    assert caught.value.where == str(path)
    assert caught.value.expected == "columns of task_scores as this version has them: score_0_100: Float64"
    assert caught.value.got == "no score_0_100; written by moodflow 0.0.test at c0ffee"
    assert "move" not in (caught.value.next_step or "")
    # Rows that are not those that were written are damaged, whatever columns they have.
    with pytest.raises(LakeError, match="damaged"):
        lake.read(ref, TaskScores)


def test_closed_names_of_earlier_files_are_texts(lake: Lake) -> None:
    ref = lake.write(make_key(), make_frame(), TaskScores)
    path = on_disk(lake, ref)
    footer = pl.read_parquet_metadata(path)["moodflow"]
    closed = pl.read_parquet(path, hive_partitioning=False).cast({"task": pl.Enum(["a", "t"])})
    closed.write_parquet(path, metadata={"moodflow": footer})
    for rows in (lake.read(ref, TaskScores), lake.read_all([ref], TaskScores)):
        assert rows.schema["task"] == pl.String
        assert rows["task"].to_list() == ["a", "t"]


def test_replies_of_earlier_files_have_no_payment(lake: Lake) -> None:
    key = partition_key("responses", {"dataset": "d"}, {}, [], "1")
    paid, unknown = (responses(response("i", "B", paid_as=way)) for way in ("batch", None))
    ref = lake.write(key, paid, Responses)
    # How a reply was paid is no part of the content.
    assert content_sha256(unknown, measured_columns(Responses)) == ref.content_sha256
    path = on_disk(lake, ref)
    footer = pl.read_parquet_metadata(path)["moodflow"]
    pl.read_parquet(path, hive_partitioning=False).drop("paid_as").write_parquet(path, metadata={"moodflow": footer})
    for rows in (lake.read(ref, Responses), lake.read_all([ref], Responses)):
        assert rows["paid_as"].to_list() == [None]


@pytest.mark.parametrize("complete", [True, False])
def test_an_empty_file_is_named_and_written_again(lake: Lake, complete: bool, capsys: pytest.CaptureFixture[str]) -> None:
    written = lake.write(make_key(), make_frame(), TaskScores, complete=complete)
    whole = on_disk(lake, written).read_bytes()
    on_disk(lake, written).write_bytes(b"")
    assert lake.find(make_key()) is None
    assert lake.write(make_key(), make_frame(), TaskScores, complete=complete) == written
    assert on_disk(lake, written).read_bytes() == whole
    assert f"a partition of the lake is damaged and is written again: {on_disk(lake, written)}" in capsys.readouterr().err


@pytest.fixture
def stored(tmp_path: Path) -> list[PartitionRef]:
    """Partitions of one layer with scores of their own: 0, 10, 20 and 30."""
    keys = [partition_key("task_scores", {"model": "m"}, {"sample": sample}, [], "1") for sample in range(4)]
    lake = Lake(tmp_path, CODE)
    return [lake.write(key, make_frame(10.0 * number), TaskScores) for number, key in enumerate(keys)]


@pytest.fixture
def many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lake:
    """The lake, which cannot read partitions one by one."""
    lake = Lake(tmp_path, CODE)

    def refuse(*_: object) -> None:
        raise AssertionError("read alone")

    monkeypatch.setattr(lake, "read", refuse)
    return lake


def test_rows_come_in_the_order_of_the_partitions(many: Lake, stored: list[PartitionRef]) -> None:
    rows = many.read_all([stored[2], stored[0], stored[3]], TaskScores)
    assert rows["score_0_100"].to_list() == [20.0, 20.0, 0.0, 0.0, 30.0, 30.0]
    assert rows["task"].to_list() == ["a", "t"] * 3


def changed(path: Path) -> None:
    pl.read_parquet(path).with_columns(score_0_100=pl.lit(99.0)).write_parquet(path)


def shortened(path: Path) -> None:
    pl.read_parquet(path).head(1).write_parquet(path)


def other_columns(path: Path) -> None:
    pl.read_parquet(path).drop("task").write_parquet(path)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-20])


@pytest.mark.parametrize("damage", [changed, shortened, other_columns, cut, Path.unlink])
def test_a_damaged_one_of_many_is_named(tmp_path: Path, stored: list[PartitionRef], damage: object) -> None:
    lake = Lake(tmp_path, CodeVersion("another process", None))
    path = on_disk(lake, stored[2])
    assert callable(damage)
    damage(path)
    with pytest.raises(LakeError) as error:
        lake.read_all(stored, TaskScores)
    assert error.value.where == str(path)
