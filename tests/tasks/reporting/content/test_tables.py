"""Score layers as rows: every expected row is written out."""

import polars as pl

from schemas.blueprint import Blueprint
from schemas.lineage import Missing
from schemas.table import Interval
from schemas.vocabulary import LEVELS
from tasks.reporting.content.caveats import find_missing_scores
from tasks.reporting.content.score_tree import Node
from tasks.reporting.content.tables import metric_paths
from tasks.reporting.report import build_report
from tasks.reporting.system_tables import abilities_table
from tasks.runs.baselines import Baselines, FixedAnswer
from tasks.runs.run_tables import System
from tasks.scoring.blueprints import load_blueprint
from tasks.scoring.published import as_table
from tasks.text.tables import as_cell
from tests.tasks.reporting.example_run import ALPHA, BETA, BLUEPRINT, GAMMA, PLAN, example_data, manifest

LOST = "its data is not published"


def shown(node: Node | None) -> tuple[str, float | None, int, int, str | None] | None:
    if node is None:
        return None
    return node.title, node.part.score, node.part.datasets_scored, node.part.datasets_total, node.reason


def test_abilities_with_their_published_range() -> None:
    alpha, _, gamma = build_report(example_data()).systems
    assert [shown(node) for node in alpha.tree.children] == [
        ("Values & Safety", 100.0, 1, 1, None),
        ("Emotional Ability", 25.0, 2, 3, None),
        ("Supporting Ability", None, 0, 0, "not evaluated in this version"),
    ]
    assert [node.title for node in alpha.abilities] == ["Values & Safety", "Emotional Ability"]
    # Published: values_safety 95, 90, 40; emotional 70, 20, 10.
    assert [as_cell(row[3]).value for row in abilities_table(alpha).rows] == [Interval(40.0, 95.0), Interval(10.0, 70.0), None]
    # Nothing stands beside published numbers where there is no total.
    assert {as_cell(row[3]).value for row in abilities_table(gamma).rows} == {None}
    reason = "nothing scored: 4 failed calls (mood); its data is not published (lost); no replies in this run (tale)"
    assert shown(gamma.abilities[1]) == ("Emotional Ability", None, 0, 3, reason)


def test_levels_distinguish_no_tasks_from_no_score() -> None:
    _, beta, _ = build_report(example_data()).systems
    (gate, safety), (main, recognition) = beta.levels
    assert (gate, main.title) == (safety, "Emotional Ability")
    assert [shown(safety.level(name)) for name in LEVELS] == [("Low level", 0.0, 1, 1, None), None, None]
    assert [shown(recognition.level(name)) for name in LEVELS] == [
        ("Low level", 100.0, 1, 2, None),
        ("Medium level", None, 0, 1, "nothing scored: 1 missing rating"),
        None,
    ]
    assert shown(recognition) == ("Emotion Recognition", 100.0, 1, 3, None)


def test_tasks_in_the_order_of_the_blueprint() -> None:
    rows = build_report(example_data()).systems[0].tasks
    assert [(row.part.title, row.path.path, row.path.task.level) for row in rows] == [
        ("Kindness", "Values & Safety", "low"),
        ("Moods", "Emotional Ability › Emotion Recognition", "low"),
        ("Tales", "Emotional Ability › Emotion Recognition", "medium"),
    ]
    part = rows[1].part
    assert (part.score, part.datasets_scored, part.datasets_total, part.n_scored, part.n_total) == (25.0, 1, 2, 4, 4)


def test_labels_say_which_end_is_best() -> None:
    labels = {path.spec.metric: path.metric_label for path in metric_paths(load_blueprint("attunebench-mini"))}
    assert labels["emotion_intensity_mae"] == "emotion_intensity_mae (lower is better; not in the total)"
    assert (labels["branch_managing"], labels["composite_score"]) == ("branch_managing (not in the total)", "composite_score")
    biased = {path.spec.metric: path.metric_label for path in metric_paths(load_blueprint("moodbench"))}
    assert biased["bias_score_ambiguous"] == "bias_score_ambiguous (0 is best)"


def test_raw_scores_with_the_constant_answer() -> None:
    data = example_data()
    kind, mood, lost, tale = build_report(data).systems[0].raw
    assert (mood.path.key, mood.path.title, mood.path.task.title) == (("mood", "choice", "accuracy"), "Mood", "Moods")
    assert (mood.path.path, mood.path.metric_label) == ("Emotional Ability › Emotion Recognition", "accuracy")
    assert (mood.value, mood.ci_low, mood.ci_high, mood.normalized_0_100) == (0.25, 0.1, 0.6, 25.0)
    assert mood.interval_0_100 == Interval(10.0, 60.0)
    assert (mood.n_scored, mood.n_unparsed, mood.n_total, mood.reason) == (4, 1, 4, None)
    # B is right in 3 of 4 items, always as "angry".
    assert mood.baselines == Baselines(FixedAnswer("B", 0.75), FixedAnswer("angry", 0.75))
    assert (kind.baselines.constant, kind.interval_0_100) == (FixedAnswer("A", 1.0), None)
    assert (lost.value, lost.normalized_0_100, lost.n_total, lost.reason) == (None, None, 0, LOST)
    assert (tale.path.method.id, tale.baselines.constant) == ("judge", None)


def test_interval_follows_the_theoretical_bounds() -> None:
    fields = BLUEPRINT.model_dump(mode="json")
    fields["datasets"]["mood"]["methods"][0]["metrics"][0]["normalisation"] = {"type": "numeric", "min": 0, "max": 2}
    fields["datasets"]["tale"]["methods"][0]["metrics"][0]["normalisation"] = {"type": "none"}
    data = example_data(blueprint=Blueprint.model_validate(fields))
    _, mood, _, tale = build_report(data).systems[0].raw
    # 0.1 and 0.6 of 0 to 2, and 0.2 and 0.3 as they are.
    assert mood.interval_0_100 == Interval(5.0, 30.0)
    assert tale.interval_0_100 == Interval(0.2, 0.3)


def test_the_most_specific_reason_wins() -> None:
    whose = (("general", None, None), ("of beta", "beta", None), ("in base", "beta", "base"), ("in rag", "beta", "rag"))
    missing = [Missing(dataset="lost", reason=why, next_step="x", model=model, setting=setting) for why, model, setting in whose]
    gaps = find_missing_scores(example_data(manifest=manifest(missing=missing)))
    assert [gaps.reason(system, "lost") for system in (ALPHA, BETA)] == ["general", "in base"]


def test_unselected_datasets_are_not_called_lost() -> None:
    gaps = find_missing_scores(example_data(manifest=manifest(missing=(), plan=PLAN | {"datasets": ["mood"]})))
    assert gaps.reason(ALPHA, "lost") == "not selected for this run"
    assert gaps.reason(System("nobody", "base"), "mood") == "no replies in this run"


def test_a_helper_whose_calls_failed_is_named() -> None:
    answers = example_data().answers.with_columns(failed_role=pl.col("failed_role").str.replace("tested", "draft_judge"))
    named = manifest(plan=PLAN | {"roles": {"draft_judge": {"name": "j"}}})
    for run, name in ((named, "j"), (manifest(), "gamma")):
        gaps = find_missing_scores(example_data(answers=answers, manifest=run))
        assert gaps.reason(GAMMA, "mood") == f"nothing scored: 4 failed calls of the draft judge ({name})"


def test_a_number_has_its_own_reason() -> None:
    scores = example_data().item_scores
    filler = {"metric": pl.lit("kendall_tau"), "status": pl.lit("not_counted")}
    fillers = GAMMA.of(scores).filter(dataset="mood").with_columns(**filler).cast(scores.schema)
    gaps = find_missing_scores(example_data(item_scores=pl.concat([scores, fillers])))
    assert gaps.reason(GAMMA, "mood", "choice", "accuracy") == "nothing scored: 4 failed calls"
    assert gaps.reason(GAMMA, "mood", "choice", "kendall_tau") == "nothing scored: 4 filler items"


def test_rows_without_a_published_table() -> None:
    table = abilities_table(build_report(example_data(paper=as_table())).systems[0])
    assert {as_cell(row[3]).value for row in table.rows} == {None}
