"""Tables 2 and 4 of the LongEmotion paper for any models: one's own, the paper's, or both."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from schemas.paper import LIKENESS
from schemas.table import Cell, Column, Table, Value, columns
from tasks.benchmarks.longemotion.figures import Scores, compare_variants, lay_out_chunks, lay_out_lengths, lay_out_sages
from tasks.lake.manifest import read_manifests
from tasks.runs.exhibits import Exhibit, ModelRow, RankedModels, models_table, with_total
from tasks.runs.past_run import past_run
from tasks.runs.sections import Block
from tasks.solvers.registry import setting_title
from tasks.text.tables import MARKS, as_cell

SIX = {
    "emotion_classification": "EC",
    "emotion_detection": "ED",
    "emotion_qa": "QA",
    "emotion_summary": "ES",
    "emotion_conversation": "MC4",
    "emotion_expression": "EE",
}
"""Columns of Table 2, before the average."""

ON_FIVE = {"ES", "MC4"}
TIMES = 20
"""What the paper's ratings to 5 are multiplied by in its average."""


def lay_out_scores(models: RankedModels) -> Iterator[Block]:
    """Yield Table 2: a row per model, a group of columns per setting, ratings to 5 where the paper has them."""
    rows: dict[tuple[bool, str], dict[str, ModelRow]] = {}
    for row in with_total(models.rows):
        rows.setdefault((row.run is None, row.model), {})[row.setting] = row

    def cells(row: ModelRow) -> Iterator[Value]:
        for setting in models.settings:
            scored = rows[row.run is None, row.model].get(setting)
            yield from (scored.abilities.get(name) if scored else None for name in SIX)
            yield scored.total_before_veto if scored else None

    titles = (*SIX.values(), "Average")
    heads = [head for setting in models.settings for head in columns("score", *titles, group=setting_title(setting))]
    # Rows are compared whatever settings they have, and as far as the least comparable of these.
    farthest = [max(own.values(), key=_distance).model_copy(update={"setting": ""}) for own in rows.values()]
    if farthest:
        table = _rated_to_five(models_table("Scores by setting", farthest, heads, cells))
        yield Block("Scores by setting", f"{MARKS} ES and MC4 are ratings to 5, where 0.05 is such a point.", (table,))


def _distance(row: ModelRow) -> int:
    return LIKENESS.index(row.comparability.verdict) if row.comparability else 0


def _rated_to_five(table: Table) -> Table:

    def rate(value: Value) -> Cell:
        cell = as_cell(value)
        return cell._replace(value=cell.value / TIMES) if isinstance(cell.value, float) else cell

    rated = [head.title in ON_FIVE for head in table.columns]
    heads = (head._replace(kind="number") if head.title in ON_FIVE else head for head in table.columns)
    rows = [[rate(cell) if is_rated else cell for cell, is_rated in zip(row, rated, strict=True)] for row in table.rows]
    return Table(tuple(heads), rows, table.title)


def lay_out_thinking(models: RankedModels) -> Iterator[Block]:
    """Yield Table 4 of one's own models: the newest runs of the lake that differ in thinking alone, of which one is ranked."""
    lakes = [run.lake for run in models.runs.values()][:1]
    manifests = (manifest for lake in lakes for manifest in read_manifests(lake.root))
    runs = {manifest.run: past_run(manifest, lakes[0]) for manifest in manifests if manifest.benchmark == models.blueprint.name}

    def take(_record: object, parameters: dict[str, Any]) -> str:
        return ", ".join(parameters.pop("reasoning_effort", {}).values())

    newest: Scores = {}
    for scores in compare_variants(replace(models, runs=runs), take):
        newest = {system: by for system, by in scores.items() if by.keys() >= {"true", "false"}} | newest
    lines = [
        (ability, model, setting_title(setting), by["true"], by["false"], by["true"] - by["false"])
        for (model, setting, ability), by in newest.items()
    ]
    heads = (*columns("name", "Ability", "Model", "Setting"), *columns("score", "On", "Off"), Column("Gain", "difference"))
    if lines:
        title = "Scores with and without thinking"
        yield Block(title, "Of the newest runs that differ in thinking alone.", (Table(heads, lines, title),))


EXHIBITS = (
    Exhibit("methods", lay_out_scores, frozenset(SIX)),
    Exhibit("lengths", lay_out_lengths, frozenset(SIX)),
    Exhibit("sages", lay_out_sages, frozenset(SIX), is_of_models=False),
    Exhibit("chunks", lay_out_chunks, frozenset(SIX), is_of_models=False),
    Exhibit("thinking", lay_out_thinking, frozenset(SIX), is_of_models=False),
)
