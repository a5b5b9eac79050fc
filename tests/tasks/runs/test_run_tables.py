"""Whom a run is about, and what is said of instruments that failed."""

from schemas.documents.run import InstrumentCount
from schemas.tables.scores import Totals
from tasks.runs.run_tables import ReportData, System, pool_counts
from tests.tasks.reporting.example_run import BLUEPRINT, manifest
from tests.tasks.reporting.example_scores import totals, totals_row


def test_an_instrument_is_named_once_for_all_datasets() -> None:
    counts = (
        InstrumentCount("m", "base", "judge", "j", ("cards_en",), 4, 10),
        InstrumentCount("m", "base", "simulated person", "", ("cards_en",), 9, 9),
        InstrumentCount("m", "base", "judge", "j", ("cards_zh",), 3, 5),
        *(InstrumentCount("m", "base", "judge", "k", (name,), 5, 5) for name in ("cards_zh", "days", "nights")),
    )
    assert [one.words for one in pool_counts(counts)] == [
        "7 of 15 ratings of judge j in cards_en and cards_zh cannot be read",
        "the simulated person fell out of its part in 9 of 9 dialogues of cards_en",
        "15 of 15 ratings of judge k in 3 datasets cannot be read",
    ]


def test_planned_systems_without_a_row_come_last() -> None:
    plan = {"models": [{"name": "a"}, {"name": "b"}], "settings": ["base", "rag"]}
    data = ReportData(manifest(plan=plan), BLUEPRINT, totals=totals(totals_row(model="b", setting="rag")))
    names = [tuple(system) for system in data.systems]
    assert (names, data.settings) == ([("b", "rag"), ("a", "base"), ("a", "rag"), ("b", "base")], ("base", "rag"))
    plain = ReportData(manifest(plan={"models": [{"name": "a"}]}), BLUEPRINT, totals=Totals.create_empty())
    assert plain.systems == (System("a", "base"),)
