"""What options of a command select, how numbers are told from the total down, and which part is looked at next."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from schemas.documents.explanation import ScoreExplanation
from schemas.errors import UsageError
from schemas.lineage import Missing
from tasks.explain.totals import MOST_LISTED, Selection, choose_systems, explain_score, find_place, require_one
from tasks.explain.words import part_rows
from tasks.runs.run_tables import System
from tests.rows import each_row
from tests.tasks.runs.runs import run_of
from tests.tasks.scoring.samples import ability, blueprint, gated, items, share, task

DESIGN = blueprint(
    ability("able", task("d"), weight=0.3),
    ability("kind", task("e", datasets=("e", "f"), f=3.0), weight=0.7),
)


def explained(
    folder: Path, hits: dict[str, int], missing: tuple[Missing, ...] = (), others: dict[str, int] | None = None, **wanted: Any
) -> ScoreExplanation:
    """The document of a run with so many of 5 items right by dataset; of a second model, `others`, likewise."""
    models = {"m": hits, "other": others or {}}
    scores = [items(dataset, share(right, 5), model) for model, of in models.items() for dataset, right in of.items()]
    run = run_of(folder, DESIGN, {"item_scores": pl.concat(scores)}, {})
    run = replace(run, manifest=run.manifest.model_copy(update={"missing": missing}))
    selection = Selection(**wanted)
    return explain_score(run, run.systems, selection, find_place(DESIGN, selection))


@each_row(
    ("hits", "wanted", "expected"),
    [
        # able 20, kind 60: 0.3 x 80 = 24 and 0.7 x 40 = 28 are lost, though able is lower.
        ({"d": 1, "e": 3, "f": 3}, {}, "--ability kind"),
        # 0.3 x 100 = 30 and 28.
        ({"d": 0, "e": 3, "f": 3}, {}, "--ability able"),
        # What has no score has no share to lose.
        ({"e": 4, "f": 4}, {}, "--ability kind"),
        ({"d": 1, "e": 0, "f": 4}, {"ability": "kind"}, "--task task_e"),
        # e 0, f 80, weighed 1 to 3: 0.25 x 100 = 25 and 0.75 x 20 = 15.
        ({"d": 1, "e": 0, "f": 4}, {"task": "task_e"}, "--dataset e"),
        # e 20, f 60: 0.25 x 80 = 20 and 0.75 x 40 = 30.
        ({"d": 1, "e": 1, "f": 3}, {"task": "task_e", "model": "m"}, "--dataset f --model=m"),
        # Nothing is below a dataset but its rows.
        ({"d": 1, "e": 0, "f": 4}, {"dataset": "e"}, None),
    ],
)
def test_what_takes_most_is_next(hits: dict[str, int], wanted: dict[str, Any], expected: str | None, tmp_path: Path) -> None:
    step = explained(tmp_path / str(len(list(tmp_path.iterdir()))), hits, **wanted).next
    assert (step and step[step.index("--") : step.index(" --lake")]) == expected


def test_the_way_from_the_total_is_told(tmp_path: Path) -> None:
    document = explained(tmp_path, {"d": 1, "e": 3, "f": 3}, dataset="f")
    above = [(step.kind, step.id) for step in document.above]
    assert above == [("total", "tiny"), ("ability", "kind"), ("task", "task_e")]
    assert (document.kind, document.id, document.level, document.adds_up) == ("dataset", "f", "dataset", True)
    assert document.models[0].part.score == 60


def test_missing_is_what_the_systems_lack_below(tmp_path: Path) -> None:
    gaps = [("d", None, None), ("d", "m", "base"), ("d", "m", "rag"), ("d", "other", "base"), ("e", "m", "base")]
    missing = tuple(
        Missing(dataset=dataset, model=model, setting=setting, reason="gone", next_step="-") for dataset, model, setting in gaps
    )
    document = explained(tmp_path, {"d": 1, "e": 3, "f": 3}, missing, ability="able")
    assert [(gap.dataset, gap.model, gap.setting) for gap in document.missing] == gaps[:2]


def test_parts_are_shown_to_the_next_kind(tmp_path: Path) -> None:
    def shown(number: int, **wanted: Any) -> dict[str, Any]:
        (model,) = explained(tmp_path / str(number), {"d": 1, "e": 3, "f": 3}, **wanted).models
        return {part.id: (part.next, bool(part.parts)) for part in (model.part, *model.part.parts)}

    command = "moodflow explain r --{} --lake {}"
    assert shown(0) == {
        "tiny": (None, True),
        "able": (command.format("ability able", tmp_path / "0"), False),
        "kind": (command.format("ability kind", tmp_path / "0"), False),
    }
    # Below a task everything is shown.
    assert shown(1, task="task_e") == {
        "task_e": (command.format("task task_e", tmp_path / "1"), True),
        "e": (command.format("dataset e", tmp_path / "1"), True),
        "f": (command.format("dataset f", tmp_path / "1"), True),
    }


def test_next_is_that_of_the_first_model(tmp_path: Path) -> None:
    # Able takes most from m, 0.3 x 100, and kind from the other, 0.7 x 100; m stands first with 0.7 x 80 = 56.
    document = explained(tmp_path, {"d": 0, "e": 4, "f": 4}, others={"d": 5, "e": 0, "f": 0})
    assert [model.model for model in document.models] == ["m", "other"]
    assert "--ability able" in (document.next or "")
    # Of several models a command names the one that it is about.
    (kind,) = (part for part in document.models[1].part.parts if part.id == "kind")
    assert "--ability kind --model other --setting base" in (kind.next or "")


LATER = ability("early", task("x")).model_copy(update={"id": "later", "evaluated": False, "tasks": ()})
DEEP_DESIGN = blueprint(ability("able", task("d")), ability("kind", ability("kinder", task("e", datasets=("e", "f")))), LATER)


@each_row(
    ("wanted", "tier", "datasets"),
    [
        ({}, "total", ("d", "e", "f")),
        ({"ability": "kinder"}, "ability", ("e", "f")),
        ({"task": "task_e"}, "task", ("e", "f")),
        ({"ability": "kind", "task": "task_e", "dataset": "f"}, "dataset", ("f",)),
        ({"dataset": "d", "item": "d-1"}, "item", ("d",)),
        ({"ability": "KINDER"}, "ability", ("e", "f")),
    ],
)
def test_the_deepest_name_is_the_place(wanted: dict[str, Any], tier: str, datasets: tuple[str, ...]) -> None:
    selection = Selection(**wanted)
    assert (selection.tier, find_place(DEEP_DESIGN, selection).datasets(DEEP_DESIGN)) == (tier, datasets)


APART = "leave one of the two options out, or "


@each_row(
    ("wanted", "what", "expected", "step"),
    [
        ({"dataset": "kinder"}, "tiny has no dataset kinder", "one of d, e, f", "it is a ability: --ability kinder"),
        ({"ability": "later"}, "ability later has no task in tiny", "an ability that is evaluated", None),
        (
            {"ability": "able", "task": "task_e"},
            *("task task_e does not belong to ability able", "one of task_d", f"{APART}did you mean task_d?"),
        ),
        (
            {"ability": "able", "dataset": "e"},
            *("dataset e does not belong to ability able", "one of d", f"{APART}name another one"),
        ),
        (
            {"task": "task_d", "dataset": "f"},
            *("dataset f does not belong to task task_d", "one of d", f"{APART}name another one"),
        ),
    ],
)
def test_a_place_that_is_none_is_told(wanted: dict[str, Any], what: str, expected: str, step: str | None) -> None:
    with pytest.raises(UsageError) as caught:
        find_place(DEEP_DESIGN, Selection(**wanted))
    assert (caught.value.what, caught.value.expected, caught.value.next_step) == (what, expected, step)


def test_many_names_are_counted_and_not_listed() -> None:
    names = [f"d{number}" for number in range(MOST_LISTED + 1)]
    for count, expected in ((MOST_LISTED, f"one of {', '.join(names[:-1])}"), (MOST_LISTED + 1, "one of its 13")):
        with pytest.raises(UsageError) as caught:
            find_place(blueprint(ability("a", task("d", datasets=names[:count]))), Selection(dataset="gone"))
        assert caught.value.expected == expected


def test_models_and_settings_are_chosen_together(tmp_path: Path) -> None:
    scores = [items("d", [1.0], "m"), items("d", [0.0], "n", setting="rag")]
    run = run_of(tmp_path, blueprint(ability("able", task("d"))), {"item_scores": pl.concat(scores)}, {})
    m, n = System("m", "base"), System("n", "rag")
    assert choose_systems(run, Selection()) == [m, n]
    assert choose_systems(run, Selection(model="n")) == choose_systems(run, Selection(setting="rag")) == [n]
    assert require_one(run, [n], "--worst") == n
    with pytest.raises(UsageError, match="run r has no setting coem") as caught:
        choose_systems(run, Selection(setting="coem"))
    assert caught.value.expected == "one of base, rag"
    with pytest.raises(UsageError, match="model m was not asked in setting rag") as caught:
        choose_systems(run, Selection(model="m", setting="rag"))
    assert caught.value.expected == "m base or n rag"
    with pytest.raises(UsageError, match="--worst needs one model and setting, but several match") as caught:
        require_one(run, [m, n], "--worst")
    assert (caught.value.expected, caught.value.got) == ("one of m base, n rag", "2 of them")
    assert str(caught.value.next_step).startswith("for example --model m --setting base;")


def test_the_counts_of_a_total_leave_out_the_gate(tmp_path: Path) -> None:
    scores = [items(dataset, share(2, 5)) for dataset in ("safety", "mind", "heart")]
    run = run_of(tmp_path, gated(), {"item_scores": pl.concat(scores)}, {})
    (model,) = explain_score(run, run.systems, Selection(), find_place(gated(), Selection())).models
    rows = [cells for _, cells in part_rows(model)]
    mean = next(cells for cells in rows if str(cells[0]).startswith("= "))
    # Two datasets of five items; those of the gate stand below.
    assert (mean[4:6], rows[-1][4:6]) == (("2", "10"), ("1", "5"))
