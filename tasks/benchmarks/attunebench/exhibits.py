"""Models by mode, each mode a group of its own, and how alike the parts of the benchmark rank them."""

from collections.abc import Iterator
from itertools import combinations

from schemas.chart import Axis, Chart, Point
from schemas.table import Table, columns
from tasks.benchmarks.attunebench.annotate import SETTING, AnnotateOptions
from tasks.benchmarks.attunebench.section import OF_TURN
from tasks.runs.exhibits import Exhibit, RankedModels
from tasks.runs.run_tables import Row
from tasks.runs.sections import Block
from tasks.scoring.benchmark import rank_correlations
from tasks.text.number_format import counted, number
from tasks.text.tables import MARKS, correlations_table, mark_scores

RHO, TITLE = "Spearman's rho", "Rank correlation of the parts"
WORDS = f"Scores on 0–100, marked within a group, mode and strategy: others may have been asked of other conversations. {MARKS}"


def lay_out_modes(models: RankedModels) -> Iterator[Block]:
    """Yield the scores that lead the report, a row per model, mode and strategy, and the rank correlation of the parts."""
    methods = [method for dataset in models.blueprint.datasets.values() for method in dataset.methods]
    headlines = {spec.metric: spec.headline for method in methods for spec in method.metrics if spec.headline}
    rows = sorted(_read(models), key=lambda row: (row["model"], row["mode"], row["strategy"]))
    if rows:
        names = columns("name", "Model", "Mode", "Strategy"), columns("count", "Group", "Conversations")
        heads = (*names[0], *names[1], *columns("score", *headlines.values()))
        cells = [[*map(row.get, ("model", "mode", "strategy", "group", "n", *headlines))] for row in rows]
        table = mark_scores(Table(heads, cells, "Model by mode"), [(row["group"], row["mode"], row["strategy"]) for row in rows])
        shown = table.without_constant("Strategy", "Group").without_empty(*headlines.values())
        yield Block("Model by mode", WORDS, (shown,))
        yield from _correlate(rows)


def _read(models: RankedModels) -> Iterator[Row]:
    """Yield model, mode, strategy, group, `n` conversations and scores on 0-100 by metric."""
    for row in models.rows:
        scored = models.read(row, "normalized_scores")
        if row.run and row.setting == SETTING and scored is not None:
            stated = models.runs[row.run].manifest.plan.get("solvers", {}).get(SETTING, {})
            own = AnnotateOptions.model_validate(stated).model_dump(include={"mode", "strategy"})
            scores = dict(scored.select("metric", "normalized_0_100").iter_rows())
            yield {"model": row.model, "group": row.group, "n": row.n_scored, **own, **scores}


def _correlate(rows: list[Row]) -> Iterator[Block]:
    """Yield how alike each two parts rank all models in all modes; nothing where no two parts can be compared."""
    rhos = rank_correlations({title: [row.get(metric) for row in rows] for metric, title in OF_TURN.items()})
    pairs = ((rhos[part][other], f"{part} and {other}") for part, other in combinations(rhos, 2))
    known = sorted(((rho, pair) for rho, pair in pairs if rho is not None), reverse=True)
    if not known:
        return
    (most, alike), (least, apart) = known[0], known[-1]
    over = counted(len(rows), "pair of model and mode", "pairs of model and mode")
    words = f"Over {over} {alike} rank most alike (rho {number(most, 2)})"
    words += f", {apart} least ({number(least, 2)})." if least < most else "."
    points = tuple(Point(rho, pair, is_own=True) for rho, pair in known)
    over = "Over all rows of the table above that have both parts, whatever their group."
    note = f"{over} 1: they rank alike; 0: as if unrelated; −1: in reverse."
    numbers = correlations_table(TITLE, "Part", rhos)
    yield Block(charts=(Chart(TITLE, words, "strips", points, numbers, x=Axis(RHO, -1, 1), note=note),))


EXHIBITS = (Exhibit("modes", lay_out_modes, frozenset({"attunement"}), is_of_models=False),)
