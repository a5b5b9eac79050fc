"""Tables of papers in each form they come in."""

import re
from pathlib import Path

import polars as pl
import pytest

from schemas.table import Interval
from tasks.judging.rubrics import load_rubric
from tasks.scoring.blueprints import list_blueprints, load_blueprint
from tasks.scoring.published import FOLDER, TOTAL, as_table, paper_of, papers, published_of
from tests.tasks.reporting.example_run import published

MOODBENCH, LONGEMOTION, ESC_EVAL = papers()
SEVEN = ("fluency", "expression", "empathy", "information", "skillful", "humanoid", "overall")
SIX = ("coherence", "fluency", "theme", "completeness", "emotion", "humanoid")
WIDE = pl.DataFrame(
    [("one", "base", 50.0, 40.0, 60.0), ("two", "base", 80.0, 80.0, None), ("one", "rag", 55.0, 45.0, 65.0)],
    schema=["model", "setting", "overall", "summary", "detection"],
    orient="row",
)


def test_columns_per_ability_with_a_setting() -> None:
    table = as_table(WIDE)
    assert table.settings == ("base", "rag")
    assert table.scores("detection", "base") == [60.0]
    assert (table.scores(TOTAL, "base"), table.scores(TOTAL, "rag"), table.scores(TOTAL, "coem")) == ([50.0, 80.0], [55.0], [])
    assert table.range_of("summary", "base") == Interval(40.0, 80.0)
    assert table.range_of("summary", "coem") is None
    assert table.scores(TOTAL, "rag", ranked=True) == [55.0]


def test_columns_without_a_setting_are_of_base() -> None:
    table = as_table(published())
    assert table.settings == ("base",)
    assert (table.scores(TOTAL, "base"), table.scores(TOTAL, "base", ranked=True)) == ([70.0, 20.0, 10.0], [70.0, 20.0])


def test_a_table_by_language_has_no_total() -> None:
    blueprint = load_blueprint("esc-eval")
    table = as_table(published_of(blueprint))
    assert (table.settings, table.scores(TOTAL, "role_play")) == (("role_play",), [])
    scores = [table.scores(name, "role_play") for name in ("english", "chinese")]
    # SoulChat in English 367.76 / 7, EmoLLM in Chinese 501.86 / 7.
    assert (len(scores[0]), min(scores[0]), len(scores[1]), max(scores[1])) == pytest.approx((14, 367.76 / 7, 12, 501.86 / 7))
    assert paper_of(blueprint) is ESC_EVAL


def test_paper_of_a_benchmark_scores_its_abilities(tmp_path: Path) -> None:
    own = tmp_path / "own.yaml"
    own.write_text("extends: longemotion\nname: own\ntitle: Own weights\n", encoding="utf-8")
    found = {name: paper_of(load_blueprint(name)) for name in (*list_blueprints(), str(own))}
    assert found == {
        **dict.fromkeys(("attunebench", "attunebench-mini")),
        **dict.fromkeys(("ecdbench", "ecdbench-mini", "moodbench", "moodbench-code", "moodbench-mini"), MOODBENCH),
        **dict.fromkeys(("esc-eval", "esc-eval-mini"), ESC_EVAL),
        **dict.fromkeys(("longemotion", "longemotion-mini", "longemotion-released", str(own)), LONGEMOTION),
    }


@pytest.mark.parametrize("nothing", [None, pl.DataFrame(), published().clear()])
def test_no_table(nothing: pl.DataFrame | None) -> None:
    table = as_table(nothing)
    assert (table.settings, table.scores(TOTAL, "base")) == ((), [])


def longemotion(number: int) -> pl.DataFrame:
    return pl.read_csv(FOLDER / f"longemotion_table{number}.csv")


def test_longemotions_tables_agree_with_table_2() -> None:
    both = longemotion(3).join(longemotion(2), on=["method", "model"]).rows_by_key("method", named=True, unique=True)
    shown = ["EC", "ED", "QA", "ES", "MC4"]
    # The paper prints 4.51 for the summaries of RAG in Table 3, and 4.54 in Table 2.
    differ = {(name, column) for name, row in both.items() for column in shown if row[column] != row[f"{column}_right"]}
    assert (set(both), differ) == ({"RAG", "CoEM"}, {("RAG", "ES")})
    on = longemotion(4).filter("thinking").join(longemotion(2).filter(method="Base"), on="model")
    assert [row[0] == row[1] and row[2] == row[3] for row in on.select("ED", "ED_right", "EE", "EE_right").iter_rows()] == [
        True
    ] * 3
    # Sums 50.20 and 50.34 over 12; printed 4.18 and 4.20.
    assert longemotion(6).select(pl.mean("one_stage", "two_stage")).row(0) == pytest.approx((50.20 / 12, 50.34 / 12))


def test_rated_dimensions_are_those_of_table_6() -> None:
    ours = [dimension.name for stage in range(1, 5) for dimension in load_rubric(f"mc_stage{stage}").dimensions]
    assert [re.sub(r"[ -]", "_", title.lower()) for title in longemotion(6)["dimension"]] == ours


def test_averages_of_role_players_follow_but_two() -> None:
    table = pl.read_csv(FOLDER / "esceval_table1.csv").with_columns(mean=pl.mean_horizontal(SIX))
    wrong = table.filter((pl.col("mean") - pl.col("average")).abs() > 0.05 + 1e-9)
    # (9.5 + 8 + 9.4 + 8 + 6.1 + 5.5) / 6 = 46.5 / 6 and (9.1 + 5.9 + 8.9 + 8.5 + 6.1 + 8.1) / 6 = 46.6 / 6
    assert wrong.select("language", "prompt", "average").rows() == [("en", "zero-shot", 8.0), ("en", "CoT", 8.1)]
    assert [note.split("; ")[0] for note in wrong["note"]] == ["the six values average 7.75", "the six values average 7.77"]
    assert wrong["mean"].to_list() == pytest.approx([46.5 / 6, 46.6 / 6])
    assert table.height == 18


def test_averages_of_judges_follow_but_those_noted() -> None:
    table = pl.read_csv(FOLDER / "esceval_table4.csv")
    assert table.group_by("language", "judge").len()["len"].to_list() == [8] * 6
    assert table["dimension"].unique(maintain_order=True).to_list() == [*SEVEN, "average"]
    of_rows = table.filter(pl.col("dimension") != "average").group_by("language", "judge").agg(pl.mean("acc", "acc_soft"))
    both = table.filter(dimension="average").join(of_rows, on=["language", "judge"])
    off = {
        (row["language"], row["judge"], name): round(row[name] - row[f"{name}_right"], 2)
        for row in both.iter_rows(named=True)
        for name in ("acc", "acc_soft")
        if abs(row[name] - row[f"{name}_right"]) > 0.0051
    }
    # 79.59 - 497.95 / 7 = 8.45 and 76.56 - 506.04 / 7 = 4.27; the others are slips of a few hundredths.
    assert off == {
        ("zh", "InternLM2", "acc"): 0.15,
        ("zh", "InternLM2", "acc_soft"): 8.45,
        ("zh", "ESC-RANK", "acc"): -0.05,
        ("zh", "ESC-RANK", "acc_soft"): -0.01,
        ("en", "InternLM2", "acc_soft"): 4.27,
    }
    noted = both.drop_nulls("note").select("language", "judge", "note").rows()
    columns = [(key, part.rpartition("(")[2].rstrip(")").lower()) for *key, note in noted for part in note.split("; ")]
    assert {(*key, name) for key, name in columns} == set(off)
    # What the printed averages hide: GPT-4 is ahead of InternLM2.
    soft = {row["judge"]: row["acc_soft_right"] for row in both.filter(language="en").iter_rows(named=True)}
    assert soft["GPT-4"] > soft["InternLM2"]


def test_a_correlation_of_esc_eval_lacks_its_sign() -> None:
    table = pl.read_csv(FOLDER / "esceval_table3.csv")
    odd = table.filter((pl.col("kendall") * pl.col("pearson") < 0) & (pl.col("kendall").abs() > 1))
    assert odd.select("metric", "target", "spearman", "pearson", "kendall").rows() == [
        ("ROUGE-L", "average", -45.22, -45.59, 37.24)
    ]
    assert odd["note"].item().startswith("the sign of Kendall is lost")
    # Eight metrics and six targets; of the dataset level ESC-Eval and METEOR's average, one Kendall not readable.
    heights = [table.filter(level=level).height for level in ("sample", "dataset")]
    assert (heights, table["kendall"].null_count()) == ([48, 7], 1)
