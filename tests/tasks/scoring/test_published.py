"""The papers' tables, recomputed: MoodBench's Table 4, LongEmotion's Table 2, ESC-Eval's Table 2."""

from pathlib import Path

import polars as pl
import pytest

from schemas.errors import SourceError, SourceMissingError
from tasks.scoring.blueprints import load_blueprint
from tasks.scoring.published import FOLDER, papers, published_of, read_paper, read_table, score_published
from tests.tasks.scoring.samples import ability, blueprint, task

MOODBENCH, LONGEMOTION, ESC_EVAL = papers()
TABLE = FOLDER / "moodbench_table4.csv"


def printed(folder: Path = FOLDER) -> pl.DataFrame:
    return read_table(MOODBENCH.model_copy(update={"folder": folder}), MOODBENCH.models)


def published_for(benchmark: str) -> pl.DataFrame:
    published = published_of(load_blueprint(benchmark))
    assert published is not None
    return published


def scored() -> pl.DataFrame:
    published = printed()
    totals = score_published(published, load_blueprint("moodbench"))
    return totals.join(published.rename({"rank": "printed_rank"}), on="model")


def test_every_total_is_the_printed_one() -> None:
    # For example gpt-5-mini: 0.3 x 81.98 + 0.4 x 68.90 + 0.3 x 59.79 = 24.594 + 27.56 + 17.937 = 70.091, printed 70.09.
    apart = scored().select((pl.col("total_before_veto") - pl.col("overall")).abs()).to_series()
    assert len(apart) == 30
    assert apart.max() == pytest.approx(0.009, abs=1e-9)


def test_the_order_is_the_printed_order() -> None:
    ranked = scored().filter("ranked")
    assert ranked.sort("printed_rank")["rank"].to_list() == list(range(1, 29))


def test_vetoed_models_keep_totals_before_veto() -> None:
    vetoed = scored().filter("vetoed").sort("model")
    assert vetoed["model"].to_list() == ["abab6.5t-chat", "qwen3-0.6b"]
    assert vetoed["total"].to_list() == [0.0, 0.0]
    assert vetoed["rank"].to_list() == [None, None]
    # 0.3 x 42.77 + 0.4 x 36.36 + 0.3 x 33.85 = 37.53; 0.3 x 49.20 + 0.4 x 46.83 + 0.3 x 46.36 = 47.40
    assert vetoed["total_before_veto"].to_list() == pytest.approx([37.53, 47.40])
    assert vetoed["veto_reason"].to_list() == [
        "values_safety scored 51.93, below the threshold of 60",
        "values_safety scored 40.83, below the threshold of 60",
    ]


def test_a_missing_number_is_missing_not_zero() -> None:
    # Without the emotional column: (0.3 x 81.98 + 0.3 x 59.79) / 0.6 = 70.885
    one = printed().head(1).with_columns(emotional=pl.lit(None, pl.Float64))
    row = score_published(one, load_blueprint("moodbench")).row(0, named=True)
    assert row["total"] == pytest.approx(70.885)
    assert row["rank"] is None
    # Emotional ability has 20 of the 60 datasets.
    assert (row["datasets_scored"], row["coverage"]) == (40, pytest.approx(40 / 60))


def test_a_missing_table_is_told(tmp_path: Path) -> None:
    with pytest.raises(SourceMissingError, match="the published table is missing"):
        printed(tmp_path)


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("70.09,81.98", "170.09,81.98", ", line 2"),
        ("70.09,81.98", "high,81.98", ""),
        ("gpt-4o,", "gpt-4o-mini,", ""),
        ("rank,model", "rank,modell", ""),
    ],
    ids=["out of range", "not a number", "model twice", "column renamed"],
)
def test_a_broken_table_is_told(tmp_path: Path, old: str, new: str, line: str) -> None:
    file = tmp_path / TABLE.name
    text = TABLE.read_text(encoding="utf-8")
    assert text.count(old) == 1
    file.write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(SourceError, match="the published table cannot be used") as caught:
        printed(tmp_path)
    assert caught.value.where == f"{file}{line}"


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("total: overall", "total: sum", "the table has no column sum"),
        ("emotional: emotional", "emotional: {mean: [feeling]}", "the table has no column feeling"),
        ("sample: 300", "sample: many", "sample"),
        ("title: MoodBench", "title: [", "title"),
    ],
)
def test_a_broken_paper_is_told(tmp_path: Path, old: str, new: str, reason: str) -> None:
    file = tmp_path / "paper.yaml"
    text = (FOLDER / "moodbench.yaml").read_text(encoding="utf-8")
    assert text.count(old) == 1
    file.write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(SourceError, match="the file of a paper cannot be used") as caught:
        read_paper(file)
    assert caught.value.where == str(file)
    assert reason in str(caught.value.got)


def test_every_average_is_the_printed_one() -> None:
    # For example GPT-5: (73.75 + 22.79 + 43.22 + 20 x 4.42 + 20 x 4.67 + 86.77) / 6 = 408.33 / 6 = 68.055, printed 68.06.
    published = published_for("longemotion")
    totals = score_published(published, load_blueprint("longemotion")).join(published, on=["model", "setting"])
    apart = totals.select((pl.col("total") - pl.col("overall")).abs()).to_series()
    assert len(apart) == 18
    # 0.02 is allowed; nothing but the rounding of the printed averages is left.
    assert apart.max() == pytest.approx(0.005, abs=1e-6)
    assert totals.filter(model="GPT-5")["total"].item() == pytest.approx(68.055)


def test_numbers_are_on_the_scales_of_runs() -> None:
    row = published_for("longemotion").row(by_predicate=(pl.col("model") == "GPT-4o") & (pl.col("setting") == "coem"), named=True)
    # 20 x 4.53 and 20 x 3.81
    assert row == {
        "model": "GPT-4o",
        "setting": "coem",
        "overall": 64.12,
        "emotion_classification": 61.42,
        "emotion_detection": 25.0,
        "emotion_qa": 51.07,
        "emotion_summary": pytest.approx(90.6),
        "emotion_conversation": pytest.approx(76.2),
        "emotion_expression": 80.41,
    }


def test_models_are_ranked_within_their_setting() -> None:
    totals = score_published(published_for("longemotion"), load_blueprint("longemotion")).sort("setting", "rank")
    assert totals["rank"].to_list() == [*range(1, 9), *range(1, 6), *range(1, 6)]
    assert totals.filter(rank=1).select("model", "setting").rows() == [
        ("GPT-5", "base"),
        ("DeepSeek-V3", "coem"),
        ("DeepSeek-V3", "rag"),
    ]


ESC = read_table(ESC_EVAL, ESC_EVAL.models)
SEVEN = ESC_EVAL.models.abilities["english"].mean


def test_esc_evals_averages_are_means_of_seven_dimensions() -> None:
    # ChatGPT in Chinese: (74.54 + 68.98 + 69.14 + 70.06 + 72.38 + 32.79 + 42.75) / 7 = 430.64 / 7 = 61.52.
    mean = ESC.select("language", "model", "average", mean=pl.mean_horizontal(SEVEN))
    assert mean.filter(model="ChatGPT", language="zh")["mean"].item() == pytest.approx(430.64 / 7)
    # Largest deviation: ChatCounselor, in Chinese 64.7271, printed 64.72, and in English 65.2629, printed 65.27.
    assert (mean["mean"] - mean["average"]).abs().max() == pytest.approx(0.0071, abs=1e-4)


def test_averages_of_table_14_equal_table_3() -> None:
    fourteen, three = (pl.read_csv(FOLDER / f"esceval_table{number}.csv") for number in (14, 3))
    values = ["target", "spearman", "pearson", "kendall"]
    average = fourteen.filter(dimension="average").select(values)
    assert average.equals(three.filter(level="sample", metric="ESC-Eval").select(values))
    assert fourteen.height == 12


def test_a_benchmark_of_other_abilities_has_no_table() -> None:
    assert published_of(blueprint(ability("patience", task("d")))) is None
    own = blueprint(ability("emotion_qa", task("d")))
    published = published_of(own)
    assert published is not None
    # One ability is the total.
    assert score_published(published, own).filter(model="GPT-5")["total"].item() == 43.22
