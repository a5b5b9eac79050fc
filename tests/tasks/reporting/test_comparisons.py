"""What is computed for gains, retrieval, needles, judges and roles."""

from typing import Any

import polars as pl
import pytest

from schemas.chart import Chart
from schemas.table import Cell, Table
from schemas.tables.comparisons import Agreements, SettingGains
from schemas.tables.items import Retrievals
from tasks.reporting.content.helpers import lay_out_judges
from tasks.reporting.content.request import lay_out_request
from tasks.reporting.content.retrieval import kept_table, lay_out_needles, lay_out_retrieval, recall_rows
from tasks.reporting.content.score_tables import lay_out_gains
from tasks.reporting.figures.palette import GATE, HEAT, OURS
from tasks.runs.run_tables import ReportData
from tasks.text.tables import as_cell
from tests.tasks.reporting.example_items import make_table
from tests.tasks.reporting.example_long import PLAN, long_data, retrievals
from tests.tasks.reporting.example_run import manifest
from tests.tasks.reporting.pages import draw_chart


def gains(**changes: Any) -> dict[str, tuple[Chart, Table]]:
    """Figure and table of each model."""
    _, *blocks = lay_out_gains(long_data(**changes))
    return {block.charts[0].title: (block.charts[0], block.tables[0]) for block in blocks}


def test_gains_stand_in_order_and_are_judged() -> None:
    found = gains()
    assert [*found] == ["beta", "alpha"]
    chart, table = found["alpha"]
    assert [tuple(row[:2]) for row in table.rows[:3]] == [
        ("Total", "RAG"),
        ("Total", "CoEM"),
        ("Emotion Classification, persons (EC-E)", "RAG"),
    ]
    assert [as_cell(row[4]).mark for row in table.rows[:2]] == [None, "clear"]
    assert [(point.y, point.series) for point in chart.points] == [tuple(row[:2]) for row in table.rows]


def test_a_gain_without_interval_is_a_dot() -> None:
    row = {"model": "alpha", "setting": "rag", "scope": "total", "base_0_100": 50.0, "setting_0_100": 49.0, "gain": -1.0}
    frame = make_table(SettingGains, [row | {"ci_low": None, "ci_high": None, "n_items": 1}])
    chart, _ = gains(setting_gains=frame)["alpha"]
    assert chart.words == "The largest difference from Base is −1.0: Total with RAG."
    svg = draw_chart(chart)
    assert svg.count(f'fill="{OURS}"') == 1
    assert f'stroke="{OURS}"' not in svg.replace(f'fill="{OURS}" stroke="{OURS}"', "")


def test_each_gain_has_a_dot_and_a_line() -> None:
    svg = draw_chart(gains()["beta"][0])
    # 11 rows; the legend adds one dot per setting.
    for colour in (OURS, GATE):
        assert svg.count(f'stroke="{colour}"') >= 11
        assert svg.count(f'fill="{colour}"') == 12
    assert svg.count("Emotion Detection<") == 1


EMOBENCH = "longemotion_ec_emobench"


def needing(needle: pl.Expr) -> ReportData:
    """The run with the needle in other rows."""
    return long_data(retrievals=Retrievals.validate(retrievals().with_columns(holds_needle=needle)))


def test_recall_is_the_share_of_needles_found() -> None:
    rows = [row for row in recall_rows(long_data()) if row["dataset"] == EMOBENCH]
    # First ranking: place 3, so found among 4 and not among 1. Second ranking: place 1. The same for both models.
    assert [(row["setting"], row["stage"], row["model"], row["recall"], row["n_items"], row["chunks"]) for row in rows] == [
        ("RAG", "first ranking", "all", (0.0, 1.0, 1.0, 1.0), 2, 8.0),
        ("CoEM", "first ranking", "all", (0.0, 1.0, 1.0, 1.0), 2, 8.0),
        ("CoEM", "second ranking", "all", (1.0, 1.0, 1.0, 1.0), 2, 8.0),
    ]
    _, block, *_ = lay_out_retrieval(long_data())
    (chart,) = block.charts
    assert chart.words == "Recall at 4 is 100.0 with all."
    assert draw_chart(chart).count("RAG, first ranking") == 1


def test_models_that_rank_otherwise_have_own_rows() -> None:
    # A needle that is lost is not found among any k.
    lost = (pl.col("model") == "alpha") & (pl.col("item_id") == "ec_emobench-0") & (pl.col("setting") == "rag")
    found = needing(pl.when(lost).then(pl.lit(value=False)).otherwise("holds_needle"))
    rows = [row for row in recall_rows(found) if (row["dataset"], row["setting"]) == (EMOBENCH, "RAG")]
    assert [(row["model"], row["recall"]) for row in rows] == [("alpha", (0.0, 0.5, 0.5, 0.5)), ("beta", (0.0, 1.0, 1.0, 1.0))]


def test_scores_with_and_without_the_needle_differ() -> None:
    # RAG keeps rank 0 alone. Let item 1 of alpha hold its needle there: that item scores 1, the other 0.
    at_first = (pl.col("setting") == "rag") & (pl.col("item_id") == "ec_emobench-1")
    found = needing(pl.when(at_first).then(pl.col("rank") == 0).otherwise("holds_needle"))
    rows = [row[1:] for row in kept_table(found).rows[:4] if row[1] == "alpha"]
    assert rows == [
        ("alpha", "RAG", Cell(100.0, "1 item"), Cell(0.0, "1 item")),
        ("alpha", "CoEM", Cell(50.0, "2 items"), Cell(None, "0 items")),
    ]


def test_of_several_searches_the_best_counts() -> None:
    row = retrievals().filter(pl.col("setting") == "rag", pl.col("rank") == 0).head(1).to_dicts()[0] | {"stage": "search"}
    searches = [
        row | {"query_number": number, "rank": rank, "holds_needle": number == 1 and rank == 3, "kept": True}
        for number in range(2)
        for rank in range(4)
    ]
    found = long_data(retrievals=make_table(Retrievals, searches))
    (entry,) = recall_rows(found)
    assert (entry["stage"], entry["recall"], entry["n_items"]) == ("searches", (0.0, 1.0, 1.0, 1.0), 1)
    assert as_cell(kept_table(found).rows[0][3]).note == "1 item"


def test_a_grid_of_needles_by_the_first_metric() -> None:
    _, *blocks = lay_out_needles(long_data())
    first, second = (chart for block in blocks for chart in block.charts)
    assert [chart.title.rpartition(": ")[2] for chart in (first, second)] == ["alpha", "alpha (CoEM)"]
    assert [column.title for column in first.numbers.columns] == ["Depth", "8k tokens", "16k tokens"]
    # 0.9 and 0.5, less 80 / 200 at the depth of 80; nothing scored at the longest and deepest.
    assert [[as_cell(value).value for value in row] for row in first.numbers.rows] == [
        ["0 to 20 %", pytest.approx(90.0), pytest.approx(50.0)],
        ["80 to 100 %", pytest.approx(50.0), None],
    ]
    assert first.words.startswith("The score is highest with 8k tokens at a depth of 0 to 20 % (90.0) and lowest")
    svg = draw_chart(first)
    assert svg.count(f'fill="{HEAT[9]}"') == 1
    assert svg.count(f'fill="{HEAT[5]}"') == 2
    assert "–" in svg


def test_doubtful_judges_are_named() -> None:
    *_, agreement = lay_out_judges(long_data())
    rows = agreement.tables[0].rows
    notes = [as_cell(row[2]).note for row in rows]
    assert notes == ["", "doubtful: alpha 0.40, length −0.70", ""]
    assert rows[0][3] == "alpha, gamma-judge"
    assert agreement.warnings == (
        (
            "Emotion Conversation, consolidation and ending (MC-4), alpha: doubtful ratings in 1 of 3 dimensions: "
            "warmth (alpha 0.40, length −0.70)."
        ),
    )


@pytest.mark.parametrize(("alpha", "length", "doubts"), [(0.67, 0.5, 0), (0.669, 0.5, 1), (0.67, -0.51, 1), (None, 0.51, 1)])
def test_limits_of_doubt(alpha: float | None, length: float, doubts: int) -> None:
    row = long_data().agreements.to_dicts()[0] | {"alpha": alpha, "length_correlation": length}
    *_, agreement = lay_out_judges(long_data(agreements=make_table(Agreements, [row])))
    assert as_cell(agreement.tables[0].rows[0][2]).note.count("doubtful") == doubts
    assert len(agreement.warnings) == doubts


PLAIN = (
    "In the first three stages of emotion conversation nothing is retrieved with RAG and CoEM: their items are asked as with "
    "Base, and gains there say nothing."
)


def describe_roles(changed: dict[str, Any] | None = None, **roles: Any) -> tuple[tuple[str, ...], list[Any]]:
    """Notes and rows of roles of the run with other models in some roles."""
    plan = PLAN | {"roles": PLAN["roles"] | roles} | (changed or {})
    said, roles_block = lay_out_request(long_data(manifest=manifest(plan=plan)))
    return said.warnings, list(roles_block.tables[0].rows)


def test_another_sage_and_judge_are_not_under_test() -> None:
    other, elsewhere = ({"name": name, "identity": f"http://{host}/v1"} for name, host in (("omega", "a"), ("alpha", "b")))
    notes, roles = describe_roles(sage=other, judge=other)
    # One of the same name elsewhere is another model.
    assert notes == describe_roles(sage=elsewhere, judge=elsewhere)[0] == (PLAIN,)
    assert [row[:2] for row in roles] == [
        ("Core", "alpha and beta"),
        ("Sage", "omega"),
        ("Rank", "auto: BAAI/bge-m3 if it is there, else minilm, fused with BM25"),
        ("Judge", "omega"),
        ("Panel", "gamma-judge"),
    ]


def test_critic_embedder_and_panel_are_named() -> None:
    told = "The panel includes a model under test (beta); its ratings of its own answers are among those compared."
    assert told in describe_roles(panel=[PLAN["models"][1]])[0]
    changed = {"settings": ["base", "self_rag"], "retrieval": {"ranking": "bm25"}}
    notes, roles = describe_roles(changed, panel=[PLAN["roles"]["judge"]])
    shown = [models for role, models, _ in roles if role in {"Critic", "Rank"}]
    assert shown == ["the model under test itself", "BM25, by words"]
    assert notes[0] == PLAIN.replace("RAG and CoEM", "Self-RAG")
    assert notes[1] == "With Self-RAG the Critic is the model under test itself (alpha and beta)."
    assert notes[-1].startswith("The panel includes the judge itself, alpha")
