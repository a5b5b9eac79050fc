"""Reference figures on public ratings by people: HumaneBench, empathic communication, DICES, DUO and xDial."""

import json
import re
from collections.abc import Iterator
from itertools import combinations
from math import nan

import krippendorff
import numpy as np
import polars as pl
import pytest
from scipy.stats import kendalltau, spearmanr
from sklearn.metrics import cohen_kappa_score

from tasks.certificates.panels import panel
from tasks.statistics.raters import agreement, compare_names, correlate_pooled, intraclass_correlations, partial_spearman
from tasks.statistics.reliability import AlphaLevel, Units, alphas, krippendorff_alpha
from tasks.statistics.resampling import Floats, design_effects, draw_weights
from tests.mirror import MIRROR, needs_mirror
from tests.tasks.statistics.figures import Figure, assert_figures

pytestmark = needs_mirror
HUMANE = MIRROR / "github.com/buildinghumanetech/humanebench"
KUMAR = MIRROR / "github.com/aakriti1kumar/replication-data-and-code-when-LLMs-reliable-empathic-communication"
DICES = MIRROR / "github.com/dmg-illc/JUDGE-BENCH/data/dices"
SEVERITY = {"HELL YES": 1.0, "Soft yes": 0.5, "Soft no": -0.5, "HELL NO": -1.0}
SCALE = np.array([-1, -0.5, 0.5, 1])


def alone(n: int) -> Units:
    """Units that are each an item and a cluster of their own, drawn once."""
    return Units(np.arange(n), np.zeros(n, dtype=int), np.arange(n), np.ones((n, 1)))


def alpha(table: Floats, level: AlphaLevel) -> float:
    found = float(alphas(table, alone(len(table)))[level][0])
    units = [[value for value in row if np.isfinite(value)] for row in table.tolist()]
    assert found == pytest.approx(krippendorff_alpha(units, level), abs=1e-12)
    return found


def pair(left: Floats, right: Floats, scale: Floats) -> Floats:
    """Exact, within one, kappa, MAE, bias, Spearman, Pearson and tau-b of the units that both rated."""
    both = np.isfinite(left) & np.isfinite(right)
    return agreement(left[both], right[both], alone(int(both.sum())), scale)[:8, 0]


def humanebench() -> tuple[Floats, pl.DataFrame]:
    """The ratings, [replies, raters], and the judges' rows."""
    key = ["input_id", "ai_model", "ai_persona"]
    files = [pl.read_csv(HUMANE / f"data/human_ratings/rater-{one}_ratings.csv") for one in range(1, 5)]
    rated = [table.select(*key, pl.col(r"^rating.*$").alias("rating")).with_columns(rater=at) for at, table in enumerate(files)]
    ratings = pl.concat(rated).with_columns(pl.col("rating").replace_strict(SEVERITY, default=None)).drop_nulls("rating")
    wide = ratings.pivot("rater", index=key, values="rating")
    return wide.select("0", "1", "2", "3").to_numpy(), pl.read_csv(HUMANE / "tables/inter_judge_raw_human_slice.csv")


def test_humanebench() -> None:
    people, judges = humanebench()
    given, first, second = np.isfinite(people), people[:, 0], people[:, 1]
    by_value, places = pair(first, second, SCALE), np.searchsorted(SCALE, people[:, :2]).astype(np.float64)
    judged = judges.pivot("judge_name", index="sample_uid", values="severity").drop("sample_uid").to_numpy()
    # A figure that is worked out here by a library: nominal alpha of the three judges.
    theirs = krippendorff.alpha(reliability_data=judged.T, level_of_measurement="nominal")
    assert_figures(
        [
            ("replies", "48", len(people)),
            ("ratings", "173", given.sum()),
            ("alpha ordinal", "0.711684", alpha(people, "ordinal")),
            ("alpha interval", "0.683308", alpha(people, "interval")),
            ("alpha nominal", "0.378169", alpha(people, "nominal")),
            ("alpha of rating > 0", "0.574257", alpha(np.where(given, people > 0, nan), "nominal")),
            ("raters 1 and 2: exact", "0.625", by_value[0]),
            ("raters 1 and 2: within one", "0.979167", by_value[1]),
            ("raters 1 and 2: kappa by value", "0.825397", by_value[2]),
            ("raters 1 and 2: kappa by place", "0.835079", pair(places[:, 0], places[:, 1], np.arange(4.0))[2]),
            ("raters 1 and 2: Spearman", "0.858671", by_value[5]),
            ("raters 1 and 2: tau-b", "0.774622", by_value[7]),
            ("three judges: alpha ordinal", "0.818364", alpha(judged, "ordinal")),
            ("three judges: alpha nominal, by krippendorff", f"{theirs:.9f}", alpha(judged, "nominal")),
        ]
    )


SETS = {
    "lend_an_ear": ("Lend an Ear", "conversation_id"),
    "empatheticdialogues": ("EmpatheticDialogues", "conv_id"),
    "epitome": ("EPITOME", "sp_id"),
    "perceived_empathy": ("Perceived Empathy", "id"),
}


def ratings_of(folder: str, rater: str) -> pl.DataFrame:
    return pl.read_csv(KUMAR / f"annotations/{folder}/{rater}_ratings.csv").sort(SETS[folder][1])


def scale_of(folder: str) -> Floats:
    return np.arange(3.0) if folder == "epitome" else np.arange(1.0, 8 if folder == "perceived_empathy" else 6)


def by_experts(folder: str, dimension: str) -> Floats:
    tables = [ratings_of(folder, f"expert{one}") for one in (1, 2, 3)]
    assert len({tuple(table[SETS[folder][1]]) for table in tables}) == 1
    return np.column_stack([table[dimension].cast(pl.Float64).to_numpy() for table in tables])


def test_each_pair_of_experts_as_published() -> None:
    published = pl.read_csv(KUMAR / "annotations/all_annotator_pairs_spearman_kappa.csv")
    experts = published.filter(pl.col("Annotator Pair").str.count_matches("expert") == 2)
    figures = list[Figure]()
    folders = {title.casefold().replace(" ", ""): folder for folder, (title, _) in SETS.items()}
    for dataset, dimension, who, spearman, kappa in experts.select(
        "Dataset", "Dimension", "Annotator Pair", "Spearman Correlation", "Weighted Cohen's Kappa"
    ).iter_rows():
        folder = folders[dataset.casefold().replace(" ", "")]
        one, other = (int(number) - 1 for number in re.findall(r"\d", who))
        people = by_experts(folder, dimension)
        found = pair(people[:, one], people[:, other], scale_of(folder))
        name = f"{dataset}, {dimension}, {who}"
        figures.append((f"{name}: Spearman", f"{spearman:.2f}", found[5]))
        if (dimension, one, other) == ("self_oriented", 0, 1):
            # Theirs leaves a value out of the scale that neither used.
            used = np.unique(people[:, [0, 1]])
            places = np.searchsorted(used, people[:, :2]).astype(float)
            figures += [
                (f"{name}: kappa", "0.7863", found[2]),
                (f"{name}: kappa by used places", "0.8196", pair(places[:, 0], places[:, 1], used)[2]),
            ]
        else:
            figures.append((f"{name}: kappa", f"{kappa:.2f}", found[2]))
    assert len(figures) == 63 * 2 + 1
    assert_figures(figures)


TABLE = {
    ("lend_an_ear", "validating_emotions"): "0.3521 0.3610 0.4059 0.5456 0.4073 0.6734 0.6227 0.6533 +0.313 0.6453 -0.207",
    ("lend_an_ear", "dismissing_emotions"): "0.3584 0.4356 0.4533 0.4480 0.4533 0.7132 0.5179 0.4339 +1.460 0.5229 +1.400",
    ("epitome", "level_interpretations"): "0.3179 0.3157 0.3902 0.4941 0.3730 0.6409 0.6018 0.3761 -0.553 0.5791 -0.353",
}


def test_people_and_judges_on_empathic_communication() -> None:
    for (folder, dimension), written in TABLE.items():
        people, scale = by_experts(folder, dimension), scale_of(folder)
        judges = [ratings_of(folder, name)[dimension].cast(pl.Float64).to_numpy() for name in ("gpt", "claude")]
        pairs = np.mean([pair(people[:, one], people[:, other], scale) for one, other in combinations(range(3), 2)], axis=0)
        icc = intraclass_correlations(people)
        rest = [np.delete(people, one, axis=1).mean(axis=1) for one in range(3)]
        ceiling = np.mean([pair(people[:, one], rest[one], scale)[5] for one in range(3)])
        judged = [
            value
            for judge in judges
            for value in (np.mean([pair(judge, one, scale)[5] for one in rest]), (judge - people.mean(axis=1)).mean())
        ]
        found = [alpha(people, "ordinal"), alpha(people, "interval"), pairs[2], pairs[5], icc["icc_2_1"], icc["icc_2_k"]]
        names = ["alpha ordinal", "alpha interval", "pairs: kappa", "pairs: Spearman", "ICC(2,1)", "ICC(2,k)", "ceiling"]
        names += ["gpt: Spearman", "gpt: bias", "claude: Spearman", "claude: bias"]
        rows = zip(names, written.split(), [*found, float(ceiling), *judged], strict=True)
        assert_figures((f"{folder}, {dimension}: {name}", expected, got) for name, expected, got in rows)


def test_one_dialogue_is_a_cluster() -> None:
    dimensions = ratings_of("lend_an_ear", "gpt").columns
    dimensions = [name for name in dimensions if name not in ("", "conversation_id")]
    gpt = ratings_of("lend_an_ear", "gpt").select(dimensions).cast(pl.Float64).to_numpy()
    off = np.column_stack([gpt[:, at] - by_experts("lend_an_ear", name).mean(axis=1) for at, name in enumerate(dimensions)])
    places = np.repeat(np.arange(len(off)), off.shape[1])
    rows = pl.DataFrame({"system": 0, "place": places, "item_id": range(off.size), "value": off.ravel()})
    effect, error = design_effects(rows).select("design_effect", "standard_error").row(0)
    assert_figures(
        [
            ("units", "300", off.size),
            ("clusters", "50", len(off)),
            ("bias", "0.518889", off.mean()),
            ("design effect", "0.672", effect),
            ("standard error squared over variance / n", f"{effect:.9f}", error**2 / (off.var(ddof=1) / off.size)),
        ]
    )


def test_single_ratings_of_the_crowd() -> None:
    rows = pl.read_csv(KUMAR / "original_data/sample_lend_an_ear_annotations.csv", infer_schema_length=None)
    own = rows.select("conversation_id", "user_id", rating=pl.col("validating_emotions").cast(pl.Float64))
    units = own.group_by("conversation_id", maintain_order=True).agg("rating")["rating"].to_list()
    table = np.array([unit + [nan] * (11 - len(unit)) for unit in units])
    assert_figures(
        [
            ("ratings", "196", own.height),
            ("people", "116", own["user_id"].n_unique()),
            ("fewest of a conversation", "2", min(map(len, units))),
            ("most of a conversation", "11", max(map(len, units))),
            ("alpha ordinal of validating_emotions", "0.2655", alpha(table, "ordinal")),
        ]
    )


def test_dices() -> None:
    crowd, experts = (
        json.loads((DICES / f"dices_350_{who}.json").read_text())["instances"] for who in ("crowdsourced", "expert")
    )
    words = np.array([one["annotations"]["safety"]["individual_human_scores"] for one in crowd])
    table = np.array([np.where(words == word, place, 0) for place, word in enumerate(("No", "Yes", "Unsure"))]).sum(axis=0) * 1.0
    missing = np.where(words == "Unsure", nan, table)
    said = {one["id"]: one["annotations"]["safety"] for one in experts}
    expert = np.array([{"No": 0.0, "Yes": 1.0}[said[one["id"]]["majority_human"]] for one in crowd])
    majority = panel(table, "majority")
    assert np.isnan(majority).sum() == 2  # of 56 No and 56 Yes; the reference takes the first word
    plurality = np.nan_to_num(majority, nan=0.0)
    both = compare_names(plurality, expert, alone(350), np.arange(3.0))[:, 0]
    theirs = krippendorff.alpha(reliability_data=missing.T, level_of_measurement="nominal")
    counts = np.array([(plurality == 0).sum(), (plurality == 1).sum(), (expert == 0).sum(), (expert == 1).sum()])
    assert_figures(
        [
            *zip(("plurality No", "plurality Yes", "expert No", "expert Yes"), ("271", "79", "175", "175"), counts, strict=True),
            ("raters", "123", table.shape[1]),
            ("alpha nominal, Unsure as a word", "0.160860", alpha(table, "nominal")),
            ("alpha nominal, Unsure as missing", "0.200800", alpha(missing, "nominal")),
            ("the same by krippendorff", f"{theirs:.9f}", alpha(missing, "nominal")),
            ("plurality and expert: exact", "0.651429", both[0]),
            ("plurality and expert: kappa", "0.302857", both[2]),
            ("the same by scikit-learn", f"{cohen_kappa_score(plurality, expert):.9f}", both[2]),
        ]
    )


def duo(language: str) -> Iterator[tuple[list[float], float]]:
    for file in sorted((MIRROR / f"github.com/ikuminumaya/duo-dataset/ed/{language}").glob("*.json")):
        said = json.loads(file.read_text())
        yield (said.get("objective_evaluation") or {}).get("empathy_scores") or [], said["subjective_evaluation"]["empathy"]


def test_duo() -> None:
    expected = {"en": ("157", "50", "-0.0157", "0.2714"), "ja": ("68", "45", "0.0866", "-0.1035")}
    for language, written in expected.items():
        rows = [*duo(language)]
        rated = [(scores, user) for scores, user in rows if scores]
        people, user = np.array([scores for scores, _ in rated]), np.array([value for _, value in rated])
        linked = correlate_pooled(user, people.mean(axis=1), alone(len(user)))[0, 0]
        found = (len(rows), len(rated), alpha(people, "interval"), linked)
        names = ("dialogues", "rated by others", "alpha interval of empathy", "user with mean of others: Spearman")
        assert_figures((f"{language}: {name}", *row) for name, *row in zip(names, written, found, strict=True))
        # Their alpha may as well be 0 or less: no ceiling.
        weights = np.hstack((np.ones((len(user), 1)), draw_weights("duo", len(user), 1000, 0)))
        draws = alphas(people, alone(len(user))._replace(weights=weights))["interval"]
        assert np.quantile(draws[1:], 0.025) < 0
        # One draw is the alpha of the dialogues that are drawn, each as often as it is.
        again = people[np.repeat(np.arange(len(user)), weights[:, 7].astype(int))]
        assert draws[7] == pytest.approx(krippendorff_alpha(again.tolist()))


def test_xdial() -> None:
    rows = pl.read_csv(MIRROR / "github.com/e0397123/xDial-Eval/data/turn/empathetic-grade.csv")
    ratings = rows["ratings"].cast(pl.Float64).to_numpy()
    characters = rows["chinese_res"].str.len_chars().cast(pl.Float64).to_numpy()
    linked = correlate_pooled(ratings, characters, alone(len(rows)))[:, 0]
    # Worked out here by a library: tau-b, and the partial Spearman given the length of the context.
    context = rows["chinese_ctx"].str.len_chars().cast(pl.Float64).to_numpy()
    a, b, c = (spearmanr(*sides).statistic for sides in ((ratings, characters), (ratings, context), (characters, context)))
    partial = (a - b * c) / np.sqrt((1 - b**2) * (1 - c**2))
    ours = partial_spearman(ratings, characters, context)
    assert_figures(
        [
            ("replies", "300", len(rows)),
            ("lowest", "1.78", ratings.min()),
            ("highest", "4.11", ratings.max()),
            ("mean", "2.8032", ratings.mean()),
            ("Spearman of rating and characters", "-0.0368", linked[0]),
            ("tau-b, by scipy", f"{kendalltau(ratings, characters).statistic:.9f}", linked[2]),
            ("partial Spearman, by scipy", f"{partial:.9f}", ours or nan),
        ]
    )
