"""Which earlier run a run is compared with, why there is none, and what changed since."""

from pathlib import Path
from typing import Any

import polars as pl

from schemas.changes import Regression, RunChanges, SystemChanges
from schemas.lineage import CallCounts, CodeVersion, PartitionRef, RunManifest
from schemas.tables.layers import AGGREGATED, LAYERS
from tasks.compare.changes import LOOKED_BACK, changes_since, find_earlier
from tasks.compare.steps import check_regressions
from tasks.lake.lake import Lake
from tasks.lake.manifest import write_manifest
from tasks.lake.partitions import partition_key
from tasks.runs.comparable_runs import systems_of
from tasks.runs.run_tables import System
from tasks.scoring.benchmark import ScoreSettings, score_benchmark
from tasks.scoring.breakdowns import score_dimensions
from tests.rows import each_row
from tests.tasks.rows import answer, answers, item, judgement, judgements
from tests.tasks.rows import items as asked_items
from tests.tasks.runs.test_comparable_runs import CORE, ENTRY, manifest
from tests.tasks.scoring.samples import ability, blueprint, items, share, task


def found(lake: Path, run: RunManifest) -> dict[System, str]:
    earlier, _ = find_earlier(run, Lake(lake, CodeVersion("1", None)))
    return {system: one if isinstance(one, str) else one.run for system, one in earlier.items()}


def test_each_model_has_its_newest_earlier_run(tmp_path: Path) -> None:
    other = System("other", "base")
    both = {"models": [ENTRY, {"name": "other", "base_url": "http://two/v1"}]}
    for earlier in (
        manifest("20260101-a", (CORE, other), plan=both),
        manifest("20260102-a"),
        manifest("20260103-a", plan={"seed": 1}),
        manifest("20260101T000000000000Z.2-a"),  # after the run itself, whatever the clock said
    ):
        write_manifest(tmp_path, earlier)
    run = manifest("20260104T000000000000Z.1-a", (CORE, other), plan=both)
    write_manifest(tmp_path, run)  # it is no earlier run itself
    assert found(tmp_path, run) == {CORE: "20260102-a", other: "20260101-a"}
    assert list(systems_of(run)) == [CORE, other]


def test_why_there_is_none_is_said(tmp_path: Path) -> None:
    run = manifest("20260104-a")
    assert found(tmp_path, run)[CORE] == "no earlier run of tiny"
    write_manifest(tmp_path, manifest("20260101-a", plan={"seed": 1}))
    write_manifest(tmp_path, manifest("20260102-a", plan={"sample": 7}))
    write_manifest(tmp_path, manifest("20260103-a", benchmark="other"))
    told = "no earlier run can be compared; of the newest, 20260102-a: its sample: 7 instead of 300"
    assert found(tmp_path, run)[CORE] == told


def test_how_far_it_looked_back_is_said(tmp_path: Path) -> None:
    for number in range(LOOKED_BACK + 1):
        write_manifest(tmp_path, manifest(f"20260101-{number:03}", benchmark="other"))
    assert found(tmp_path, manifest())[CORE] == "no earlier run of tiny among the newest 100 in the lake"


def test_an_unreadable_manifest_is_passed_over_and_named(tmp_path: Path) -> None:
    write_manifest(tmp_path, manifest("20260101-a"))
    broken = write_manifest(tmp_path, manifest("20260102-a"))
    Path(str(broken)).write_text("{", encoding="utf-8")
    earlier, remarks = find_earlier(manifest("20260103-a"), Lake(tmp_path, CodeVersion("1", None)))
    assert remarks == ("run 20260102-a was passed over: the manifest of a run cannot be read",)
    assert earlier[CORE] == manifest("20260101-a")


DESIGN = blueprint(ability("able", task("d")), ability("kind", task("e")))


def leave(
    folder: Path, run: str, right: dict[str, int], lost: int = 0, rated: dict[str, int] | None = None, **fields: Any
) -> RunManifest:
    """Leave a run with so many of 10 items right in each dataset, of which the seeker lost the last in e.

    `rated`: the rating of all items of a dataset, 1 to 5. `question`: of every item.
    """
    question = fields.pop("question", "What fits?")
    lake, system = Lake(folder, CodeVersion("1", None)), CORE._asdict()
    values = {name: share(hits, 10) for name, hits in right.items()}
    if lost:
        values["e"][-lost:] = [None] * lost
    scores = {name: items(name, own, "core") for name, own in values.items()}
    scored = score_benchmark(pl.concat(scores.values()).lazy(), DESIGN, ScoreSettings())

    def write(layer: str, rows: pl.DataFrame, **place: str) -> PartitionRef:
        return lake.write(partition_key(layer, place, {"run": run}, [], "1"), rows, LAYERS[layer].schema)

    refs = [write(layer, scored.layer(layer)) for layer in AGGREGATED]
    for name, rows in scores.items():
        asked = asked_items(*(item(each, "counselor_reply", dataset=name, question=question) for each in rows["item_id"]))
        failed = (answer(f"e-{9 - n}", None, dataset=name, model="core", failed_role="seeker") for n in range(lost))
        refs += [write("items", asked, dataset=name), write("item_scores", rows, dataset=name, **system)]
        refs += [write("answers", answers(*(failed if name == "e" else ())), dataset=name, **system)]
        if rated:
            given = (judgement(each, "warmth", rated[name], dataset=name, model="core") for each in rows["item_id"])
            marks = judgements(*given)
            refs += [write("judgements", marks, dataset=name, judge="j", rubric="summary", **system)]
            refs += [write("dimension_scores", score_dimensions(marks, asked), benchmark=name)]
    plain: dict[str, Any] = {"partitions": tuple(refs), "blueprint": DESIGN.model_dump(mode="json"), "calls": CallCounts()}
    left = manifest(run, **plain | fields)
    write_manifest(folder, left)
    return left


def since(folder: Path, run: RunManifest) -> RunChanges:
    return changes_since(run, DESIGN, Lake(folder, CodeVersion("1", None)))


def test_equal_scores_have_changes_of_nothing(tmp_path: Path) -> None:
    first, again = (leave(tmp_path, f"2026010{day}-a", {"d": 10, "e": 5}) for day in (1, 2))
    found = since(tmp_path, again)
    assert (found.previous, found.reason, found.state) == (first.run, None, "Completed")
    (system,) = found.units
    told = [(one.what, one.before, one.change, one.ci_low, one.ci_high, one.n_items) for one in system.changes]
    assert told == [("total", 75, 0, None, None, 20), ("able", 100, 0, None, None, 10), ("kind", 50, 0, None, None, 10)]
    assert {one.note for one in system.changes} == {"the same replies"}
    # The same partitions are those of the run before.
    third = manifest("20260103-a", partitions=again.partitions, calls=CallCounts(), blueprint=again.blueprint)
    assert since(tmp_path, third).state == "UpToDate"


def test_a_fall_is_found_and_ends_the_check(tmp_path: Path) -> None:
    leave(tmp_path, "20260101-a", {"d": 10, "e": 10})
    found = since(tmp_path, leave(tmp_path, "20260102-a", {"d": 10, "e": 0}))
    assert found.state == "Regressed"
    assert [(one.what, one.before, one.after) for one in found.regressed[0].findings] == [("total", 100, 50), ("kind", 100, 0)]


def test_dimensions_rated_otherwise_are_compared(tmp_path: Path) -> None:
    right = {"d": 5, "e": 5}
    leave(tmp_path, "20260101-a", right, rated={"d": 4, "e": 3})
    (system,) = since(tmp_path, leave(tmp_path, "20260102-a", right, rated={"d": 2, "e": 3})).units
    rated = [(one.what, one.before, one.after) for one in system.changes if one.rubric]
    # The scores are those of before, and so are the ratings of e.
    assert (rated, [one.what for one in system.findings]) == ([("d: warmth", 4, 2)], ["d: warmth"])


async def test_the_check_fails_with_every_finding() -> None:
    findings = tuple(Regression(what="veto", before=False, after=True, message=message) for message in ("one", "two"))
    fell, held = SystemChanges(model="m", setting="rag", findings=findings), SystemChanges(model="n", setting="base")
    state = await check_regressions.fn(RunChanges(run="r", benchmark="tiny", state="Regressed", units=(fell, held)))
    assert (state.is_failed(), state.message) == (True, "m (RAG): one; m (RAG): two")
    assert await check_regressions.fn(RunChanges(run="r", benchmark="tiny", state="Completed", units=(held,))) is None


def test_other_datasets_or_items_are_not_compared(tmp_path: Path) -> None:
    leave(tmp_path / "more", "20260101-a", {"d": 5, "e": 5})
    (system,) = since(tmp_path / "more", leave(tmp_path / "more", "20260102-a", {"d": 6})).units
    assert [one.note for one in system.changes if one.note and one.note.startswith("not compared")] == [
        "not compared: it rests on e in one of the runs only",
        "not compared: it has no score in this run",
    ]
    leave(tmp_path / "other", "20260101-a", {"d": 5, "e": 5})
    asked = leave(tmp_path / "other", "20260102-a", {"d": 6, "e": 5}, question="Which?")
    (system,) = since(tmp_path / "other", asked).units
    assert {one.note for one in system.changes} == {
        *(f"not compared: the items of {names} are not the same" for names in ("d, e", "d", "e"))
    }


def test_items_lost_by_helpers_are_no_regression(tmp_path: Path) -> None:
    leave(tmp_path, "20260101-a", {"d": 5, "e": 5})
    found = since(tmp_path, leave(tmp_path, "20260102-a", {"d": 5, "e": 5}, lost=5))
    (system,) = found.units
    # 15 of 20 have a score, and 5 were lost by others: as many as a ranked model needs.
    assert (system.findings, found.state) == ((), "Completed")
    through = "because of failures of seeker (core), not of the model"
    assert system.remarks == (f"75.0 % of the items have a score, before it was 100.0 % {through}",)


def test_a_broken_earlier_run_is_not_compared(tmp_path: Path) -> None:
    first = leave(tmp_path, "20260101-a", {"d": 5, "e": 5})
    (tmp_path / first.partition("totals").path).unlink()
    found = since(tmp_path, leave(tmp_path, "20260102-a", {"d": 6, "e": 5}))
    assert (found.previous, found.state) == (None, "Completed")
    assert str(found.units[0].reason).startswith("run 20260101-a cannot be read: ")


USED = {"dataset": "d", "role": "tested", "model": "core", "calls": 4, "failed": 0, "unsent": 0}


@each_row(
    ("calls", "usage", "state"),
    [
        ({"failed": 4}, {"failed": 4}, "Failed"),
        ({"failed": 4}, {"failed": 1, "unsent": 3}, "Failed"),
        # One call was answered earlier.
        ({"failed": 3}, {"failed": 3}, "Completed"),
        ({"failed": 3}, {"failed": 2, "unsent": 1}, "BudgetSpent"),
        ({"sent": 1}, {}, "Completed"),
    ],
)
def test_how_a_run_ended(calls: dict[str, int], usage: dict[str, int], state: str, tmp_path: Path) -> None:
    run = leave(tmp_path / state / str(calls), "20260101-a", {"d": 5}, calls=CallCounts(**calls), usage=(USED | usage,))
    assert since(tmp_path / state / str(calls), run).state == state
