"""Figures of systems that are shown together, from the example run: alpha has 25, beta is vetoed, gamma has nothing."""

from dataclasses import replace

from schemas.chart import Beside, Chart, Point
from schemas.table import Interval
from tasks.reporting.content.system_charts import ShownSystem, chart_systems
from tasks.reporting.page import show_report
from tasks.reporting.report import build_report
from tests.tasks.reporting.example_run import BLUEPRINT, empty_data, example_data, headlined_data

GATE = "Values & Safety (gate: 60)"


def shown() -> list[ShownSystem]:
    return [replace(each, anchor="", constants={"values_safety": 40.0}) for each in show_report(build_report(example_data()))]


def points(chart: Chart) -> list[Point]:
    return [point._replace(beside=Beside()) for point in chart.points]


def test_headline_ranks_totals_beside_the_gate() -> None:
    chart = chart_systems([*reversed(shown())], BLUEPRINT)["headline"]
    assert points(chart) == [
        Point("", "alpha", "Total", 25.0, 15.0, 35.5),
        Point("vetoed", "beta", "Total", 100.0, is_hollow=True),
        Point("unscored", "gamma", "Total", is_hollow=True),
        Point("", "alpha", GATE, 100.0),
        Point("", "beta", GATE, 0.0),
        Point("", "gamma", GATE),
    ]
    published = Interval(40.0, 95.0)  # the gate of alpha is comparable with the paper's, its total is not
    assert [point.beside for point in chart.points] == [
        *[Beside()] * 3,
        *[Beside(40.0, 60.0, published)] * 2,
        Beside(40.0, 60.0),
    ]
    assert (
        chart.words == "alpha has the highest total, 25.0 (95 % interval 15.0 to 35.5). Vetoed: 1 of 3. Without a total: 1 of 3."
    )
    assert chart.note.endswith("No constant answer for Total: not every dataset is multiple choice.")


def test_one_system_has_its_abilities_below_its_total() -> None:
    charts = chart_systems(shown()[:1], BLUEPRINT)
    titles = [(point.y, point.series, point.value) for point in charts["headline"].points]
    assert titles == [("alpha", "Total", 25.0), ("alpha", GATE, 100.0), ("alpha", "Emotional Ability", 25.0)]
    assert charts["headline"].title == "Total of alpha"


def test_published_scores_stand_beside_comparable_ones_alone() -> None:
    alpha = shown()[0]
    assert alpha.record is not None
    assert alpha.record.verdict == "not comparable"
    close = alpha.record.model_copy(
        update={"verdict": "close", "abilities": {"emotional": "same", "values_safety": "not comparable"}}
    )
    charts = chart_systems([replace(alpha, record=close)], BLUEPRINT)
    # The paper's totals and scores of emotional lie from 10 to 70.
    published = {point.series: point.beside.published for point in charts["headline"].points}
    assert published == {"Total": Interval(10.0, 70.0), GATE: None, "Emotional Ability": Interval(10.0, 70.0)}


def test_map_has_a_cell_for_each_task_and_system() -> None:
    chart = chart_systems(shown(), BLUEPRINT)["map"]
    assert [point[:4] for point in chart.points[:3]] == [
        ("alpha", "Kindness", "Values & Safety", 100.0),
        ("beta", "Kindness", "Values & Safety", 0.0),
        ("gamma", "Kindness", "Values & Safety", None),
    ]
    assert [(point.y, point.value) for point in chart.points if point.x == "alpha"] == [
        ("Kindness", 100.0),
        ("Moods", 25.0),
        ("Tales", 25.0),
    ]


def test_headlines_take_the_place_of_a_single_ability() -> None:
    blueprint = headlined_data().blueprint
    single = blueprint.model_copy(update={"gate": None, "abilities": blueprint.abilities[1:]})
    chart = chart_systems(shown()[:1], single)["abilities"]
    assert points(chart) == [Point("", "alpha", "Moods", 25.0, 10.0, 60.0), Point("", "alpha", "Losses")]


def test_more_systems_than_can_be_told_apart_are_cut() -> None:
    chart = chart_systems(shown()[:1] * 30, BLUEPRINT)["map"]
    assert chart.note == "The first 24 of 30 are shown."


def test_nothing_scored_is_no_figure() -> None:
    assert chart_systems(show_report(build_report(empty_data())), BLUEPRINT) == {}
