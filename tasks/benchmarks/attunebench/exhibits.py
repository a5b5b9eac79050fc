"""Models by mode, each mode a group of its own, and how alike the parts of the benchmark rank them."""

from collections.abc import Iterator
from itertools import combinations, permutations
from typing import NamedTuple, get_args

from schemas.chart import Axis, Chart, Point
from schemas.table import Column, Table, columns
from tasks.benchmarks.attunebench.annotate import SETTING, AnnotateOptions
from tasks.benchmarks.attunebench.section import OF_TURN
from tasks.runs.exhibits import Exhibit, ModelRow, RankedModels
from tasks.runs.sections import Block
from tasks.scoring.benchmark import rank_correlation
from tasks.text.number_format import counted, number
from tasks.text.tables import MARKS, mark_scores

RHO = "Spearman's rho"
MODES = get_args(AnnotateOptions.model_fields["mode"].annotation)


class ReadSystem(NamedTuple):
    """A model in a mode and strategy, and its scores on 0-100 by metric."""

    row: ModelRow
    options: AnnotateOptions
    scores: dict[str, float | None]


def lay_out_modes(models: RankedModels) -> Iterator[Block]:
    """Yield the scores that lead the report, a row per model, mode and strategy, and the rank correlation of the parts."""
    systems = sorted(_systems(models), key=lambda each: (each.row.model, MODES.index(each.options.mode), each.options.strategy))
    methods = (method for dataset in models.blueprint.datasets.values() for method in dataset.methods)
    headlines = {spec.metric: spec.headline for method in methods for spec in method.metrics if spec.headline}
    if not systems:
        return
    lines = [
        (row.model, options.mode, options.strategy, row.group, row.n_scored, *map(scores.get, headlines))
        for row, options, scores in systems
    ]
    counts, parts = columns("count", "Group", "Conversations"), columns("score", *headlines.values())
    table = Table((*columns("name", "Model", "Mode", "Strategy"), *counts, *parts), lines, "Model by mode")
    marked = mark_scores(table, [(options.mode, options.strategy) for _, options, _ in systems])
    words = f"Scores on 0–100; modes may have been asked of other conversations. Within a mode and strategy: {MARKS}"
    yield Block("Model by mode", words, (marked.without_constant("Strategy", "Group").without_empty(*headlines.values()),))
    yield from _correlate(systems)


def _systems(models: RankedModels) -> Iterator[ReadSystem]:
    for row in models.rows:
        scored = models.read(row, "normalized_scores")
        if row.run and row.setting == SETTING and scored is not None:
            own = models.runs[row.run].manifest.plan.get("solvers", {}).get(SETTING, {})
            values = dict(scored.select("metric", "normalized_0_100").iter_rows())
            yield ReadSystem(row, AnnotateOptions.model_validate(own), values)


def _correlate(systems: list[ReadSystem]) -> Iterator[Block]:
    """Yield how alike each two parts rank all models in all modes; nothing where no two parts can be compared."""
    values = {title: [scores.get(metric) for _, _, scores in systems] for metric, title in OF_TURN.items()}
    rhos = {(part, other): rank_correlation(values[part], values[other]) for part, other in permutations(values, 2)}
    pairs = sorted(
        ((rho, f"{part} and {other}") for part, other in combinations(values, 2) if (rho := rhos[part, other]) is not None)
    )
    if not pairs:
        return
    title, (most, alike), (least, apart) = "Rank correlation of the parts", pairs[-1], pairs[0]
    over = counted(len(systems), "pair of model and mode", "pairs of model and mode")
    words = f"Over {over} {alike} rank most alike (rho {number(most, 2)})"
    words += f", {apart} least ({number(least, 2)})." if len(pairs) > 1 else "."
    chart = Chart(
        title,
        words,
        "strips",
        tuple(Point(rho, pair, is_own=True) for rho, pair in reversed(pairs)),
        Table((Column("Parts", "name"), Column(RHO, "number")), [(pair, rho) for rho, pair in reversed(pairs)], title),
        x=Axis(RHO, -1, 1),
        note="1: both rank alike; 0: as if unrelated; −1: the other way round.",
    )
    matrix = [(part, *(rhos.get((part, other), "") for other in values)) for part in values]
    heads = (Column("Part", "name"), *columns("number", *values))
    note = f"{RHO} over the rows of the table above that have both parts, models in all their modes; none of fewer than three."
    yield Block(title, note, tables=(Table(heads, matrix, title),), charts=(chart,))


EXHIBITS = (Exhibit("modes", lay_out_modes, frozenset({"attunement"}), is_of_groups=False),)
