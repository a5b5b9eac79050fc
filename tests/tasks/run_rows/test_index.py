"""What the index says of each row, and when it is made."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from schemas.blueprint import BlueprintDataset, MethodSpec, MetricSpec
from schemas.errors import LakeError
from schemas.tables.scores import ItemScores
from tasks.explain.rows import answered_items
from tasks.rows import index
from tasks.rows.index import FOLDER, RowIndex, open_rows, score_rows
from tasks.runs.evidence import read_evidence
from tasks.runs.past_run import PastRun
from tasks.runs.run_tables import System
from tasks.scoring.tree import tree_tables
from tests.rows import each_row
from tests.tasks.rows import frame
from tests.tasks.run_rows.small_run import ODD, SCORES, make_run, score
from tests.tasks.scoring.samples import ability, blueprint, task


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> PastRun:
    return make_run(tmp_path_factory.mktemp("lake"))


def test_status_and_score_follow_all_metrics(run: PastRun) -> None:
    columns = ("item_id", "repetition", "status", "score", "rating", "judges_apart", "reply_characters")
    rows = open_rows(run).rows.filter(pl.col("model") == "m").select(columns).collect().rows()
    assert rows == [
        (ODD, 0, "call failed", None, None, None, None),
        ("d-0", 0, "right", 100.0, None, None, 1),
        ("d-0", 1, "wrong", 0.0, None, None, 10),
        ("d-1", 0, "unread", 0.0, None, None, 7),
        # Ratings of 1 and 2 by one judge, of 5 by it and 3 by people, on 1 to 5: 0, 25, 100 and 50.
        ("e-0", 0, "partial", 75.0, 43.75, 50.0, 12_000),
        ("e-1", 0, "judge failed", 50.0, None, None, 40),
        ("e-2", 0, "not counted", None, 75.0, None, 0),
    ]


def scored(*rows: dict[str, Any]) -> pl.DataFrame:
    """Score rows of the dataset d by a blueprint whose methods are those of the rows."""
    metrics = dict.fromkeys((row["method"], row["metric"]) for row in rows)
    methods = tuple(MethodSpec(id=method, metrics=(MetricSpec(metric=metric),)) for method, metric in metrics)
    design = blueprint(ability("a", task("d")), datasets={"d": BlueprintDataset(title="D", methods=methods)})
    return score_rows(frame(ItemScores, rows).lazy(), tree_tables(design)).collect().sort("item_id")


def test_parts_are_averaged_before_metrics_are() -> None:
    parts = [score("d-0", value, part=part) for part, value in (("1", 1.0), ("2", 0.0), ("3", 0.5))]
    lost = [score("d-1", value, status, part=part) for part, value, status in (("1", 1.0, "scored"), ("2", None, "call_failed"))]
    error: dict[str, Any] = {"method": "b", "metric": "q3_distance"}  # 0 is best, 3 is worst
    best = [score("d-2", 0.0, **error), score("d-2", 1.0), score("d-3", 3.0, **error)]
    rows = scored(*parts, *lost, *best)
    assert rows.select("item_id", "status", "score").rows() == [
        ("d-0", "partial", 50.0),
        ("d-1", "call failed", None),
        ("d-2", "right", 100.0),
        ("d-3", "wrong", 0.0),
    ]


def test_what_leans_is_neither_right_nor_wrong() -> None:
    bias: dict[str, Any] = {"method": "bias", "metric": "bias_score_ambiguous"}
    rows = [score("d-0", 1.0), score("d-0", 0.5, **bias), score("d-1", 0.0), score("d-1", 0.5, **bias), score("d-2", 1.0, **bias)]
    tau = [score(f"d-{3 + n}", float(n - 1), method="tau", metric="kendall_tau") for n in range(3)]  # on -1 to 1
    assert scored(*rows, *tau).select("status", "score").rows() == [
        ("right", 100.0),
        ("wrong", 0.0),
        ("partial", None),
        *(("wrong", 0.0), ("partial", 50.0), ("right", 100.0)),
    ]


def test_rows_agree_with_what_explain_says(run: PastRun) -> None:
    rows = {
        (row["item_id"], row["repetition"]): row
        for row in open_rows(run).rows.filter(pl.col("model") == "m").collect().to_dicts()
    }
    for dataset in ("d", "e"):
        evidence = read_evidence(run, dataset, System("m", "base"))
        for item in answered_items(run, evidence, (), None):
            row = rows.pop((item.item_id, item.repetition))
            assert (row["score"], row["language"]) == (None if item.value is None else item.value * 100, item.language)
            assert row["reply_characters"] == (None if item.reply is None else len(item.reply))
            ratings = [(each.rating - 1) * 25 for each in item.ratings if each.rating is not None]
            assert row["rating"] == (sum(ratings) / len(ratings) if ratings else None)
    assert not rows


def test_faults_count_unless_they_are_refused(run: PastRun) -> None:
    rows = open_rows(run).rows.select("item_id", "faults").drop_nulls().collect().rows()
    assert rows == [("e-1", 2)]


@each_row("damage", ["cut", "changed", "of another run", "gone"])
def test_a_damaged_index_is_made_again(run: PastRun, damage: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(index, "KEPT", {})
    expected = open_rows(run).rows.collect()
    file = Path(str(run.lake.root)) / FOLDER / run.name
    content = file.read_bytes()
    other = make_run(tmp_path, scores=SCORES[:1])
    assert open_rows(other).counts.height == 1
    foreign = (tmp_path / FOLDER / "r").read_bytes()
    file.write_bytes(
        {"cut": content[:-9], "changed": content[:99] + b"?" + content[100:], "of another run": foreign, "gone": b""}[damage]
    )
    index.KEPT.clear()
    assert open_rows(run).rows.collect().equals(expected)
    assert file.read_bytes() == content


def test_a_new_description_keeps_the_index(run: PastRun) -> None:
    described = replace(run, manifest=run.manifest.model_copy(update={"finished_at": "2030-01-01T00:00:00+00:00"}))
    assert open_rows(described) is open_rows(run)


def test_two_build_the_index_at_once(tmp_path: Path) -> None:
    run = make_run(tmp_path)
    with ThreadPoolExecutor(4) as pool:
        counts = [*pool.map(lambda _: RowIndex(run).counts["rows"].sum(), range(8))]
    assert counts == [9] * 8
    assert [file.name for file in (tmp_path / FOLDER).iterdir()] == ["r"]


def test_of_large_partitions_the_missing_one_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index, "CHECKED", 0)
    run = make_run(tmp_path)
    assert open_rows(run).counts["rows"].sum() == 9
    gone = run.lake.path(run.partitions("answers", dataset="e")[0])
    gone.unlink()
    with pytest.raises(LakeError, match="a partition of the lake is missing") as caught:
        assert RowIndex(replace(run, manifest=run.manifest.model_copy(update={"run": "s"}))).counts.height
    assert caught.value.where == str(gone)


def test_an_index_that_cannot_be_written_is_kept(tmp_path: Path) -> None:
    run = make_run(tmp_path)
    (tmp_path / FOLDER).write_text("no folder")
    assert open_rows(run).counts["rows"].sum() == 9
    assert open_rows(run) is open_rows(run)
