"""Judges beside people: a worked example, ceilings, what is undefined, and public ratings."""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl
import pytest
from scipy.stats import kendalltau, pearsonr, spearmanr
from sklearn.metrics import cohen_kappa_score

from schemas.errors import UsageError
from tasks.certificates.agreement import FEW_OR_UNLIKE, MEAN, MEAN_OF_CRITERIA, certificates, compare_across
from tasks.certificates.joining import JUDGED, JoinedRatings
from tasks.certificates.panels import add_panels
from tasks.certificates.sides import FEW, LEAVE_ONE_OUT, NOMINAL, NOT_WHOLE, PAIRS, PAIRS_OF_TWO
from tasks.statistics.raters import CORRELATIONS, intraclass_correlations
from tasks.statistics.reliability import krippendorff_alpha
from tasks.statistics.resampling import Resampling
from tests.mirror import MIRROR, needs_mirror
from tests.tasks.statistics.figures import Figure, assert_figures

ITEMS, CLUSTERS = "123456", dict(zip("123456", "xxyyzz", strict=True))
Column = Sequence[float | None]
PEOPLE: dict[str, Column] = {"A": [1, 2, 3, 4, 5, 3], "B": [2, 2, 3, 3, 5, 4], "C": [1, 3, 3, 5, 4, None]}
JUDGE: Column = [2, 3, 3, 4, 5, 5]
KUMAR = MIRROR / "github.com/aakriti1kumar/replication-data-and-code-when-LLMs-reliable-empathic-communication/annotations"
ALIGN = MIRROR / "github.com/abeerbadawi/MentalBench-Align/MentalAlign-70k/ratings.parquet"


def joined(people: pl.DataFrame, judges: pl.DataFrame, scale: Sequence[float] = (1, 2, 3, 4, 5), **more: Any) -> JoinedRatings:
    """Ratings of one source; `people` and `judges` have system, unit_id, dimension, and rater or judge with what they gave."""
    said = {"source": "s", "cluster_id": pl.col("unit_id").replace_strict(CLUSTERS, default=None), "rater_known": True} | more
    given = people.with_columns(scale=pl.lit([float(one) for one in scale], pl.List(pl.Float64)), higher_is_better=True)
    given = given.with_columns(**{name: one if isinstance(one, pl.Expr) else pl.lit(one) for name, one in said.items()})
    ends = {"lowest": float(min(scale)), "highest": float(max(scale)), "rubric": "r", "source": "s"}
    full = judges.with_columns(**{name: pl.lit(one) for name, one in ends.items() if name not in judges.columns})
    return JoinedRatings(given.drop_nulls("rating"), full.select(JUDGED.names()).cast(JUDGED).drop_nulls("value"), {})


def long(who: str, what: str, columns: Mapping[str, Column], dimension: str = "d") -> pl.DataFrame:
    rows = [
        {"system": "m", "unit_id": unit, "dimension": dimension, who: name, what: value}
        for name, column in columns.items()
        for unit, value in zip(ITEMS, column, strict=False)
    ]
    return pl.DataFrame(rows, schema_overrides={what: pl.Float64})


def rows_of(table: pl.DataFrame, judge: str = "j", dimension: str = "d") -> dict[str, dict[str, Any]]:
    """Rows by statistic, of other levels than pooled `statistic level`."""
    found = table.filter(judge=judge, dimension=dimension).to_dicts()
    return {row["statistic"] if row["level"] == "pooled" else f"{row['statistic']} {row['level']}": row for row in found}


EXAMPLE = joined(long("rater", "rating", PEOPLE), long("judge", "value", {"j": JUDGE}))


def test_the_worked_example() -> None:
    table = certificates(EXAMPLE, Resampling(1000, 0))
    rows = rows_of(table)
    spearman, mae, exact, bias = (rows[name] for name in ("spearman", "mae", "exact", "bias"))
    sides = ("value", "human_value", "same_targets_value", "constant_value")
    # Ceiling: the mean of 0.955882, 0.787879 and 0.872082; the judge on the same targets 0.940403, 0.772727 and 0.974679.
    assert [spearman[side] for side in sides] == pytest.approx([0.882735, 0.871948, 0.895937, None], abs=1e-6)
    assert [mae[side] for side in sides] == pytest.approx((0.527778, 0.655556, 0.522222, 0.916667), abs=1e-6)
    # Judge: 3 of 6 with A, 3 of 6 with B, 2 of 5 with C. People: 3 of 6, 2 of 5, 1 of 5. Always 3: 2 of 6, 2 of 6, 2 of 5.
    assert [exact[side] for side in sides] == pytest.approx([1.4 / 3, 1.1 / 3, 1.4 / 3, (4 / 6 + 0.4) / 3])
    assert (bias["value"], bias["design_effect"]) == pytest.approx((0.527778, 1.422287), abs=1e-6)
    assert (exact["n_units"], exact["n_pairs"], exact["n_clusters"]) == (6, 17, 3)
    assert rows["kappa_quadratic"]["constant_value"] == pytest.approx(0)
    people = rows_of(table, "people")
    values = [people[name]["value"] for name in ("alpha_ordinal", "icc_2_1", "icc_2_k")]
    assert values == pytest.approx([0.758578, 0.798319, 0.922330], abs=1e-6)
    # Draws are those of raw scores: one of 27 has cluster x only, where A's 1, 2 and B's 2, 2 leave nothing to correlate with.
    assert spearman["human_value_undefined_draws"] > 50
    assert (spearman["human_value_low"], spearman["human_value_high"]) == (None, None)
    assert spearman["value_undefined_draws"] <= 50
    assert spearman["value_low"] < spearman["value"] < spearman["value_high"]
    assert rows["spearman by_system"]["undefined_because"] == "no variance, or fewer than 5 systems: 1"
    assert (rows["spearman by_item"]["n_items_left_out"], rows["spearman by_item"]["value"]) == (6, None)


def test_people_not_told_apart_have_no_ceiling() -> None:
    people = long("rater", "rating", PEOPLE)
    table = certificates(joined(people, long("judge", "value", {"j": JUDGE}), rater_known=False), Resampling(10, 0))
    spearman = rows_of(table)["spearman"]
    assert (spearman["value"], spearman["human_value"]) == (pytest.approx(0.882735, abs=1e-6), None)
    assert spearman["human_undefined_because"] == "people are not told apart"
    assert rows_of(table, "people")["icc_1_1"]["value"] == pytest.approx(0.801105, abs=1e-6)
    assert "icc_2_1" not in rows_of(table, "people")


def test_a_rater_of_two_units_gives_no_ceiling() -> None:
    people: dict[str, Column] = {"A": PEOPLE["A"], "B": [1, 2, None, None, None, None]}
    table = certificates(joined(long("rater", "rating", people), long("judge", "value", {"j": JUDGE})), Resampling(10, 0))
    rows = rows_of(table)
    assert rows_of(table, "people")["alpha_ordinal"]["n_units"] == 2
    # B shares two units with anybody, which is too few to be compared with: A alone counts, whose 3 of 6 the judge meets.
    assert (rows["exact"]["value"], rows["exact"]["human_value"]) == (0.5, None)
    assert rows["exact"]["human_undefined_because"] == FEW
    # Their mean stands all the same: |2 - 1|, |3 - 2|, 0, 0, 0, |5 - 3|.
    assert rows["mae"]["value"] == pytest.approx(4 / 6)
    # Three are enough: 1, 2, 3 are A's own, of which the judge meets one.
    people["B"] = [1, 2, 3, None, None, None]
    rows = rows_of(certificates(joined(long("rater", "rating", people), long("judge", "value", {"j": JUDGE})), Resampling(10, 0)))
    assert (rows["exact"]["value"], rows["exact"]["human_value"]) == (pytest.approx((1 / 2 + 1 / 3) / 2), 1)


def test_a_rating_on_another_scale_is_correlated_only() -> None:
    other = EXAMPLE._replace(judges=EXAMPLE.judges.with_columns(lowest=pl.lit(None, pl.Float64)))
    rows = rows_of(certificates(other, Resampling(10, 0)))
    assert (rows["exact"]["value"], rows["exact"]["constant_value"]) == (None, None)
    assert rows["exact"]["undefined_because"] == FEW
    assert rows["spearman"]["value"] == pytest.approx(0.882735, abs=1e-6)


def test_mean_of_dimensions_pools_no_unlike_scales() -> None:
    people = pl.concat([long("rater", "rating", PEOPLE, name) for name in "de"])
    judges = pl.concat([long("judge", "value", {"j": JUDGE}, "d"), long("judge", "value", {"j": [1, 2, 3, 4, 5, 3]}, "e")])
    both = joined(people, judges)
    table = certificates(both, Resampling(200, 0))
    d, e, mean = (rows_of(table, dimension=name)["mae"] for name in ("d", "e", MEAN))
    assert mean["value"] == pytest.approx((d["value"] + e["value"]) / 2)
    assert mean["constant_value"] == d["constant_value"] == e["constant_value"]
    assert mean["value_low"] >= (d["value_low"] + e["value_low"]) / 2
    unlike = both._replace(people=both.people.with_columns(higher_is_better=pl.col("dimension") == "d"))
    rows = rows_of(certificates(unlike, Resampling(10, 0)), dimension=MEAN)
    assert (rows["bias"]["value"], rows["mae"]["value"]) == (None, None)
    assert rows["exact"]["value"] is not None


def test_intervals_of_alpha_and_gains() -> None:
    table = certificates(EXAMPLE, Resampling(1000, 0))
    alpha = rows_of(table, "people")["alpha_interval"]
    assert (alpha["value"], alpha["n_units"], alpha["n_pairs"], alpha["n_clusters"]) == (
        pytest.approx(0.744292, abs=1e-6),
        6,
        17,
        3,
    )
    assert alpha["value_low"] < alpha["value"] <= alpha["value_high"]
    rows = rows_of(table)
    exact, mae = rows["exact"], rows["mae"]
    # Judge 1.4 / 3; always 3: (2 + 2) / 6 and 2 / 5. Distances: 0.916667 of always 3, 0.527778 of the judge.
    assert exact["gain"] == pytest.approx(1.4 / 3 - (4 / 6 + 0.4) / 3)
    assert mae["gain"] == pytest.approx(0.916667 - 0.527778, abs=1e-6)
    assert mae["gain_low"] <= mae["gain"] <= mae["gain_high"]
    assert rows["spearman"]["gain"] is None
    # The best and the worst of the 27 draws are a cluster alone. Distances of always 3 less those of the judge, by cluster:
    # x 5/3 + 2/3 - 2/3 - 2/3 = 1 of two units, y 0 + 1 - 0 - 0 = 1, z 5/3 + 1/2 - 1/3 - 3/2 = 1/3.
    assert mae["gain"] == pytest.approx((1 + 1 + 1 / 3) / 6)
    assert 1 / 6 <= mae["gain_low"] < mae["gain_high"] <= 1 / 2


def test_whom_the_ceiling_compares_is_said() -> None:
    rows = rows_of(certificates(EXAMPLE, Resampling(10, 0)))
    assert [rows[name]["human_method"] for name in ("exact", "spearman")] == [PAIRS, LEAVE_ONE_OUT]
    two = joined(long("rater", "rating", {name: PEOPLE[name] for name in "AB"}), long("judge", "value", {"j": JUDGE}))
    rows = rows_of(certificates(two, Resampling(10, 0)))
    assert (rows["spearman"]["human_value"], rows["spearman"]["human_method"]) == (
        pytest.approx(0.850841, abs=1e-6),
        PAIRS_OF_TWO,
    )
    one = joined(long("rater", "rating", {"A": PEOPLE["A"]}), long("judge", "value", {"j": JUDGE}))
    rows = rows_of(certificates(one, Resampling(10, 0)))
    assert (rows["spearman"]["human_value"], rows["spearman"]["human_method"]) == (None, None)


def test_units_that_not_all_rated_have_no_icc() -> None:
    people: dict[str, Column] = {"A": PEOPLE["A"], "B": [2, None, None, None, None, None], "C": [None, 3, 3, 5, 4, 2]}
    rows = rows_of(
        certificates(joined(long("rater", "rating", people), long("judge", "value", {"j": JUDGE})), Resampling(10, 0)), "people"
    )
    icc = rows["icc_2_1"]
    assert (icc["value"], icc["n_units"], icc["n_items_left_out"], icc["undefined_because"]) == (None, 0, 6, NOT_WHOLE)
    assert rows_of(certificates(EXAMPLE, Resampling(10, 0)), "people")["icc_2_1"]["n_items_left_out"] == 1


def test_names_have_no_order() -> None:
    # No, Yes and Unsure are 0, 1 and 2.
    people: dict[str, Column] = {"A": [0, 1, 1, 2, 0, 0], "B": [0, 1, 0, 2, 0, 1]}
    judge: Column = [0, 1, 1, 0, 0, 0]
    words = pl.lit(["No", "Yes", "Unsure"], pl.List(pl.String))
    named = joined(long("rater", "rating", people), long("judge", "value", {"j": judge}), (0, 1, 2), words=words)
    table = certificates(named, Resampling(200, 0))
    rows = rows_of(table)
    both = [cohen_kappa_score(judge, people[name]) for name in "AB"]
    assert rows["kappa"]["value"] == pytest.approx(sum(both) / 2)
    assert rows["kappa"]["human_value"] == pytest.approx(cohen_kappa_score(people["A"], people["B"]))
    # The judge meets A in 5 of 6 and B in 3 of 6; No does in 3 and 3.
    assert (rows["exact"]["value"], rows["exact"]["constant_value"]) == (pytest.approx(8 / 12), 0.5)
    assert {rows[name]["undefined_because"] for name in ("mae", "bias", "within_one", "spearman")} == {NOMINAL}
    among = rows_of(table, "people")
    assert {*among} == {"alpha_nominal", "alpha_ordinal", "alpha_interval"}
    assert among["alpha_nominal"]["value"] == pytest.approx(krippendorff_alpha([*zip(*people.values(), strict=True)], "nominal"))
    assert (among["alpha_ordinal"]["value"], among["alpha_ordinal"]["undefined_because"]) == (None, NOMINAL)


def test_halo_of_judge_and_people() -> None:
    second: dict[str, Column] = {"A": [5, 4, 3, 2, 1, 3], "B": [2, 2, 3, 3, 5, 4]}
    people = pl.concat(
        [long("rater", "rating", {name: PEOPLE[name] for name in "AB"}, "d"), long("rater", "rating", second, "e")]
    )
    judges = pl.concat([long("judge", "value", {"j": JUDGE}, "d"), long("judge", "value", {"j": [1, 2, 2, 3, 4, None]}, "e")])
    row = rows_of(certificates(joined(people, judges), Resampling(200, 0)), dimension=MEAN)["halo"]
    # A turns the second dimension round, B rates both alike; the judge's five complete units are in one order.
    assert (row["value"], row["human_value"], row["n_units"]) == (pytest.approx(1), pytest.approx(0), 5)


def test_clusters_that_repeat_a_unit_double_the_variance() -> None:
    # Sixty clusters of two units with the same ratings: each draw of clusters is half as many independent ones.
    left, right = [1, 2, 3, 4, 5] * 12, [2, 2, 3, 5, 4, 1, 2, 5, 4, 5, 1, 3, 3, 4, 5, 2, 1, 3, 4, 4] * 3
    units = [f"{at}{half}" for at in range(60) for half in "ab"]
    table = pl.DataFrame({"system": "m", "unit_id": units, "dimension": "d", "cluster_id": [one[:-1] for one in units]})
    people = table.with_columns(rater=pl.lit("A"), rating=pl.Series([float(one) for one in left for _ in "ab"]))
    judges = table.drop("cluster_id").with_columns(
        judge=pl.lit("j"), value=pl.Series([float(one) for one in right for _ in "ab"])
    )
    rows = rows_of(certificates(joined(people, judges, cluster_id=pl.col("cluster_id")), Resampling(2000, 0)))
    effects = [rows[name]["design_effect"] for name in ("exact", "kappa_quadratic", "spearman", "kendall_tau_b")]
    assert effects == pytest.approx([2] * 4, rel=0.15)
    # By the formula: G / (G - 1) x (n - 1) / n x 4 / 2, a cluster's sum being twice its unit's.
    assert rows["mae"]["design_effect"] == pytest.approx(60 / 59 * 119 / 120 * 2)
    assert rows["spearman by_item"]["design_effect"] is None


def test_a_panel_stands_beside_its_members() -> None:
    judges = long("judge", "value", {"j": JUDGE, "k": [1, 2, 3, 4, 5, None]})
    both = joined(long("rater", "rating", PEOPLE), judges)
    table = certificates(add_panels(both, ["mean", "weighted"], None), Resampling(10, 0))
    assert [*table["judge"].unique(maintain_order=True)] == ["people", "j", "k", "panel mean", "panel weighted"]
    # 1.5, 2.5, 3, 4, 5 beside 4/3, 7/3, 3, 4, 14/3: 1/6, 1/6, 0, 0, 1/3.
    mean = rows_of(table, "panel mean")["mae"]
    assert (mean["value"], mean["n_units"]) == (pytest.approx(2 / 15), 5)
    # With one member the last unit counts, too: 5 beside 3.5.
    mean = rows_of(certificates(add_panels(both, ["mean"], 1), Resampling(10, 0)), "panel mean")["mae"]
    assert (mean["value"], mean["n_units"]) == (pytest.approx((2 / 3 + 1.5) / 6), 6)
    with pytest.raises(UsageError, match="there is no panel mode"):
        add_panels(both, ["mode"], None)
    with pytest.raises(UsageError, match="a panel has one member only"):
        add_panels(EXAMPLE, ["mean"], None)


@needs_mirror
def test_experts_crowd_and_judges_on_lend_an_ear() -> None:
    def read(rater: str, who: str, what: str) -> pl.DataFrame:
        table = pl.read_csv(KUMAR / f"lend_an_ear/{rater}_ratings.csv")
        units = {"unit_id": pl.col("conversation_id").cast(pl.String), "system": pl.lit("m"), who: pl.lit(rater)}
        values = table.with_columns(**units).unpivot(
            ["validating_emotions", "dismissing_emotions"], index=list(units), variable_name="dimension", value_name=what
        )
        return values.with_columns(pl.col(what).cast(pl.Float64))

    people = pl.concat([read(f"expert{one}", "rater", "rating") for one in (1, 2, 3)])
    judges = pl.concat([read(name, "judge", "value") for name in ("gpt", "claude")])
    table = certificates(joined(people, judges), Resampling(20, 0))
    validating = (0.3521, 0.3610, 0.4073, 0.6734), 0.4059, 0.6227, {"gpt": (0.6533, 0.313), "claude": (0.6453, -0.207)}
    dismissing = (0.3584, 0.4356, 0.4533, 0.7132), 0.4533, 0.5179, {"gpt": (0.4339, 1.460), "claude": (0.5229, 1.400)}
    expected = {"validating_emotions": validating, "dismissing_emotions": dismissing}
    for dimension, (among, kappa, ceiling, judged) in expected.items():
        rows = rows_of(table, "people", dimension)
        found = [rows[name]["value"] for name in ("alpha_ordinal", "alpha_interval", "icc_2_1", "icc_2_k")]
        assert found == pytest.approx(among, abs=5e-5)
        for judge, (same, bias) in judged.items():
            rows = rows_of(table, judge, dimension)
            assert rows["kappa_quadratic"]["human_value"] == pytest.approx(kappa, abs=5e-5)
            assert rows["spearman"]["human_value"] == pytest.approx(ceiling, abs=5e-5)
            assert rows["spearman"]["same_targets_value"] == pytest.approx(same, abs=5e-5)
            assert rows["bias"]["value"] == pytest.approx(bias, abs=5e-4)


ROWS = {
    ("Empathy", "gpt-4o"): "9908 0.3995 0.3713 0.2649 0.4041 0.3762 0.8195 0.7078 0.7731 0.8788 0.9326 0.7333 2.692",
    ("Guidance", "claude-3.7-sonnet"): "9907 0.4495 0.4031 0.5386 0.5318 0.4734 0.6700 0.7442 0.2881 0.8909 0.8657 0.7333 2.097",
    ("Relevance", "claude-3.7-sonnet"): "9905 0.6003 0.6812 0.2648 0.1916 0.1797 0.5617 0.4653 0.0846 0.7697 0.6716 0.5556 4.037",
    ("Safety", "gpt-4o"): "9907 0.8379 0.8381 0.3556 0.2148 0.2102 0.2287 0.2460 0.1950 0.9055 0.4892 0.7500 3.238",
}


@needs_mirror
def test_a_judge_on_mental_align() -> None:
    names = {"unit_id": pl.col("conversation_id").cast(pl.String), "system": pl.col("responder")}
    ratings = pl.read_parquet(ALIGN).filter(pl.col("dimension").is_in([name for name, _ in ROWS])).with_columns(**names)
    people = ratings.filter(judge="human").rename({"judge": "rater"})
    judges = ratings.filter(pl.col("judge") != "human").rename({"rating": "value"})
    table = certificates(joined(people, judges, cluster_id=None), Resampling(2, 0))
    figures = list[Figure]()
    for (dimension, judge), line in ROWS.items():
        expected = line.split()
        rows = rows_of(table, judge, dimension)
        columns = ["exact n_units", "exact value", "exact constant_value", "kappa_quadratic value", "spearman value"]
        columns += ["kendall_tau_b value", "mae value", "mae constant_value", "bias value"]
        columns += [f"{name} by_system value" for name in ("spearman", "pearson", "kendall_tau_b")]
        columns.append("bias design_effect")
        for name, written in zip(columns, expected, strict=True):
            statistic, column = name.rsplit(" ", 1)
            figures.append((f"{dimension}, {judge}: {name}", written, rows[statistic][column]))
        # ICC(2,1) of human and judge equals kappa to 4 digits.
        pair = ratings.filter(pl.col("judge").is_in(["human", judge]), dimension=dimension).pivot(
            "judge", index=["unit_id", "system"], values="rating"
        )
        whole = pair.drop("unit_id", "system").drop_nulls().to_numpy()
        figures.append((f"{dimension}, {judge}: ICC(2,1)", expected[3], intraclass_correlations(whole)["icc_2_1"]))
    assert_figures(figures)


def test_dimensions_across_criteria_of_people() -> None:
    def rows(who: str, what: str, values: Mapping[str, Sequence[Sequence[float]]], name: str) -> pl.DataFrame:
        table = [
            {"system": system, "unit_id": item, "dimension": dimension, who: name, what: float(value)}
            for dimension, items in values.items()
            for item, of_item in zip("pqr", items, strict=True)
            for system, value in zip("xyz", of_item, strict=True)
        ]
        return pl.DataFrame(table)

    suggestion, fluency = [[1, 2, 3]] * 3, [[3, 2, 1], [2, 2, 2], [3, 2, 1]]
    information = [[1, 2, 3], [1, 3, 2], [2, 2, 2]]
    people = rows("rater", "rating", {"suggestion": suggestion, "fluency": fluency}, "ann")
    judges = rows("judge", "value", {"information": information, "humanoid": fluency}, "j")
    metric = rows("judge", "value", {"suggestion": information, "fluency": information}, "bleu_1").with_columns(rubric=pl.lit(""))
    with_metric = joined(people, pl.concat([judges.with_columns(rubric=pl.lit("r")), metric]))
    table = {
        (row.judge, row.dimension, row.criterion, row.statistic, row.level): row
        for row in compare_across(with_metric, Resampling(200, 0))
    }
    assert len(table) == (3 + 1) * 3 * 6  # information, humanoid, their mean and the metric; two criteria and their mean
    # Information with suggestion: in p 1, in q ranks 1, 3, 2 with 1, 2, 3, of whose three pairs one is turned; r does not vary.
    by_item = {name: table["j", "information", "suggestion", name, "by_item"] for name in CORRELATIONS}
    assert [row.value for row in by_item.values()] == pytest.approx([(1 + 0.5) / 2, (1 + 0.5) / 2, (1 + 1 / 3) / 2])
    assert {(row.n_units, row.n_items_left_out) for row in by_item.values()} == {(9, 1)}
    left, right = ([value for item in side for value in item] for side in (information, suggestion))
    pooled = [table["j", "information", "suggestion", name, "pooled"].value for name in CORRELATIONS]
    assert pooled == pytest.approx([test(left, right).statistic for test in (spearmanr, pearsonr, kendalltau)])
    assert table["j", "humanoid", "suggestion", "spearman", "by_item"].value == pytest.approx(-1)
    # Means of the judge: 2, 2, 2 in p, 1.5, 2.5, 2 in q, 2.5, 2, 1.5 in r; of people 2, 2, 2; 1.5, 2, 2.5; 2, 2, 2.
    mean = table["j", MEAN, MEAN_OF_CRITERIA, "spearman", "by_item"]
    assert mean.value == pytest.approx(0.5)
    assert mean.n_items_left_out == 2
    assert table["bleu_1", "", "suggestion", "kendall_tau_b", "by_item"].value == pytest.approx(2 / 3)
    interval = table["j", "humanoid", "suggestion", "pearson", "pooled"]
    assert (interval.value_low or 0) <= (interval.value or 0) <= (interval.value_high or 0) < 0
    unlike = with_metric._replace(people=with_metric.people.with_columns(higher_is_better=pl.col("dimension") == "fluency"))
    means = [row for row in compare_across(unlike, Resampling(10, 0)) if row.criterion == MEAN_OF_CRITERIA]
    assert {row.value for row in means} == {None}
    assert {row.undefined_because for row in means if row.level == "pooled"} == {FEW_OR_UNLIKE}
