"""Partitions whose columns are others than those of their layer: read where nothing is guessed, else written next to it."""

from collections.abc import Sequence
from pathlib import Path

import dataframely as dy
import polars as pl
import pytest

from schemas.errors import LakeError
from schemas.lineage import CodeVersion, PartitionKey, PartitionRef
from schemas.roles import PEOPLE
from schemas.tables.columns import measured_columns
from schemas.tables.items import RejectedItems
from schemas.tables.layers import LAYERS
from schemas.tables.responses import Responses
from schemas.tables.role_cards import RoleCards
from tasks.lake.columns import as_now, differing, other_columns, tell_other_columns
from tasks.lake.files import replace_file
from tasks.lake.lake import Lake
from tasks.lake.partitions import content_sha256, fingerprint_of, partition_key
from tests.tasks.rows import response, responses

WORDS = Responses.create_empty().schema["failure"]


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    tell_other_columns.cache_clear()
    return Lake(tmp_path / "lake", CodeVersion("0.0.test", "c0ffee"))


def key_of(layer: str = "responses", **place: str) -> PartitionKey:
    return partition_key(layer, {"dataset": "d", **place}, {"sample": 1}, ["parent"], "1")


def rewrite(lake: Lake, ref: PartitionRef, *changed: pl.Expr, without: Sequence[str] = ()) -> bytes:
    """Write a file as a version with other columns would have, and return its bytes."""
    path = Path(str(lake.path(ref)))
    footer = pl.read_parquet_metadata(path)["moodflow"]
    lake.read_rows(ref).with_columns(changed).drop(without).write_parquet(path, metadata={"moodflow": footer})
    return path.read_bytes()


def test_closed_list_with_fewer_words_is_read(lake: Lake) -> None:
    refs = [lake.write(key_of(model=name), responses(response("i", None, failure="auth")), Responses) for name in ("a", "b")]
    rewrite(lake, refs[0], pl.col("failure").cast(pl.Enum(["quota", "auth"])))
    for rows in (lake.read(refs[0], Responses), lake.read_all(refs, Responses)[:1]):
        assert (rows.schema["failure"], rows["failure"].to_list()) == (WORDS, ["auth"])
    assert lake.find(key_of(model="a")) == refs[0]


def test_closed_list_with_a_word_that_is_gone_is_not_read(lake: Lake) -> None:
    ref = lake.write(key_of(), responses(response("i", None, failure="auth")), Responses)
    rewrite(lake, ref, pl.col("failure").cast(pl.Enum(["auth", "too_late"])))
    with pytest.raises(LakeError, match="written by another version") as caught:
        lake.read(ref, Responses)
    assert str(caught.value.got).startswith(
        "failure: Enum(categories=['auth', 'too_late']); written by moodflow 0.0.test at c0ffee"
    )
    assert lake.find(key_of()) is None


@pytest.mark.parametrize("complete", [True, False])
def test_other_columns_are_written_next_to_the_file(lake: Lake, complete: bool, capsys: pytest.CaptureFixture[str]) -> None:
    old = lake.write(key_of(), responses(response("i", "A")), Responses)
    before = rewrite(lake, old, without=["latency_s"])
    assert [lake.find(key_of()), lake.find(key_of())] == [None, None]
    told = "partitions of responses have columns of another version of moodflow, and have to be computed again"
    assert capsys.readouterr().err == f"moodflow: {told}: {lake.root}\n"

    new = lake.write(key_of(), responses(response("i", "A")), Responses, complete=complete)
    assert (new.fingerprint != old.fingerprint, new.parents, new.place) == (True, old.parents, old.place)
    assert Path(str(lake.path(old))).read_bytes() == before
    assert lake.read(new, Responses)["reply"].to_list() == ["A"]
    # Written again it is found, or is the same file.
    assert lake.find(key_of()) == (new if complete else None)
    assert lake.write(key_of(), responses(response("i", "A")), Responses, complete=complete) == new
    settings = lake.read_footer(new).settings
    assert settings.keys() == {"sample", "evaluation_version", "columns_sha256"}
    assert fingerprint_of("responses", dict(new.place), settings, new.parents) == new.fingerprint


def test_rejected_rows_stand_with_their_items(lake: Lake) -> None:
    key, schema = partition_key("items", {"dataset": "d"}, {}, [], "1"), LAYERS["items"].schema
    rewrite(lake, lake.write(key, schema.create_empty(), schema), without=["cluster"])
    rejected = lake.write_rejected(key, RejectedItems.create_empty())
    assert rejected.fingerprint == lake.write(key, schema.create_empty(), schema).fingerprint != key.fingerprint


def test_file_next_to_it_with_other_columns_is_damaged(lake: Lake) -> None:
    for _ in range(2):
        rewrite(lake, lake.write(key_of(), responses(response("i", "A")), Responses), without=["latency_s"])
    with pytest.raises(LakeError, match="damaged") as caught:
        lake.find(key_of())
    assert caught.value.expected == "the columns that its settings name"


def test_damaged_file_is_written_again(lake: Lake) -> None:
    ref = lake.write(key_of(), responses(response("i", "A")), Responses)
    replace_file(lake.path(ref), b"no parquet")
    assert lake.write(key_of(), responses(response("i", "A")), Responses) == ref


def test_column_more_is_told_and_not_damage(lake: Lake) -> None:
    """Whether a column that this version does not know is in the hash, only the version that wrote it knows."""
    ref = lake.write(key_of(), responses(response("i", "A")), Responses)
    rewrite(lake, ref, pl.lit(3).alias("shard"))
    in_hash = ref.model_copy(
        update={"content_sha256": content_sha256(lake.read_rows(ref), ["error", "latency_s", "attempts", "paid_as"])}
    )
    for written in (ref, in_hash):
        with pytest.raises(LakeError, match="written by another version") as caught:
            lake.read(written, Responses)
        assert (caught.value.expected, str(caught.value.got)[:13]) == (
            "columns of responses as this version has them: no shard",
            "shard: Int32;",
        )
    rewrite(lake, ref, pl.lit("B").alias("reply"))
    with pytest.raises(LakeError, match="damaged"):
        lake.read(ref, Responses)


def test_column_more_is_neither_found_nor_dropped(lake: Lake) -> None:
    refs = [lake.write(key_of(model=name), responses(response("i", "A")), Responses) for name in ("a", "b")]
    for ref in refs:
        rewrite(lake, ref, pl.lit(3).alias("shard"))
    assert lake.find(key_of(model="a")) is None
    # Even where the column is in the hash of the content, many files are not read as if it were not there.
    measured = measured_columns(Responses)
    in_hash = [ref.model_copy(update={"content_sha256": content_sha256(lake.read_rows(ref), measured)}) for ref in refs]
    for stored in (refs, in_hash):
        with pytest.raises(LakeError, match="written by another version"):
            lake.read_all(stored, Responses)
    new = lake.write(key_of(model="a"), responses(response("i", "A")), Responses)
    assert (new.fingerprint != refs[0].fingerprint, lake.find(key_of(model="a"))) == (True, new)


class Cups(dy.Schema):
    kind = dy.Enum(["tea", "ice"])
    name = dy.String()


def test_rows_become_those_of_now_without_a_guess() -> None:
    earlier = pl.DataFrame({"kind": ["ice"], "name": ["a"]}, {"kind": pl.Enum(["ice"]), "name": pl.Enum(["a"])})
    assert as_now(earlier, Cups).to_dict(as_series=False) == {"kind": ["ice"], "name": ["a"]}
    assert differing(as_now(earlier, Cups).schema, Cups) == []
    # A text might be any word; a column that is not there might be any value.
    for other, told in (({"kind": ["ice"], "name": ["a"]}, ["kind"]), ({"name": ["a"]}, ["kind"])):
        assert differing(as_now(pl.DataFrame(other), Cups).schema, Cups) == told


@pytest.mark.parametrize(
    ("layer", "place", "step"),
    [
        ("totals", {}, "run moodflow run with the run's plan"),
        ("judgements", {"judge": PEOPLE}, "move the file away, and import the filled-in sheets again"),
        ("judgements", {"judge": "j"}, "run moodflow run with the run's plan"),
        ("certificate_ratings", {}, "run moodflow judges certify again"),
        ("role_cards", {}, "move the file away and run the same command again"),
    ],
)
def test_next_step_is_that_of_the_layer(lake: Lake, layer: str, place: dict[str, str], step: str) -> None:
    schema = LAYERS[layer].schema if layer in LAYERS else RoleCards
    ref = lake.write(key_of(layer, **place), schema.create_empty(), schema)
    error = other_columns(lake.path(ref), ref, {}, schema, lake.read_footer(ref))
    assert str(error.next_step).startswith(step)
