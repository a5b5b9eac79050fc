"""Ratings by people are found by the name of a dataset, of a file or of a run."""

from hashlib import sha256
from pathlib import Path

import polars as pl
import pytest

from schemas.errors import UsageError
from schemas.lineage import CodeVersion
from schemas.tables.responses import Answers, Judgements
from tasks.certificates.agreement import certificates
from tasks.certificates.asking import usable_source
from tasks.certificates.joining import COUNTS_AS_PERSON, JUDGED, JoinedRatings
from tasks.certificates.sources import find_ratings
from tasks.judging.people import people_key, people_rows
from tasks.judging.rubrics import load_rubric
from tasks.lake.lake import Lake
from tasks.ratings.reading import read_human_ratings
from tasks.solvers.answers import ANSWER
from tasks.sources.locating import Locator
from tasks.statistics.resampling import Resampling
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


FIGURES = {
    ("humanebench_ratings", "humane"): {"alpha_ordinal": 0.7117, "alpha_interval": 0.6833, "alpha_nominal": 0.3782},
    ("empathic_lend_an_ear", "validating_emotions"): {"alpha_ordinal": 0.3521, "alpha_interval": 0.3610, "icc_2_1": 0.4073},
    ("empathic_lend_an_ear", "dismissing_emotions"): {"alpha_ordinal": 0.3584, "alpha_interval": 0.4356, "icc_2_1": 0.4533},
    ("empathic_lend_an_ear_crowd", "validating_emotions"): {"alpha_ordinal": 0.2655},
    ("dices350", "safety"): {"alpha_nominal": 0.160860},
}
"""Among people, by the published ratings: four raters, three experts, 116 people of a crowd, 123 raters."""


@needs_mirror
def test_people_of_public_sets_agree_as_published(tmp_path: Path) -> None:
    for (name, dimension), expected in FIGURES.items():
        source = find_ratings(name, LOCATOR, Lake(tmp_path, CodeVersion("test", None)))
        rubric = load_rubric({"dices350": "dices_safety", "humanebench_ratings": "humane"}.get(name, "lend_an_ear"), {})
        used, left_out = usable_source(source, rubric, None, 0)
        people = used.ratings.filter(pl.col("rater_kind") != "judge")
        rows = certificates(JoinedRatings(people, pl.DataFrame(schema=JUDGED), {}), Resampling(0, 0))
        got = dict(rows.filter(dimension=dimension).select("statistic", "value").iter_rows())
        near = pytest.approx(expected, abs=5e-7 if name == "dices350" else 5e-5)
        assert {statistic: got[statistic] for statistic in expected} == near
        # The mean of the crowd is one rating of each conversation and dimension.
        assert left_out.get("a mean of people beside single ratings", 0) == (300 if name == "empathic_lend_an_ear" else 0)


def test_means_count_where_no_single_person_rated(tmp_path: Path) -> None:
    mean = {"rater_kind": "aggregate", "rating": 2.4, "text": "so sorry", "language": "en"}
    rows = [ROW, {**ROW, **mean, "rater": "crowd"}, {**ROW, **mean, "rater": "crowd", "dimension": "humane"}]
    rows += [{**ROW, "dimension": "humane", "rater": "gpt", "rater_kind": "judge"}]
    file = written(tmp_path, *({**row, "scale": [1, 2, 3, 4]} for row in rows))
    kept = read_human_ratings(file).ratings.filter(COUNTS_AS_PERSON)
    assert kept.select("dimension", "rater").rows() == [("warmth", "ann"), ("humane", "crowd"), ("humane", "gpt")]


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
