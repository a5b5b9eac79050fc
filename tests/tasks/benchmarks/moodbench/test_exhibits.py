"""MoodBench's Tables 1, 3 and 4, and core against foundational ability, of published models and of one's own."""

from collections import Counter

import numpy as np
import polars as pl
import pytest

from schemas.table import Table
from tasks.benchmarks.moodbench.core_fit import draw_core, fit_parabola
from tasks.benchmarks.moodbench.exhibits import EXHIBITS
from tasks.leaderboard.ranking import published_leaderboard
from tasks.runs.exhibits import RankedModels
from tasks.scoring.blueprints import load_blueprint
from tasks.scoring.published import FOLDER
from tasks.text.tables import as_cell, to_records
from tests.tasks.runs.model_rows import model_row

BLUEPRINT = load_blueprint("moodbench")
PRINTED = pl.read_csv(FOLDER / "moodbench_table4.csv")
TITLES = {
    "Overall": "overall",
    "Foundational": "foundational",
    "Emotional": "emotional",
    "Companionship": "companionship",
    "Values & Safety": "values_safety",
}


FEW = "Tasks with fewer than 2 datasets"


def tables(name: str, models: RankedModels) -> tuple[Table, ...]:
    (exhibit,) = (exhibit for exhibit in EXHIBITS if exhibit.name == name)
    return tuple(table for block in exhibit.lay_out(models) for table in block.tables)


def published() -> RankedModels:
    return published_leaderboard("moodbench").models


def test_table_4_is_reproduced_cell_by_cell() -> None:
    (table,) = tables("table4", published())
    assert [column.title for column in table.columns] == ["Model", "Rank", *TITLES]
    printed = {row["model"]: row for row in PRINTED.iter_rows(named=True)}
    rows = to_records(table)
    # Our rows are in the printed order.
    assert [row["Model"] for row in rows] == PRINTED["model"].to_list()
    assert [row["Rank"] for row in rows] == PRINTED["rank"].to_list()
    wrong = [
        (row["Model"], title, row[title])
        for row in rows
        for title, name in TITLES.items()
        # The total is computed again: 0.3 x foundational + 0.4 x emotional + 0.3 x companionship.
        if row[title] != pytest.approx(printed[row["Model"]][name], abs=0.0101 if name == "overall" else 1e-9)
    ]
    assert (len(rows) * len(TITLES), wrong) == (30 * 5, [])


def test_table_4_has_marks_and_vetoed_rows() -> None:
    (table,) = tables("table4", published())
    marks: dict[str, list[str]] = {}
    for row in table.rows:
        for column, value in zip(table.columns, row, strict=True):
            if mark := as_cell(value).mark:
                marks.setdefault(f"{column.title}: {mark}", []).append(str(as_cell(row[0]).value))
    assert marks == {
        # 70.09, 69.45, 69.34 and 69.09, then 68.57; of those not vetoed the lowest is 62.95, then 63.13, 63.57 and 63.65.
        "Overall: best": ["gpt-5-mini-2025-08-07", "doubao-pro-32k-241215", "gpt-5-2025-08-07", "gpt-4o"],
        "Overall: second": ["gpt-4.1-2025-04-14"],
        "Overall: lowest": ["qwen-plus", "ernie-4.5-21b-a3b", "glm-4-flash", "gemini-1.5-flash-002"],
        # 83.00, then 81.98, 1.02 below.
        "Foundational: best": ["gpt-5-2025-08-07"],
        "Foundational: second": ["gpt-5-mini-2025-08-07"],
        "Foundational: lowest": ["glm-4-9b", "glm-4-flash"],
        # 71.19 and 70.35, then 70.16, 1.03 below.
        "Emotional: best": ["gpt-4o", "Baichuan2-turbo"],
        "Emotional: second": ["Baichuan4-Air"],
        "Emotional: lowest": ["ernie-4.5-21b-a3b"],
        # 61.56, 60.59 and 60.56 (1.00 below), then 60.47.
        "Companionship: best": ["doubao-pro-32k-241215", "gemini-2.0-flash", "glm-4-9b"],
        "Companionship: second": ["gpt-4.1-2025-04-14"],
        "Companionship: lowest": ["qwen-plus"],
        # 96.33, 95.77, 95.68 and 95.50, then 93.53.
        "Values & Safety: best": ["doubao-pro-32k-241215", "qwen3-32b", "deepseek-v3.1", "llama-4-scout"],
        "Values & Safety: second": ["llama-4-maverick"],
        "Values & Safety: lowest": ["claude-opus-4-20250514"],
    }
    assert [(row[0], as_cell(row[1]).note) for row in table.rows if as_cell(row[1]).note] == [
        ("qwen3-0.6b", "vetoed"),
        ("abab6.5t-chat", "vetoed"),
    ]


def test_table_1_counts_what_the_blueprint_has() -> None:
    counts, ratios, languages = map(to_records, tables("table1", published()))
    assert [(row["Tasks"], row["Datasets"]) for row in counts[:-1]] == [
        *((2, 5), (4, 5), (5, 8), (6, 8), (1, 3), (6, 8)),
        *((6, 10), (2, 3), (1, 1), (2, 2), (3, 4), (3, 3)),
    ]
    assert counts[-1] == {"Ability": "All", "Sub-ability": None, "Tasks": 41, "Datasets": 60, "Methods": 60, FEW: 29}
    # Of the datasets of values 4 + 1 are of one task each, of safety 1 + 1 + 2 + 1.
    assert [row[FEW] for row in counts[:-1]] == [1, 3, 2, 5, 0, 5, 4, 1, 1, 2, 2, 3]
    # 41 / 12, 60 / 41 and 60 / 60, beside 1:3, 1:2 and 1:1.
    assert [(row["Here"], row["Aim of the paper"]) for row in ratios] == [(3.42, 3), (1.46, 2), (1.0, 1)]
    assert ratios[0]["On average"] == "Tasks of a sub-ability"
    _, other, _ = tables("table1", RankedModels(load_blueprint("ecdbench"), ()))
    assert to_records(other)[0]["On average"] == "Tasks of a sub-capability"
    # 37, 19 and 4 of 60; the paper counts 35, 21 and 4.
    assert [tuple(row.values()) for row in languages] == [
        ("English", 37, 61.67, 58.3),
        ("Chinese", 19, 31.67, 35.0),
        ("both", 4, 6.67, 6.7),
    ]


def test_table_3_says_what_the_paper_states() -> None:
    (table,) = tables("table3", published())
    rows = {row["Model"]: row for row in to_records(table)}
    assert list(rows["qwen-max"].values()) == [
        *("qwen-max", "Qwen", "Alibaba Tongyi Qianwen Team", "closed", "Hundreds of Billions (Estimated)")
    ]
    assert rows["gpt-4o"]["Parameters"] == "1.8T (Total MoE Parameters)"
    assert Counter(row["Type"] for row in rows.values()) == {"closed": 22, "open": 8}
    own = model_row("mine", 50.0, about={"institution": "Lab", "released": "2026-01"})
    (table,) = tables("table3", RankedModels(BLUEPRINT, (own, model_row("other", 40.0))))
    assert to_records(table) == [
        {"Model": "mine", "Series": None, "Institution": "Lab", "Type": None, "Parameters": None, "Released": "2026-01"}
    ]
    assert tables("table3", RankedModels(BLUEPRINT, (model_row("other", 40.0),))) == ()


def test_core_is_fitted_over_all_and_ranked_models() -> None:
    models = published()
    (chart,) = draw_core(models.rows, BLUEPRINT, "")
    for curve, rows in zip(chart.curves, (models.rows, [row for row in models.rows if row.rank]), strict=True):
        # 0.4 x emotional + 0.3 x companionship, over 0.7.
        core = [(4 * (row.abilities["emotional"] or 0) + 3 * (row.abilities["companionship"] or 0)) / 7 for row in rows]
        parabola = np.polyfit([row.abilities["foundational"] or 0 for row in rows], core, 2)
        assert [y for _, y in curve] == pytest.approx(np.polyval(parabola, [x for x, _ in curve]))
    explained = "90\u00a0% over all 30 models and 16\u00a0% over the 28 ranked"
    assert chart.words == f"Of the core's variance a parabola of foundational ability explains {explained}."
    assert sum(point.is_hollow for point in chart.points) == 2


def test_core_of_few_models_has_no_curve() -> None:
    # (0.4 x 70 + 0.3 x 35) / 0.7 = 55
    abilities = {"foundational": 90.0, "emotional": 70.0, "companionship": 35.0}
    rows = [model_row("a", 50.0, abilities=abilities), model_row("b", 40.0, abilities=abilities)]
    (chart,) = draw_core(rows, BLUEPRINT, "")
    assert [(point.series, point.x, round(float(point.y), 9)) for point in chart.points] == [("a", 90.0, 55.0), ("b", 90.0, 55.0)]
    assert (chart.words, chart.curves) == ("2 models are too few to fit a curve of the core over foundational ability.", ())
    part = model_row("c", 50.0, abilities={"foundational": 90.0, "emotional": 70.0})
    assert list(draw_core([rows[0], part], BLUEPRINT, "")) == []


def test_the_curve_is_the_points_parabola() -> None:
    points = tuple((float(x), 1.0 + 2.0 * x - 0.5 * x * x) for x in range(5))
    fit = fit_parabola(points)
    assert fit is not None
    assert (fit.curve[0][0], fit.curve[-1][0]) == (0.0, 4.0)
    assert [value for _, value in fit.curve] == pytest.approx([1.0 + 2.0 * at - 0.5 * at * at for at, _ in fit.curve])
    assert fit.coefficients == pytest.approx((1.0, 2.0, -0.5))
    assert fit.r_squared == pytest.approx(1.0)
    # The points are symmetric around x = 2: no linear relation at all.
    assert fit.correlation == pytest.approx(0.0, abs=1e-9)
    assert fit.words.endswith(", y = +1.00 +2.000 x −0.5000 x²")
    assert fit_parabola(points[:3]) is None
    assert fit_parabola([(x, 1.0) for x, _ in points]) is None
