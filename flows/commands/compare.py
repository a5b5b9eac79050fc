"""`moodflow compare RUN RUN`: compare the scores of two runs of a benchmark."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated

import typer
from rich.console import RenderableType

from flows.commands import options as opt
from flows.commands.console import CommandResult, bold, first_lines, terminal_table
from schemas.documents.answered_item import GivenAnswer
from schemas.documents.comparison import CommonScore, FlippedItem, RunComparison, RunDifference, StoredScore, SystemComparison
from schemas.documents.leaderboard import DimensionMean
from schemas.folders import DEFAULT_LAKE
from schemas.table import Cell, Column, Interval, Table, Value
from tasks.compare.regression import list_some
from tasks.compare.runs import compare_runs
from tasks.runs.comparable_runs import in_words
from tasks.runs.past_run import reopen
from tasks.runs.run_tables import System
from tasks.runs.verdict import name_score, say_total
from tasks.scoring.gains import MARGIN
from tasks.text.number_format import NONE, count, counted, shorten

MOST_DIFFERENCES = 15
WIDTH = 240

COMMON = (
    *(Column("Before", "score"), Column("After", "score"), Column("Difference", "difference")),
    *(Column("95 % interval", "change"), Column("Items", "count")),
    *(Column("Answer", "verdict"), Column("Detectable", "score")),
)
"""Columns of a score over the items that both runs scored."""

app = typer.Typer(add_completion=False)


@app.command()
def compare(
    before: Annotated[str, typer.Argument(metavar="RUN", help=f"the earlier run: {opt.HANDLES}")],
    after: Annotated[str, typer.Argument(metavar="RUN", help="the later run of the same benchmark, in any profile")],
    flips: Annotated[int, typer.Option(min=0, help="show N items that flipped in each direction, with both replies")] = 0,
    margin: Annotated[float, typer.Option(min=0, help="difference in points that would matter, chosen before")] = MARGIN,
    lake: opt.LakeFolder = None,
    as_json: opt.AsJson = False,
) -> None:
    """Compare two runs of a benchmark over the items that both scored.

    Ends with status 1 if the runs are not comparable in every respect.
    """
    document = compare_runs(lake or DEFAULT_LAKE, (before, after), flips, margin)
    blueprint = reopen(lake or DEFAULT_LAKE, document.after).blueprint
    titles = {main.id: main.title for main in blueprint.abilities}
    titles |= {name: dataset.title for name, dataset in blueprint.datasets.items()}
    CommandResult(int(bool(document.warnings)), document, _view(document, titles, flips)).finish(as_json=as_json)


def _view(document: RunComparison, titles: Mapping[str, str], flips: int) -> list[RenderableType]:
    view: list[RenderableType] = [bold(document.benchmark), f"Before: {document.before}", f"After: {document.after}"]
    view += [bold("Compare with care:", f" {warning}") for warning in document.warnings]
    for model in document.models:
        view += ["", terminal_table(_score_table(model, titles)), "", *_total_lines(model)]
        view += ["", terminal_table(_dimension_table(model)), ""] if model.dimension_scores else []
        view += [*(_flip_lines(model) if flips else _count_flips(model)), *_item_lines(model)]
        view += [line for item in model.flipped for line in _flipped(item)]
    for side, systems in (("before", document.only_before), ("after", document.only_after)):
        view += [f"Only {side}: {System(each.model, each.setting).label}" for each in systems]
    return [*view, *_differences(document.differences)]


def _score_table(model: SystemComparison, titles: Mapping[str, str]) -> Table:
    title = " -> ".join(dict.fromkeys(System(side.model, side.setting).label for side in (model.before, model.after)))
    stored = (Column("Stored before", "score"), Column("Stored after", "score"))
    rows = []
    changes: dict[tuple[str, str], float | None] = {(row.kind, row.id): row.difference for row in model.stored}
    changes |= {(row.kind, row.id): row.difference for row in model.common}

    def largest_fall_first(row: StoredScore) -> tuple[str, bool, float]:
        """Order abilities before datasets, both by the difference; what has none comes last."""
        change = changes[row.kind, row.id]
        return row.kind, change is None, change or 0.0

    order = sorted(model.stored, key=largest_fall_first)
    for name, common, own in score_rows(model.model_copy(update={"stored": order})):
        known = titles.get(name.strip(), name)
        both = [round(value, 2) if isinstance(value, float) else None for value in (*own, *common[:2])]
        differs = both[:2] != both[2:]
        rows.append((f"  {known}" if name.startswith(" ") else known, *common, *(own if differs else ("", ""))))
    empty = ("Answer", "Detectable", "Stored before", "Stored after")
    return Table((Column("Score of"), *COMMON, *stored), rows, title).without_empty(*empty)


def score_rows(model: SystemComparison) -> Iterator[tuple[str, tuple[Value, ...], tuple[Value, Value]]]:
    """Yield the name of each score of a pair, the total first; its cells of COMMON; and what each run has stored."""
    before, after = model.before, model.after
    common = {(row.kind, row.id): row for row in model.common}
    if total := next((row for row in model.common if row.kind == "total"), None):
        name = " -> ".join(dict.fromkeys(name_score(side.verdict).lower() for side in (before, after)))
        yield name, _common(total), (before.total_before_veto, after.total_before_veto)
    for row in model.stored:
        in_both = common.get((row.kind, row.id))
        # Two profiles measure by other methods, so that they have no items in common.
        cells = _common(in_both) if in_both else (None, None, row.difference, *(None,) * 4)
        yield f"{'  ' if row.kind == 'dataset' else ''}{row.id}", cells, (row.before, row.after)


def _common(score: CommonScore) -> tuple[Value, ...]:
    tested = (None, None) if score.p_value is None else (score.answer, score.smallest_detectable)
    return score.before, score.after, score.difference, Interval.of(score.ci_low, score.ci_high), score.n_items, *tested


def _total_lines(model: SystemComparison) -> Iterator[str]:
    before, after = model.before, model.after
    yield "Scores are over the items that both runs scored; if there are none, stored scores are compared."
    if model.unchanged:
        yield "Every reply is scored the same in both runs."
    if margins := [row.margin for row in model.common if row.p_value is not None]:
        yield (
            f"Answer: different, if the interval excludes 0; equivalent within {margins[0]:g} of 100 points; both: they differ "
            "by less. Detectable: the difference that 80 of 100 such runs would find."
        )
    for name, side in (("Before", before), ("After", after)):
        if side.unranked:
            yield f"{name}: {side.headline}"
    verdicts = f"{before.verdict} -> {after.verdict}"
    ranks = f"{count(before.rank)} -> {count(after.rank)}"
    coverage = f"{100 * before.coverage:.0f} % -> {100 * after.coverage:.0f} %"
    yield f"Total {say_total(before)} -> {say_total(after)}, {verdicts}, rank {ranks}, coverage {coverage}"


def _dimension_table(model: SystemComparison) -> Table:
    columns = (Column("Rated dimension"), Column("Scale", "name"), Column("Before", "number"), Column("After", "number"))
    rows = []
    for row in model.dimension_scores:
        scales = dict.fromkeys(f"{mean.scale_min} to {mean.scale_max}" for mean in (row.before, row.after) if mean)
        name = f"{row.dataset}: {row.dimension}{' (lower is better)' if row.better == 'low' else ''}"
        rows.append((name, " -> ".join(scales), _mean(row.before), _mean(row.after), row.difference))
    return Table((*columns, Column("Difference", "difference")), rows)


def _mean(mean: DimensionMean | None) -> Cell:
    return Cell(mean.mean, interval=Interval.of(mean.ci_low, mean.ci_high)) if mean else Cell(None)


def _count_flips(model: SystemComparison) -> Iterator[str]:
    fell, rose = sum(len(row.fell) for row in model.flips), sum(len(row.rose) for row in model.flips)
    if fell or rose:
        yield f"Items that flipped: {count(fell)} lower, {count(rose)} higher; --flips 3 lists them by dataset"


def _flip_lines(model: SystemComparison) -> Iterator[str]:
    for flips in model.flips:
        if not flips.fell and not flips.rose:
            continue
        fell, rose = ("right -> wrong", "wrong -> right") if flips.binary else ("lower", "higher")
        moved = f"{_counted_ids(flips.fell, fell)}; {_counted_ids(flips.rose, rose)}"
        yield f"{flips.dataset}, {flips.method}.{flips.metric}, {flips.n_items} common items: {moved}"


def _counted_ids(ids: Sequence[str], word: str) -> str:
    return f"{len(ids)} {word}" + (f" ({list_some(ids)})" if ids else "")


def _item_lines(model: SystemComparison) -> Iterator[str]:
    lines = []
    for row in model.items:
        others = {"only before": row.only_before, "only after": row.only_after, "changed under the same id": row.changed}
        if parts := [_counted_ids(ids, words) for words, ids in others.items() if ids]:
            lines.append(f"Items of {row.dataset}: {row.common} in both, {'; '.join(parts)}")
    yield from first_lines(lines)


def _flipped(item: FlippedItem) -> Iterator[RenderableType]:
    question = next((row.question for row in item.after), "")
    yield bold(f"\n{item.item_id}", f" of {item.dataset} {item.direction}: {shorten(question, WIDTH)}")
    for side, rows in (("before", item.before), ("after", item.after)):
        for row in rows:
            for score in (each for each in row.scores if (each.method, each.metric) == (item.method, item.metric)):
                answer: GivenAnswer = next((each for each in row.answers if each.part == score.part), row)
                value = NONE if score.value is None else f"{score.value:.4g}"
                reply = shorten(answer.reply or f"({answer.call or counted(len(row.answers), 'answer')})", WIDTH)
                part = f", part {score.part}" if score.part else ""
                yield f"  {side}{part}, {value}: {reply} -> {score.why}"


def _differences(differences: Sequence[RunDifference]) -> Iterator[RenderableType]:
    if differences:
        yield bold("What else differs", f", {counted(len(differences), 'thing')}:")
    changes = [f"  {row.what}: {shorten(in_words(row.before), 60)} -> {shorten(in_words(row.after), 60)}" for row in differences]
    yield from first_lines(changes, MOST_DIFFERENCES)
