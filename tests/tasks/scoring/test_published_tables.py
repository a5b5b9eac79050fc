"""Tables of papers in each form they come in."""

from pathlib import Path

import polars as pl
import pytest

from tasks.scoring.blueprints import list_blueprints, load_blueprint
from tasks.scoring.published import TOTAL, PublishedRange, as_table, paper_of, papers, published_of
from tests.tasks.reporting.example_run import published

MOODBENCH, LONGEMOTION, ESC_EVAL = papers()
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
    assert table.range_of("summary", "base") == PublishedRange(40.0, 60.0, 80.0)
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
        **dict.fromkeys(("ecdbench", "ecdbench-mini", "moodbench", "moodbench-mini"), MOODBENCH),
        **dict.fromkeys(("esc-eval", "esc-eval-mini"), ESC_EVAL),
        **dict.fromkeys(("longemotion", "longemotion-mini", "longemotion-released", str(own)), LONGEMOTION),
    }


@pytest.mark.parametrize("nothing", [None, pl.DataFrame(), published().clear()])
def test_no_table(nothing: pl.DataFrame | None) -> None:
    table = as_table(nothing)
    assert (table.settings, table.scores(TOTAL, "base")) == ((), [])
