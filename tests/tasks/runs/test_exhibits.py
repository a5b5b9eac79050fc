"""Exhibits: what they are given, in which groups they stand, and the table that all of them make of models."""

import pytest

from schemas.documents.leaderboard import Group
from schemas.table import Column, Table
from tasks.runs import exhibits
from tasks.runs.exhibits import Exhibit, ModelRow, RankedModels, lay_out_exhibits, models_table, with_total
from tasks.runs.sections import Block
from tasks.scoring.blueprints import load_blueprint
from tasks.text.tables import as_cell
from tests.tasks.runs.model_rows import model_row

MINI = load_blueprint("moodbench-mini")


def shown(table: Table) -> tuple[list[str], list[list[object]]]:
    return [column.title for column in table.columns], [[as_cell(value).value for value in row] for row in table.rows]


def totals_table(rows: list[ModelRow]) -> Table:
    return models_table("T", rows, (Column("Total", "score"),), lambda row: (row.total_before_veto,))


def test_rows_say_whose_they_are_where_that_differs() -> None:
    own, near = model_row("own", 70.0, likeness="not comparable"), model_row("near", 60.0, likeness="close")
    theirs = [model_row("a", 65.0, is_own=False), model_row("b", 50.0, 2, is_own=False)]
    heads, rows = shown(table := totals_table([own, near, *theirs]))
    assert heads == ["Model", "Total", "From", "Comparability"]
    assert rows == [
        ["own", 70.0, "own", "not comparable"],
        ["near", 60.0, "own", "close"],
        ["a", 65.0, "paper", None],
        ["b", 50.0, "paper", None],
    ]
    # What is not comparable is neither the best nor moves the others' marks.
    assert [as_cell(row[1]).mark for row in table.rows] == [None, "second", "best", "lowest"]
    assert shown(totals_table(theirs))[0] == ["Model", "Total"]
    assert [as_cell(row[1]).mark for row in totals_table([own, near]).rows] == ["best", "second"]


def test_ranked_models_stand_first() -> None:
    few = model_row("few", 99.0, None, verdict="too little scored")
    vetoed = model_row("vetoed", 0.0, None, total_before_veto=90.0, vetoed=True, verdict="vetoed")
    rows = [model_row("last", 50.0, 2), few, vetoed, model_row("first", 60.0, 1)]
    assert [row.model for row in with_total(rows)] == ["first", "last", "vetoed"]


def test_each_group_has_exhibits_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    def name_models(models: RankedModels) -> list[Block]:
        return [Block(", ".join(row.model for row in models.rows))]

    rows = {
        "general": Exhibit("general", name_models),
        "own": Exhibit("own", name_models, frozenset({"emotional"})),
        "other": Exhibit("other", name_models, frozenset({"emotional", "patience"})),
        "design": Exhibit("design", name_models, is_of_models=False),
    }
    monkeypatch.setattr(exhibits, "EXHIBITS", rows)
    models = RankedModels(MINI, (model_row("a", 1.0), model_row("b", 2.0, group=2), model_row("p", 3.0, is_own=False)))
    groups = [Group(number=number, runs=(), basis={"sample": str(number)}) for number in (1, 2)]
    assert [(words, name, block.title) for words, name, block in lay_out_exhibits(models, groups)] == [
        ("", "design", "a, b, p"),
        (", group 1: sample 1", "own", "a, p"),
        (", group 1: sample 1", "general", "a, p"),
        (", group 2: sample 2", "own", "b, p"),
        (", group 2: sample 2", "general", "b, p"),
    ]
