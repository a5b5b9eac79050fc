"""What the options of a command name: models and settings of a run, and a place in its blueprint."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from schemas.errors import UsageError
from tasks.explain.selection import MOST_LISTED, Selection, choose_systems, find_place, require_one
from tasks.runs.run_tables import System
from tests.rows import each_row
from tests.tasks.runs.runs import run_of
from tests.tasks.scoring.samples import ability, blueprint, items, task

LATER = ability("early", task("x")).model_copy(update={"id": "later", "evaluated": False, "tasks": ()})
DESIGN = blueprint(ability("able", task("d")), ability("kind", ability("kinder", task("e", datasets=("e", "f")))), LATER)


@each_row(
    ("wanted", "tier", "datasets"),
    [
        ({}, "total", ("d", "e", "f")),
        ({"ability": "kinder"}, "ability", ("e", "f")),
        ({"task": "task_e"}, "task", ("e", "f")),
        ({"ability": "kind", "task": "task_e", "dataset": "f"}, "dataset", ("f",)),
        ({"dataset": "d", "item": "d-1"}, "item", ("d",)),
    ],
)
def test_the_deepest_name_is_the_place(wanted: dict[str, Any], tier: str, datasets: tuple[str, ...]) -> None:
    selection = Selection(**wanted)
    assert (selection.tier, find_place(DESIGN, selection).datasets(DESIGN)) == (tier, datasets)


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
        find_place(DESIGN, Selection(**wanted))
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
    assert require_one(run, [n], "rows are those") == n
    with pytest.raises(UsageError, match="run r has no setting coem") as caught:
        choose_systems(run, Selection(setting="coem"))
    assert caught.value.expected == "one of base, rag"
    with pytest.raises(UsageError, match="model m was not asked in setting rag") as caught:
        choose_systems(run, Selection(model="m", setting="rag"))
    assert caught.value.expected == "m base or n rag"
    with pytest.raises(UsageError, match="rows are those of one model and setting, and several are left") as caught:
        require_one(run, [m, n], "rows are those")
    assert (caught.value.expected, caught.value.got) == ("one of m base, n rag", "2 of them")
    assert str(caught.value.next_step).startswith("for example --model m --setting base;")
