"""Ratings by people are found by the name of a dataset, of a file or of a run."""

from hashlib import sha256
from pathlib import Path

import polars as pl
import pytest

from schemas.errors import UsageError
from schemas.lineage import CodeVersion
from schemas.tables.responses import Answers, Judgements
from tasks.certificates.sources import find_ratings
from tasks.judging.people import people_key, people_rows
from tasks.judging.rubrics import load_rubric
from tasks.lake.lake import Lake
from tasks.solvers.answers import ANSWER
from tasks.sources.locating import Locator
from tests.mirror import MIRROR, needs_mirror
from tests.tasks.ratings.files import ROW, written
from tests.tasks.rows import answer, answers, item, items
from tests.tasks.runs.runs import run_of
from tests.tasks.scoring.samples import ability, blueprint, task
from tests.tasks.scoring.samples import items as scored

LOCATOR = Locator(mirror=MIRROR)


def test_file_is_found_by_its_ending(tmp_path: Path) -> None:
    source = find_ratings(str(written(tmp_path, ROW)), LOCATOR, Lake(tmp_path, CodeVersion("test", None)))
    assert (source.name, source.read, source.ratings["rating"].to_list()) == ("ratings", 1, [2.0])


@needs_mirror
def test_dataset_is_found_by_its_name(tmp_path: Path) -> None:
    source = find_ratings("humanebench_ratings", LOCATOR, Lake(tmp_path, CodeVersion("test", None)))
    assert (source.name, source.texts.height) == ("humanebench_ratings", 48)


def test_unknown_source_is_answered_with_the_nearest(tmp_path: Path) -> None:
    lake = Lake(tmp_path, CodeVersion("test", None))
    with pytest.raises(UsageError, match="no ratings by people of the name dices") as caught:
        find_ratings("dices", LOCATOR, lake)
    assert "did you mean dices350" in str(caught.value)
    with pytest.raises(UsageError) as caught:
        find_ratings("hellaswag", LOCATOR, lake)
    assert caught.value.got == "hellaswag, a dataset of items to ask"


def test_people_of_a_run_and_their_texts_are_found(tmp_path: Path) -> None:
    place = {"dataset": "d", "model": "m", "setting": "base"}
    layers = {
        "items": items(item("a", "counselor_reply", dataset="d"), item("b", "counselor_reply", dataset="d")),
        "answers": answers(answer("a", "so sorry", dataset="d"), answer("b", "fine then", part="x", dataset="d")),
        "item_scores": scored("d", [1.0]),
    }
    run = run_of(tmp_path, blueprint(ability("able", task("d"))), layers, place)
    with pytest.raises(UsageError, match="no person rated answers of the run"):
        find_ratings(run.name, LOCATOR, run.lake)
    rubric = load_rubric("answer", {})
    dimension = rubric.dimensions[0]
    (ref,) = run.partitions("answers")
    given = pl.DataFrame({"rater": ["ann", "bob"], "rating": [4, 2], "dimension": dimension.name})
    rated = run.lake.read(ref, Answers)
    rows = people_rows(rated, rubric, rated.filter(pl.col("item_id") == "b").select(ANSWER).join(given, how="cross"))
    run.lake.write(people_key(ref, rubric), rows, Judgements, complete=False)
    source = find_ratings(run.name, LOCATOR, run.lake)
    assert (source.read, source.refused) == (2, ())
    shown = source.ratings.select("source", "unit_id", "rater", "rater_kind", "rating", "text_sha256").rows()
    text = sha256(b"fine then").hexdigest()
    assert sorted(shown) == [("d", "b/x", "ann", "crowd", 4.0, text), ("d", "b/x", "bob", "crowd", 2.0, text)]
    assert source.texts.select("unit_id", "text", "cluster_id").rows() == [("b/x", "fine then", "b")]
