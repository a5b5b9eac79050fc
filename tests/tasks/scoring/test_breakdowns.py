"""Means of rated dimensions: over a judge's repetitions, then parts, then items; scores by length and depth of a needle."""

from typing import Any

import dataframely as dy
import polars as pl
import pytest

from schemas.tables.items import Contexts
from tasks.scoring.breakdowns import needle_grid, place_needles, score_dimensions
from tests.tasks.rows import Row, item, items, judgement, judgements
from tests.tasks.scoring.samples import items as scored
from tests.tasks.scoring.samples import labelled

ASKED = items(
    *(item(name, "counselor_reply", cluster=cluster) for name, cluster in (("a", "x"), ("b", "x"), ("c", "y"), ("d", "y")))
)
SCALE = {"rubric": "r", "lowest": 0, "highest": 4}


def rated(item_id: str, rating: int | None, dimension: str = "warmth", **more: Any) -> Row:
    return judgement(item_id, dimension, rating, **{**SCALE, **more})


COLUMNS = ("dimension", "scale_min", "scale_max", "mean", "n_answers", "n_total", "n_clusters")


def found(*rows: Row) -> list[tuple[Any, ...]]:
    return score_dimensions(judgements(*rows), ASKED).select(COLUMNS).rows()


def ends(*rows: Row) -> tuple[float, float]:
    return score_dimensions(judgements(*rows), ASKED).select("ci_low", "ci_high").row(0)


def test_repetitions_of_the_judge_then_parts_then_items() -> None:
    rows = [
        # a: its first part (4 + 2) / 2 = 3, its second 1: together 2. b: 4, one of the judge's two ratings being unreadable.
        *(rated("a", rating, part="first", judge_repetition=times) for times, rating in enumerate((4, 2))),
        rated("a", 1, part="second"),
        *(rated("b", rating, judge_repetition=times) for times, rating in enumerate((4, None))),
        # c: 0. d: nothing that can be read.
        rated("c", 0),
        rated("d", None),
    ]
    # 2, 4 and 0 have the mean 2.
    assert found(*rows) == [("warmth", 0, 4, 2.0, 4, 5, 2)]
    # Without x (2, 4) it is 0, without y (0) 3: on 0-1 s^2 = 1/2 x 2 x (3/8)^2, and t of 1 degree is 12.706205.
    lost = 12.706205**2 * (9 / 64) / 0.25
    half = (0.25 * lost + lost**2 / 4) ** 0.5 / (1 + lost)
    assert ends(*rows) == pytest.approx((4 * (0.5 - half), 4 * (0.5 + half)), abs=1e-5)


def test_repeated_questions_share_one_cluster() -> None:
    rows = [rated("a", 4), rated("a", 1, repetition=1), rated("c", 1)]
    assert found(*rows) == [("warmth", 0, 4, 2.0, 3, 3, 2)]


def test_no_rating_no_mean_one_cluster_no_interval() -> None:
    rows = [rated("a", 3), rated("b", 1), rated("a", None, "asks", highest=1), rated("c", None, "asks", highest=1)]
    assert found(*rows) == [("asks", 0, 1, None, 0, 2, 0), ("warmth", 0, 4, 2.0, 2, 2, 1)]
    assert set(ends(*rows[:2])) == {None}


def test_every_system_has_its_own_row() -> None:
    rows = [rated(name, rating, model=model) for model in "mn" for name, rating in (("a", 4), ("b", 1), ("c", 1), ("d", 0))]
    table = score_dimensions(judgements(*rows), ASKED)
    assert table.select("model", "mean", "judge").rows() == [(model, 1.5, "j") for model in "mn"]
    assert table.drop("model")[0].equals(table.drop("model")[1])
    assert score_dimensions(judgements(*reversed(rows)), ASKED).equals(table)


def contexts(*rows: dict[str, Any], dataset: str = "d") -> dy.DataFrame[Contexts]:
    shared: dict[str, Any] = {
        **dict.fromkeys(Contexts.create_empty().columns),
        "dataset": dataset,
        "task": "ec_emobench",
        "renamed": [],
    }
    built = [shared | {"item_id": f"{dataset}-{number}", "tokens": 100, **row} for number, row in enumerate(rows)]
    return Contexts.validate(pl.DataFrame(built, schema=Contexts.create_empty().schema))


def at(tokens: int, depth: float | None, **targets: Any) -> dict[str, Any]:
    return {"tokens": tokens, "depth_percent": depth, **targets}


def cells(scores: pl.DataFrame, placed: dy.DataFrame[Contexts]) -> list[tuple[Any, ...]]:
    return needle_grid(scores.lazy(), placed).select("length_bin", "depth_bin", "value", "n", "n_total").rows()


@pytest.mark.parametrize(
    ("tokens", "depth", "length_bin", "low", "depth_bin"),
    [
        (0, 0, "0 to 2000", 0, "0 to 20 %"),
        (1999, 19.99, "0 to 2000", 0, "0 to 20 %"),
        (2000, 20, "2000 to 4000", 2000, "20 to 40 %"),
        (40_000, 50, "32000 to 64000", 32_000, "40 to 60 %"),
        (128_000, 99, "128000 and more", 128_000, "80 to 100 %"),
        (500_000, 100, "128000 and more", 128_000, "80 to 100 %"),
    ],
)
def test_bins_are_fixed(tokens: int, depth: float, length_bin: str, low: int, depth_bin: str) -> None:
    placed = place_needles(contexts(at(tokens, depth))).row(0, named=True)
    assert (placed["length_bin"], placed["length_tokens"], placed["depth_bin"]) == (length_bin, low, depth_bin)
    assert placed["depth_percent"] == float(depth_bin.split(maxsplit=1)[0])


def test_targets_are_bins_where_every_item_has_one() -> None:
    lengths, depths = (1000, 4000), (0, 12.5)
    grid = [at(n - 10, d + 1, target_tokens=n, target_depth_percent=d) for n in lengths for d in depths]
    placed = place_needles(contexts(*grid))
    assert placed.select("length_bin", "length_tokens", "depth_bin", "depth_percent").rows() == [
        ("1000", 1000, "0 %", 0.0),
        ("1000", 1000, "12.5 %", 12.5),
        ("4000", 4000, "0 %", 0.0),
        ("4000", 4000, "12.5 %", 12.5),
    ]


def test_targets_drawn_item_by_item_are_no_bins() -> None:
    drawn = [at(n, d, target_tokens=n, target_depth_percent=d) for n, d in ((12_345, 3.3), (14_321, 81.2), (14_321, 81.2))]
    placed = place_needles(contexts(*drawn))
    assert placed["length_bin"].to_list() == ["8000 to 16000"] * 3
    assert placed["depth_bin"].to_list() == ["0 to 20 %", "80 to 100 %", "80 to 100 %"]


def test_target_that_some_items_lack_is_no_bin() -> None:
    placed = place_needles(contexts(at(990, 1, target_tokens=1000), at(990, 1, target_tokens=1000), at(4010, 49)))
    assert placed["length_bin"].to_list() == ["0 to 2000", "0 to 2000", "4000 to 8000"]


def test_a_cell_is_the_mean_over_its_items() -> None:
    placed = contexts(at(100, 5), at(200, 10), at(300, 90), at(9000, 5))
    # cells: items 0 and 1; item 2; item 3, whose call failed
    assert cells(scored("d", [1, 0, 0.5, None]), placed) == [
        ("0 to 2000", "0 to 20 %", 0.5, 2, 2),
        ("0 to 2000", "80 to 100 %", 0.5, 1, 1),
        ("8000 to 16000", "0 to 20 %", None, 0, 1),
    ]


def test_repetitions_of_an_item_are_averaged_first() -> None:
    # Item 0: (1 + 0) / 2, its third call failed; item 1: 1 three times. All rows alike would give 4 / 5.
    values: list[list[float | None]] = [[1, 1], [0, 1], [None, 1]]
    asked = pl.concat([scored("d", said, repetition=number) for number, said in enumerate(values)])
    assert cells(asked, contexts(at(100, 5), at(100, 5))) == [("0 to 2000", "0 to 20 %", 0.75, 2, 2)]


def test_items_without_a_known_depth_are_left_out() -> None:
    assert cells(scored("d", [1, 0]), contexts(at(100, None), at(100, 5))) == [("0 to 2000", "0 to 20 %", 0.0, 1, 1)]


def test_what_counts_whole_datasets_has_no_cells() -> None:
    assert cells(labelled("d", "macro_f1", [["joy"]], [["joy"]]), contexts(at(100, 5))) == []


def test_models_settings_and_metrics_have_own_grids() -> None:
    others = [scored("d", [0.0], setting="rag"), scored("d", [0.0], "other"), scored("d", [0.0], metric="strict_accuracy")]
    found = needle_grid(pl.concat([scored("d", [1.0]), *others]).lazy(), contexts(at(100, 5)))
    assert found.select("model", "setting", "metric", "value").rows() == [
        ("m", "base", "accuracy", 1.0),
        ("m", "base", "strict_accuracy", 0.0),
        ("m", "rag", "accuracy", 0.0),
        ("other", "base", "accuracy", 0.0),
    ]
