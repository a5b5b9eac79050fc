"""A run in one screen of 80 x 40."""

from collections.abc import Mapping
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from flows.commands.console import Terminal
from flows.commands.run_view import run_view
from schemas.blueprint import Blueprint, MetricSpec
from schemas.documents.run import FailedCalls
from schemas.lineage import CallCounts, Missing
from schemas.tables.comparisons import SettingGains
from schemas.tables.scores import DimensionScores, RawScores, Totals
from tasks.reporting.run_document import describe_run
from tasks.runs.past_run import PastRun
from tasks.scoring.benchmark import ScoreSettings, score_benchmark
from tests.flows.command import ended
from tests.flows.commands.past_runs import PastRuns
from tests.tasks.rows import frame
from tests.tasks.runs.runs import run_of
from tests.tasks.scoring.samples import ability, blueprint, gated, items, measured, task

PLACE = {"model": "m", "setting": "base", "dataset": "d", "judge": "j", "rubric": "r"}


def right(n: int) -> list[float]:
    """Values of ten items, so many of which are right."""
    return [1.0] * n + [0.0] * (10 - n)


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def run(design: Blueprint, *scores: pl.DataFrame, **layers: pl.DataFrame) -> PastRun:
    return run_of(Path("lake"), design, {"item_scores": pl.concat(scores), **layers}, PLACE)


def screen(past: PastRun, width: int = 80, **changes: Any) -> list[str]:
    """The lines of a run on a terminal; `changes` of its document."""
    document = describe_run(past.manifest, past.lake).model_copy(update=changes)
    file = StringIO()
    Terminal(file=file, width=width, emoji=False, markup=False).print(*run_view(document, past), sep="\n", highlight=False)
    lines = [line.rstrip() for line in file.getvalue().splitlines()]
    assert len(lines) < 40
    assert max(map(len, lines)) <= width
    return lines


def of_three(safe: int, able: int, kind: int, model: str = "m", **columns: Any) -> pl.DataFrame:
    parts = {"safety": safe, "mind": able, "heart": kind}
    return pl.concat([items(name, right(n), model, **columns) for name, n in parts.items()])


def with_limits(design: Blueprint, scores: pl.DataFrame) -> Mapping[str, pl.DataFrame]:
    """Layers in which each raw score may be 0.25 off, and the total 10 points."""
    scored = score_benchmark(scores.lazy(), design, ScoreSettings())
    low, high = pl.col("value") - 0.25, (pl.col("value") + 0.25).clip(None, 1.0)
    total = pl.col("total_before_veto")
    return {
        "raw_scores": RawScores.validate(scored.raw.with_columns(ci_low=low, ci_high=high)),
        "totals": Totals.validate(scored.totals.with_columns(ci_low=total - 10, ci_high=total + 10)),
    }


def test_one_model_has_a_bar_for_each_ability() -> None:
    scores = of_three(10, 5, 8)
    lines = screen(run(gated(), scores, **with_limits(gated(), scores)))
    # 0.3 x 50 + 0.7 x 80; a bar has 20 places. Wilson of 10 of 10: 10 / (10 + 3.841).
    assert lines[:7] == [
        "Tiny (tiny)",
        "m scores 71.0 of 100 [61.0, 81.0]. Weakest ability: Able (50.0).",
        "",
        "Abilities 95 % interval",
        "Safe      100.0 [72.2, 100.0] ████████████████████ gate: at least 60",
        "Able      50.0 [25.0, 75.0]   ██████████",
        "Kind      80.0 [55.0, 100.0]  ████████████████",
    ]
    assert "Unread replies: none of 30" in lines
    assert lines[-4:] == [
        "moodflow explain latest --lake lake",
        "moodflow explain latest --dataset mind --worst 5 --lake lake",
        "moodflow view latest --lake lake",
        "moodflow leaderboard tiny --lake lake",
    ]


def test_the_lowest_task_of_all_models_is_explained() -> None:
    # The better one has 20 in heart, the other 10 in mind.
    lines = screen(run(gated(), of_three(10, 9, 2, "ash"), of_three(10, 1, 3, "elm")), 100)
    assert "moodflow explain latest --model elm --setting base --dataset mind --worst 5 --lake lake" in lines


def test_a_vetoed_model_is_told_why() -> None:
    lines = screen(run(gated(), of_three(5, 5, 8)))
    assert " ".join(lines[1:4]).strip() == (
        "m is vetoed: its Safe score of 50.0 is below the required 60, so its total is 0 (71.0 without the veto). "
        "Weakest ability: Safe (50.0)."
    )


def test_repeated_items_are_counted_as_answers() -> None:
    # Ten items in each of two datasets, asked three times; the third dataset was not asked.
    scores = pl.concat([items(name, right(5), repetition=n) for name in ("mind", "heart") for n in range(3)])
    lines = screen(run_of(Path("lake"), gated(), {"item_scores": scores}, PLACE, repeat=3))
    assert "Scored of m: 2 of 3 datasets, 60 of 60 answers to 20 items" in lines


def test_six_models_are_ranked_with_bars() -> None:
    # Totals: 0.3 x able + 0.7 x kind; the last has no total, since its gate is below 60.
    scored = {"oak": (10, 9, 9), "elm": (10, 8, 8), "ash": (10, 8, 7), "fir": (9, 6, 6), "yew": (8, 5, 5), "ivy": (3, 9, 9)}
    past = run(gated(), *(of_three(*right_ones, name) for name, right_ones in scored.items()))
    lines = screen(past)
    any_rank = ("(1", "to", "5)")  # ten items each tell none of them apart
    start = next(n for n, line in enumerate(lines) if line.split() == ["#", "Model", "Total,", "95", "%", "interval"])
    assert [line.split() for line in lines[start + 1 : start + 7]] == [
        # Variance (0.09 + 0.49) x 0.09 / 9, t of 12.2 degrees: 2.175.
        ["1", *any_rank, "oak", "90.0", "[63.4,", "97.9]", "█" * 9],
        ["2", *any_rank, "elm", "80.0", "[52.4,", "93.6]", "█" * 8],
        ["3", *any_rank, "ash", "73.0", "[45.0,", "89.9]", "█" * 7 + "▎"],
        ["4", *any_rank, "fir", "60.0", "[33.9,", "81.5]", "█" * 6],
        ["5", *any_rank, "yew", "50.0", "[25.8,", "74.2]", "█" * 5],
        ["–", "ivy", "0.0", "vetoed"],
    ]
    assert lines[1].startswith("ivy is vetoed: its Safe score of 30.0")
    assert "yew         80.0 [49.0, 94.3] 50.0 [23.7, 76.3] 50.0 [23.7, 76.3]" in lines
    assert "Kind       90.0  80.0  70.0 60.0 50.0 90.0" in screen(past, 60)


def test_settings_show_their_gain_over_base() -> None:
    base, rag = (of_three(10, n, n, setting=setting) for n, setting in ((5, "base"), (8, "rag")))
    gain = {"base_0_100": 50.0, "setting_0_100": 80.0, "gain": 30.0, "ci_low": 12.5, "ci_high": 47.0, "n_items": 20}
    gains = frame(SettingGains, ({"model": "m", "setting": "rag", "scope": "total", **gain},))
    lines = screen(run(gated(), base, rag, setting_gains=gains))
    assert "m (RAG) scores 80.0 of 100 [52.4, 93.6]. Weakest ability: Able (80.0)." in lines
    assert next(line.split() for line in lines if line.startswith("1 m (RAG)"))[3:] == [
        "80.0",
        "[52.4,",
        "93.6]",
        "+30.0",
        "[12.5,",
        "47.0]",
    ]
    assert "Able        50.0 [23.7, 76.3]   80.0 [49.0, 94.3]" in lines


def test_headlines_stand_in_for_one_ability() -> None:
    specs = (MetricSpec(metric="accuracy", headline="Emotion"), MetricSpec(metric="token_f1", weight=0, headline="Preference"))
    design = blueprint(ability("attunement", task("d")), datasets={"d": measured(*specs)})
    lines = screen(run(design, items("d", right(9)), items("d", right(4), metric="token_f1")))
    assert lines[1:6] == [
        "m scores 90.0 of 100 [59.6, 98.2].",
        "",
        "Scores     95 % interval",
        "Emotion    90.0 [59.6, 98.2] ██████████████████",
        "Preference 40.0 [16.8, 68.7] ████████",
    ]


def test_dimensions_are_put_on_one_scale() -> None:
    row = {"model": "m", "dataset": "d", "setting": "base", "rubric": "gone", "judge": "j", "scale_min": 0, "scale_max": 4}
    counts = {"n_answers": 10, "n_total": 10, "n_clusters": 10}
    means = {"warmth": (3.0, 2.0, 4.0), "skill_of_asking": (1.0, None, None)}
    limits = [{"dimension": name, **dict(zip(("mean", "ci_low", "ci_high"), ends, strict=True))} for name, ends in means.items()]
    rated = frame(DimensionScores, tuple(row | counts | each for each in limits))
    lines = screen(run(blueprint(ability("able", task("d"))), items("d", right(5)), dimension_scores=rated))
    # 3 of 0 to 4 is 75 of 100.
    start = lines.index("measured †")
    assert any(line.startswith("† judged by j, which has no certificate for rubric gone") for line in lines)
    assert [line.split() for line in lines[start + 1 : start + 3]] == [
        ["Skill", "of", "asking", "25.0", "█" * 5],
        ["Warmth", "75.0", "[50.0,", "100.0]", "█" * 15],
    ]


def test_unread_replies_gaps_and_failures_are_told() -> None:
    unread = items("mind", [0.0] * 10, status=["unparsed"] * 4 + ["scored"] * 6)
    past = run(gated(), unread, items("safety", right(10)), items("heart", right(8)))
    gaps = tuple(Missing(dataset=name, reason="no such file", next_step="give it with --mirror") for name in ("a", "b"))
    past = replace(past, manifest=past.manifest.model_copy(update={"missing": gaps}))
    failure = FailedCalls(model="m", what="timeout_total: no reply in time", calls=3, next_step="Wait.", error="slow\x1b[2J")
    lines = screen(past, failures=(failure,), calls=CallCounts(sent=2033, answered=2030, failed=3))
    assert "Unread replies of m: 4 of 30 (13\u00a0%): mind 4" in lines
    assert "Missing: a, b: no such file; give it with --mirror" in lines
    assert "Calls: 2,033 sent, 2,030 answered, 0 from the journal, 3 failed" in lines
    assert "Failed: 3 calls of m, timeout_total: no reply in time. What to do: Wait." in lines
    assert "moodflow docs failures" in lines
    assert "No reply was scored" in screen(past, unread=())
    assert "  The first error: 'slow\\x1b[2J'" in lines


@pytest.mark.parametrize("width", [80, 120])
def test_many_systems_still_fit(width: int) -> None:
    names = [f"model-{n}" for n in range(20)]
    past = run(gated(), *(of_three(3, 5, 8, name) for name in names))
    lines = screen(past, width)
    assert "and 2 more: --json lists them" in " ".join(lines)
    assert "and 19 more: --json lists them" in lines


def test_few_datasets_show_scores_and_no_total(runs: PastRuns) -> None:
    out = ended("runs", "show", runs.after, "--lake", runs.lake).out
    assert "not comparable (the bundled items are not the paper's; moodflow explain gives" in " ".join(out.split())
    cells = {words[0]: words[1:] for line in out.splitlines() if (words := line.split())}
    # 8 items in two orders each: A is right 3 times, B 5 times, and it was always A.
    assert " ".join(cells["mini_text_classification"]) == "0.188 [0.058, 0.464] 16 0 no better than always answering B (0.312)"
    said = "every main ability. What was scored averages 37.5"
    assert said in " ".join(out.split())
