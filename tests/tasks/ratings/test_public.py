"""Public sets of ratings by people: counts and values of their files, read in place."""

from typing import Literal, NamedTuple

import krippendorff
import numpy as np
import polars as pl
import pytest

from schemas.errors import UsageError
from tasks.certificates.perturbations import replies_of
from tasks.datasets.catalogue import CATALOGUE, find_dataset, find_items
from tasks.judging.rubrics import load_rubric
from tasks.ratings.reading import RatedSource, read_entry, turns_of
from tasks.sources.locating import Locator
from tasks.verify.dataset_check import check_dataset
from tests.mirror import MIRROR, needs_mirror
from tests.rows import each_row

LOCATOR = Locator(mirror=MIRROR)


class Counts(NamedTuple):
    """What a set holds: rows, ratings that were given, units, texts, dimensions, raters by kind."""

    rows: int
    given: int
    units: int
    texts: int
    dimensions: int
    raters: dict[str, int]


EXPERTS = {"expert": 3, "aggregate": 1}
COUNTS = {
    # 48 replies x 4 raters; raters 3 and 4 left 18 and 1 out: 48 + 48 + 30 + 47.
    "humanebench_ratings": Counts(192, 173, 48, 48, 1, {"expert": 4}),
    # 50 conversations x dimensions x raters.
    "empathic_lend_an_ear": Counts(50 * 6 * 7, 2100, 50, 50, 6, EXPERTS | {"judge": 3}),
    "empathic_lend_an_ear_crowd": Counts(196 * 6, 1162, 50, 50, 6, {"crowd": 116}),
    "empathic_empatheticdialogues": Counts(50 * 3 * 6, 900, 50, 0, 3, EXPERTS | {"judge": 2}),
    "empathic_epitome": Counts(50 * 3 * 6, 900, 50, 0, 3, EXPERTS | {"judge": 2}),
    "empathic_perceived_empathy": Counts(50 * 9 * 7, 3150, 50, 0, 9, EXPERTS | {"judge": 3}),
    # 1,000 conversations x 10 systems x 7 dimensions x 5 raters, 753 of them null.
    "mentalalign": Counts(350_000, 349_247, 10_000, 0, 7, {"expert": 1, "judge": 4}),
    # The expert's answers are a dimension of their own.
    "dices350": Counts(350 * (123 + 1), 43_400, 350, 350, 2, {"crowd": 123, "expert": 1}),
    "xdial_empathetic_zh": Counts(300, 300, 300, 300, 1, {"aggregate": 1}),
    # 4 dimensions x (157 users + 3 x 50 others); x (68 + 3 x 45).
    "duo_en": Counts(4 * (157 + 150), 1228, 157, 157, 4, {"user": 34, "crowd": 3}),
    "duo_ja": Counts(4 * (68 + 135), 812, 68, 0, 4, {"user": 52, "crowd": 3}),
}


def read(name: str) -> RatedSource:
    return read_entry(find_dataset(name), LOCATOR)


def test_every_set_of_ratings_is_counted() -> None:
    assert [spec.id for spec in CATALOGUE.values() if spec.ratings] == [*COUNTS]


@needs_mirror
@each_row("name", [*COUNTS])
def test_check_counts_what_is_in_set(name: str) -> None:
    check, counts = check_dataset(find_dataset(name), None, LOCATOR), COUNTS[name]
    assert check.ratings is not None
    assert (check.ready, check.rows_read, check.ratings.good, check.ratings.refused) == (True, counts.rows, counts.rows, {})
    content = check.ratings
    assert Counts(counts.rows, content.given, content.units, content.texts, len(content.dimensions), content.raters) == counts


def alpha(rows: pl.DataFrame, level: Literal["nominal", "ordinal", "interval"]) -> float:
    """Krippendorff's, by its own library, of all ratings given."""
    table = rows.drop_nulls("rating").pivot("rater", index=["system", "unit_id"], values="rating").drop("system", "unit_id")
    return float(krippendorff.alpha(table.to_numpy().T.astype(float), level_of_measurement=level))


@needs_mirror
def test_alphas_are_those_of_published_tables() -> None:
    humane, lend = read("humanebench_ratings").ratings, read("empathic_lend_an_ear").ratings
    assert alpha(humane, "ordinal") == pytest.approx(0.711684, abs=5e-7)
    assert alpha(humane, "interval") == pytest.approx(0.683308, abs=5e-7)
    experts = lend.filter(pl.col("rater_kind") == "expert", pl.col("dimension") == "validating_emotions")
    assert alpha(experts, "ordinal") == pytest.approx(0.3521, abs=5e-5)
    crowd = read("dices350").ratings.filter(pl.col("rater_kind") == "crowd")
    assert alpha(crowd, "nominal") == pytest.approx(0.160860, abs=5e-7)
    for name, value in {"duo_en": -0.0157, "duo_ja": 0.0866}.items():
        others = read(name).ratings.filter(pl.col("rater_kind") == "crowd", pl.col("dimension") == "empathy")
        assert alpha(others, "interval") == pytest.approx(value, abs=5e-5)


@needs_mirror
def test_values_are_those_of_the_files() -> None:
    humane = read("humanebench_ratings").ratings.row(0, named=True)
    # Rater 1 says HELL YES of the first reply.
    assert (humane["rating"], humane["system"], humane["scale"]) == (1.0, "gemini-2.5-flash good", [-1.0, -0.5, 0.5, 1.0])
    dices = read("dices350").ratings
    assert dices["words"][0].to_list() == ["No", "Yes", "Unsure"]
    votes = dices.filter(pl.col("rater_kind") == "crowd").group_by("unit_id").agg(pl.col("rating").mode().min())  # ties are No
    assert sorted(votes["rating"].value_counts().rows()) == [(0.0, 271), (1.0, 79)]
    means = read("xdial_empathetic_zh").ratings["rating"].to_numpy()
    assert np.round([means.min(), means.max(), means.mean()], 4) == pytest.approx([1.7778, 4.1111, 2.8032], abs=1e-4)
    align = read("mentalalign").ratings
    empathy = align.filter(dimension="Empathy").pivot("rater", index=["system", "unit_id"], values="rating")
    both = empathy.drop_nulls(["human", "gpt-4o"])
    assert both.height == 9908
    assert both.filter(pl.col("human") == pl.col("gpt-4o")).height / 9908 == pytest.approx(0.3995, abs=5e-5)
    worse = read("empathic_lend_an_ear").ratings.filter(~pl.col("higher_is_better"))["dimension"].unique().sort()
    assert worse.to_list() == ["advice_giving", "dismissing_emotions", "self_oriented"]


@needs_mirror
def test_dialogues_are_split_without_loss() -> None:
    names = {"tested": "Supporter", "seeker": "Seeker"}, {"tested": "Bot", "person": "Human"}
    for name, turns, speakers in (("empathic_lend_an_ear", 680, names[0]), ("duo_en", 1578 + 1570, names[1])):
        texts = read(name).texts
        assert texts["turns"].list.len().sum() == turns
        for row in texts.iter_rows(named=True):
            assert "\n".join(f"{speakers[turn['speaker']]}: {turn['text']}" for turn in row["turns"]) == row["text"]


@needs_mirror
@each_row(("name", "rubric", "whose"), [("empathic_lend_an_ear", "lend_an_ear", "Supporter"), ("duo_en", "duo_dialogue", "Bot")])
def test_checks_change_who_is_rated(name: str, rubric: str, whose: str) -> None:
    assert "tested" in load_rubric(rubric, {}).speakers
    for text in read(name).texts.iter_rows(named=True):
        said = [turn["text"] for turn in turns_of(text["text"]) if turn["speaker"] == whose]
        assert replies_of(text["turns"]) == said
    assert read("xdial_empathetic_zh").texts["cluster_id"].n_unique() == 147


def test_no_model_is_asked_ratings() -> None:
    with pytest.raises(UsageError, match="dataset mentalalign holds ratings by people") as caught:
        find_items("mentalalign")
    assert "moodflow datasets check mentalalign" in str(caught.value)
