"""Published models as `moodflow leaderboard --published` lists them."""

from pathlib import Path

import pytest

from flows.commands.run_view import leaderboard_table
from schemas.errors import UsageError
from tasks.analysis.leaderboard import published_rows


def test_rows_carry_their_setting_and_abilities() -> None:
    rows = published_rows("longemotion")
    assert len(rows) == 18
    assert (rows[0]["model"], rows[0]["setting"], rows[0]["rank"]) == ("GPT-5", "base", 1)
    assert rows[1]["setting"] == "coem"
    assert rows[0]["abilities"]["emotion_summary"] == pytest.approx(88.4)
    assert leaderboard_table("longemotion", rows).row_count == 18


@pytest.mark.parametrize(("benchmark", "veto"), [("longemotion", []), ("moodbench", ["passed"] * 3)])
def test_a_veto_is_shown_where_the_benchmark_has_a_gate(benchmark: str, veto: list[str]) -> None:
    table = leaderboard_table(benchmark, published_rows(benchmark)[:3])
    first, *models = (list(column.cells) for column in table.columns)
    assert [column[first.index("Veto")] for column in models if "Veto" in first] == veto


def test_moodbench_is_as_it_was() -> None:
    rows = published_rows("moodbench")
    assert (len(rows), rows[0]["model"], rows[0]["rank"]) == (30, "gpt-5-mini-2025-08-07", 1)
    assert {row["setting"] for row in rows} == {"base"}


def test_a_benchmark_without_a_paper_is_told(tmp_path: Path) -> None:
    file = tmp_path / "own.yaml"
    file.write_text(
        'name: own\ntitle: Own\nversion: "1"\nsource: none\nlevel_rules: [{weights: {low: 1}}]\n'
        "abilities: [{id: patience, title: P, tasks: [{id: t, title: T, level: low, datasets: [d]}]}]\n"
        "datasets: {d: {title: D, methods: [{id: m, metrics: [{metric: accuracy}]}]}}\n",
        encoding="utf-8",
    )
    with pytest.raises(UsageError, match="no published table for own") as caught:
        published_rows(str(file))
    assert "patience" in str(caught.value)
