"""Reference figures on MentalAlign-70k: judges with people, panels, halo, equivalence and rank ranges."""

from functools import cache
from itertools import combinations

import krippendorff
import numpy as np
import polars as pl
import pytest
from scipy.stats import spearmanr, ttest_1samp, ttest_rel

from tasks.certificates.panels import How, panel
from tasks.statistics.paired import compare_pairs
from tasks.statistics.ranks import rank_ranges, tied_sets
from tasks.statistics.raters import compare_values, correlate_pooled, halo
from tasks.statistics.reliability import Units, alphas
from tasks.statistics.resampling import Floats
from tests.mirror import MIRROR, needs_mirror
from tests.tasks.statistics.figures import Figure, assert_figures

pytestmark = needs_mirror
FILE = MIRROR / "github.com/abeerbadawi/MentalBench-Align/MentalAlign-70k/ratings.parquet"
JUDGES = ("claude-3.7-sonnet", "gemini-2.5-flash", "gpt-4o", "o4-mini")
SCALE = np.arange(1.0, 6)


@cache
def wide() -> pl.DataFrame:
    """A row per reply and dimension; a column per rater."""
    key = ["conversation_id", "responder", "dimension"]
    return pl.read_parquet(FILE).pivot("judge", index=key, values="rating").sort(key)


def drawn_once(table: pl.DataFrame) -> Units:
    places = table["conversation_id"].rank("dense").cast(pl.Int64).to_numpy() - 1
    return Units(np.arange(len(table)), np.zeros(len(table), dtype=int), places, np.ones((places.max() + 1, 1)))


def test_panels_keep_a_bias_that_all_share() -> None:
    table = wide().filter(dimension="Empathy").drop_nulls()
    units, human, members = drawn_once(table), table["human"].to_numpy(), table.select(JUDGES).to_numpy()
    panels: dict[How, tuple[str, str]] = {"mean": ("0.4035", "0.7836"), "median": ("0.4171", "0.7890")}
    figures: list[Figure] = [("complete replies", "9894", len(table))]
    for how, written in panels.items():
        rated = panel(members, how)
        found = correlate_pooled(rated, human, units)[0, 0], compare_values(rated, human, units, SCALE)[3, 0]
        figures += [(f"{how} of four: {name}", *row) for name, *row in zip(("Spearman", "MAE"), written, found, strict=True)]
    of_each = [compare_values(one, human, units, SCALE)[3, 0] for one in members.T]
    # By the definition: the weights of a fold are learned on the others, whole conversations at a time.
    folds, weighted = units.clusters % 5, np.zeros(len(table))
    for fold in range(5):
        weights = 1 / np.abs(members - human[:, None])[folds != fold].mean(axis=0)
        weighted[folds == fold] = members[folds == fold] @ weights / weights.sum()
    by_panel = panel(members, "weighted", clusters=units.clusters, target=human)
    figures += [
        ("MAE of the best member", "0.7399", min(of_each)),
        ("MAE of the weighted", f"{np.abs(weighted - human).mean():.9f}", np.abs(by_panel - human).mean()),
    ]
    assert_figures(figures)


def test_judges_agree_with_each_other() -> None:
    members = wide().filter(dimension="Empathy").select(JUDGES).to_numpy()
    theirs = krippendorff.alpha(reliability_data=members.T, level_of_measurement="interval")
    units = drawn_once(wide().filter(dimension="Empathy"))
    assert_figures(
        [
            ("Empathy, four judges: alpha ordinal", "0.6246", alphas(members, units)["ordinal"][0]),
            ("Empathy, four judges: alpha interval, by krippendorff", f"{theirs:.9f}", alphas(members, units)["interval"][0]),
        ]
    )


def test_halo_of_each_rater() -> None:
    expected = {"human": "0.4176", "claude-3.7-sonnet": "0.5905", "gpt-4o": "0.5449", "gemini-2.5-flash": "0.4317"}
    figures = list[Figure]()
    for rater, written in expected.items():
        table = wide().pivot("dimension", index=["conversation_id", "responder"], values=rater)
        own = table.drop("conversation_id", "responder").to_numpy().T
        figures.append((f"halo of {rater}", written, halo(own, drawn_once(table))[0]))
    whole = own[:, np.isfinite(own).all(axis=0)]
    theirs = np.mean([spearmanr(left, right).statistic for left, right in combinations(whole, 2)])
    figures.append(("halo of the last, by scipy", f"{theirs:.9f}", figures[-1][2]))
    assert_figures(figures)


@cache
def by_people() -> pl.DataFrame:
    """The mean of the human's seven ratings where complete: a row per conversation, a column per system."""
    means = (
        wide()
        .group_by("conversation_id", "responder")
        .agg(mean=pl.when(pl.col("human").count() == 7).then(pl.col("human").mean()))
    )
    return means.pivot("responder", index="conversation_id", values="mean").sort("conversation_id").drop("conversation_id")


def off(one: str, other: str) -> Floats:
    differences: Floats = (by_people()[one] - by_people()[other]).cast(pl.Float64).fill_null(float("nan")).to_numpy()
    return differences


def test_equivalence_of_systems() -> None:
    first, second, third = (
        compare_pairs(off(*pair), 0.10, 4.0) for pair in (("gpt4o", "gemini"), ("gemini", "gpt4omini"), ("gpt4omini", "llama_3"))
    )
    near = compare_pairs(off("gemini", "gpt4omini"), 0.05, 4.0)
    given = off("gemini", "gpt4omini")
    given = given[np.isfinite(given)]
    theirs = max(ttest_1samp(given, -0.05, alternative="greater").pvalue, ttest_1samp(given, 0.05, alternative="less").pvalue)
    assert_figures(
        [
            ("gpt4o - gemini: n", "998", first.n),
            ("gpt4o - gemini: mean", "0.10779", first.mean or 0),
            ("gpt4o - gemini: SE", "0.01093", first.standard_error or 0),
            ("gpt4o - gemini: TOST p, margin 0.10", "0.762", first.p_equivalent or 0),
            ("gemini - gpt4omini: n", "1000", second.n),
            ("gemini - gpt4omini: mean", "0.02157", second.mean or 0),
            ("gemini - gpt4omini: SE", "0.01204", second.standard_error or 0),
            ("gemini - gpt4omini: p", "0.0736", second.p_value or 0),
            ("gemini - gpt4omini: TOST p, margin 0.05", "0.00922", near.p_equivalent or 0),
            ("gemini - gpt4omini: TOST p, by scipy", f"{theirs:.9f}", near.p_equivalent or 0),
            ("gemini - gpt4omini: 90 % from", "0.0017", near.low_90 or 0),
            ("gemini - gpt4omini: 90 % to", "0.0414", near.high_90 or 0),
            ("gpt4omini - llama_3: n", "998", third.n),
            ("gpt4omini - llama_3: mean", "0.08975", third.mean or 0),
            ("gpt4omini - llama_3: SE", "0.01137", third.standard_error or 0),
            ("gpt4omini - llama_3: TOST p, margin 0.10", "0.184", third.p_equivalent or 0),
        ]
    )
    assert [test.answer for test in (first, near, third)] == ["different", "equivalent", "different"]


def test_rank_ranges_of_systems() -> None:
    systems = by_people().columns
    p_values = np.full((10, 10), np.nan)
    for one, other in combinations(range(10), 2):
        difference = off(systems[one], systems[other])
        p_values[one, other] = ttest_rel(difference[np.isfinite(difference)], np.zeros(np.isfinite(difference).sum())).pvalue
        assert compare_pairs(difference, 0.1, 4.0).p_value == pytest.approx(p_values[one, other])
    means = [float(mean) for mean in by_people().mean().row(0)]
    ranges = dict(zip(systems, rank_ranges(np.array(means) - np.array(means)[:, None], p_values), strict=True))
    assert ranges == {
        "gpt4o": (1, 1),
        **dict.fromkeys(("gemini", "gpt4omini"), (2, 3)),
        "llama_3": (4, 4),
        "qwen_2": (5, 5),
        **dict.fromkeys(("ds_llama", "claude", "ds_qwen"), (6, 8)),
        "qwen_3": (9, 9),
        "original": (10, 10),
    }
    tied = [{systems[at] for at in found} for found in tied_sets(means, p_values)]
    assert tied == [{"gemini", "gpt4omini"}, {"ds_llama", "claude", "ds_qwen"}]
