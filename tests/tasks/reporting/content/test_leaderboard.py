"""The leaderboard's content and page."""

import re
from dataclasses import replace
from typing import Any

import polars as pl

from schemas.lineage import RunManifest
from schemas.tables.scores import DimensionScores
from tasks.judging.answers import GOLD
from tasks.leaderboard.ranking import LeaderboardData
from tasks.reporting.content.leaderboard import lay_out_history, ranking_table, runs_behind, warn_of_rows
from tasks.reporting.content.score_tables import describe_dimensions
from tasks.reporting.page import render_leaderboard
from tasks.runs.verdict import judge_totals
from tasks.text.tables import as_cell
from tests.tasks.reporting.example_items import item_scores
from tests.tasks.reporting.example_run import BLUEPRINT, manifest
from tests.tasks.reporting.example_scores import score_layers, totals, totals_row
from tests.tasks.reporting.pages import draw_chart, section

OLD, NEW = "20260101-old", "20260102-new"


def runs(**changes: Any) -> tuple[RunManifest, ...]:
    new = manifest(run=NEW, started_at="2026-01-02T00:00:00+00:00", **changes)
    return (new, manifest(run=OLD, started_at="2026-01-01T00:00:00+00:00"))


def data(**changes: Any) -> LeaderboardData:
    layers = score_layers(item_scores(), BLUEPRINT)
    newest = layers["totals"].with_columns(pl.lit(NEW).alias("run"))
    ranked = newest.with_columns(group=pl.lit(1), fuller_run=pl.lit(None, pl.String))
    before = totals(totals_row(total=20.0, total_before_veto=20.0, ci_low=12.0, ci_high=28.0))
    fields: dict[str, Any] = {
        "blueprint": BLUEPRINT,
        "totals": judge_totals(ranked, BLUEPRINT, {}),
        "abilities": layers["ability_scores"],
        "history": judge_totals(pl.concat([newest, before.with_columns(pl.lit(OLD).alias("run"))]), BLUEPRINT, {}),
        "manifests": runs(),
        "links": {NEW: "runs/new/report.html"},
    }
    return LeaderboardData(**(fields | changes))


def test_rows_say_what_became_of_each_model() -> None:
    rows = [[as_cell(value).value for value in row] for row in ranking_table(data()).rows]
    # Rank, model, setting, total, interval, verdict; then both abilities.
    assert [(row[1], row[3], row[5], *row[6:8]) for row in rows] == [
        ("alpha", 25.0, "scored", 100.0, 25.0),
        ("beta", 0.0, "vetoed", 0.0, 100.0),
        ("gamma", None, "unscored", None, None),
    ]
    # The history is oldest first, and needs two runs.
    (block,) = lay_out_history(data())
    moments = [[as_cell(value).value for value in row] for row in block.tables[0].rows]
    assert [(row[0], row[2], row[-1]) for row in moments] == [("alpha", 20.0, OLD), ("alpha", 25.0, NEW)]


def test_a_line_joins_runs_of_one_group() -> None:
    names, totals_by_day = (OLD, "20260102-other", "20260103-newest"), ((20.0, 1), (80.0, 2), (30.0, 1))
    unbounded = {"ci_low": None, "ci_high": None}
    rows = [
        totals(totals_row(total=value, total_before_veto=value, **unbounded)).with_columns(run=pl.lit(run), group=group)
        for run, (value, group) in zip(names, totals_by_day, strict=True)
    ]
    made = tuple(manifest(run=run, started_at=f"2026-01-0{day}T00:00:00+00:00") for day, run in enumerate(names, start=1))
    history = judge_totals(pl.concat(rows), BLUEPRINT, {})
    (block,) = lay_out_history(data(history=history, manifests=made))
    (chart,) = block.charts
    assert chart.words == "From the first run to the last alpha, group 1 changes most, by +10.0 points."
    # 380 wide for two days; 260 tall for 20 to 80, from the top: 20 at 260, 30 at 260 x 50 / 60. The 80 between is a point.
    assert re.findall(r'<path d="(M[^"]*)" stroke="[^"]*" stroke-width="2"', draw_chart(chart)) == [
        "M0,260L380,216.667",
        "M190,0Z",
    ]


def test_only_runs_behind_rows_are_listed() -> None:
    newer = data(manifests=runs(package_version="0.3.0"))
    assert ([run.run for run in runs_behind(newer)], warn_of_rows(newer)) == ([NEW], ())
    mixed = data().totals.with_columns(run=pl.Series([NEW, OLD, NEW]))
    warned = warn_of_rows(data(totals=mixed, manifests=runs(package_version="0.3.0")))
    assert warned == ("The runs were made by MoodFlow 0.2.0 and 0.3.0.",)


def test_the_page_is_complete_in_itself() -> None:
    html = render_leaderboard(data())
    assert not re.search(r"<script|<img|src=|url\(|@import", html)
    assert "default-src 'none'" in html
    assert '<a href="runs/new/report.html">alpha</a>' in html
    assert '<span class="badge vetoed">vetoed</span>' in html
    assert "100.00 before the veto" in html
    assert 'id="history"' in html
    ids = re.findall(r'\bid="([^"]+)"', html)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'href="#([^"]+)"', html)) <= set(ids)


def renamed(**names: str) -> LeaderboardData:
    """The leaderboard with other names of models."""
    model = pl.col("model").replace(names)
    return data(**{name: getattr(data(), name).with_columns(model) for name in ("totals", "abilities", "history")})


def test_names_of_models_are_inert() -> None:
    html = render_leaderboard(renamed(alpha="<script>alert(1)</script>"))
    assert "<script" not in html
    assert html.count("&lt;script&gt;alert(1)&lt;/script&gt;") >= 3


def test_the_papers_page_says_whose_scores_it_has() -> None:
    printed = {"totals": data().totals.drop("run", "fuller_run"), "history": data().history.clear()}
    html = render_leaderboard(data(is_published=True, manifests=(), links={}, **printed))
    assert "Scores as printed in the MoodBench paper" in html


def rated(model: str, dimension: str, mean: float | None, run: str = NEW, setting: str = "base") -> dict[str, Any]:
    n = 0 if mean is None else 3
    limits = {"ci_low": mean and mean - 0.5, "ci_high": mean and mean + 0.5}
    of = {"model": model, "dataset": "tale", "setting": setting, "rubric": "r", "dimension": dimension, "judge": "j", "run": run}
    return of | limits | {"mean": mean, "scale_min": 0, "scale_max": 5, "n_answers": n, "n_total": 4, "n_clusters": n}


def rated_board(*rows: dict[str, Any]) -> LeaderboardData:
    schema = DimensionScores.create_empty().with_columns(run=pl.lit("")).schema
    return data(dimensions=pl.DataFrame(rows, schema=schema))


def test_rated_dimensions_are_columns_and_models_rows() -> None:
    given = [rated("gamma", "no_blame", None), rated("alpha", "warm_words", 4.25), rated("alpha", "no_blame", 2.0)]
    board = rated_board(*given, rated("beta", "no_blame", 5.0, run=OLD))
    (table,) = describe_dimensions(board)
    assert table.title == BLUEPRINT.datasets["tale"].title
    assert [column.title for column in table.columns] == ["Model", "no blame", "warm words", "average"]
    # Beta's row of the ranking is that of the new run, which has no ratings of it; alpha is ranked before gamma. On 0 to 5 a mean
    # of 2 is 40 %, 4.25 is 85 %, their mean 62.5 %; of gamma one dimension was not asked and the other not rated.
    assert [[as_cell(value).value for value in row] for row in table.rows] == [
        ["alpha", 40.0, 85.0, 62.5],
        ["gamma", None, None, None],
    ]
    words = section(render_leaderboard(board), "dimensions")
    assert (
        "alpha 40.00 30.00 to 50.00 2.00 on 0 to 5, 3 of 4 rated 85.00 75.00 to 95.00 4.25 on 0 to 5, 3 of 4 rated 62.50" in words
    )
    assert words.endswith("gamma – – on 0 to 5, 0 of 4 rated – –")
    assert describe_dimensions(data()) == ()


def test_gold_replies_stand_below_the_models() -> None:
    board = rated_board(rated("gamma", "no_blame", 1.0), rated(GOLD, "no_blame", 5.0, setting=GOLD))
    (table,) = describe_dimensions(board)
    assert [(name, as_cell(score).value) for name, score, _ in table.rows] == [("gamma", 20.0), ("gold replies", 100.0)]


def test_a_dimension_that_is_better_low_is_marked_and_turned_in_the_average() -> None:
    both = dict.fromkeys(("en", "zh"), "x")
    meant = {"en": list("abcdef"), "zh": list("abcdef")}
    dimensions = [{"name": name, "definition": both, "anchors": meant} for name in ("warm_words", "harm")]
    dimensions[1]["better"] = "low"
    rubric = {"id": "r", "version": "1", "instruction": both, "scale": {"lowest": 0, "highest": 5}, "dimensions": dimensions}
    board = rated_board(rated("alpha", "warm_words", 4.0), rated("alpha", "harm", 1.0))
    (table,) = describe_dimensions(replace(board, blueprint=board.blueprint.model_copy(update={"own_rubrics": {"r": rubric}})))
    assert [column.title for column in table.columns] == ["Model", "warm words", "harm (lower is better)", "average"]
    # 80 and 20, which lacks 80 of 100.
    assert [as_cell(value).value for value in table.rows[0]] == ["alpha", 80.0, 20.0, 80.0]
