"""The figures of a run or a leaderboard by name: those of any benchmark, and what benchmarks add as exhibits."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from schemas.blueprint import Blueprint
from schemas.chart import Chart
from schemas.documents.leaderboard import Group, StoredRow
from schemas.errors import UsageError
from schemas.lineage import RunManifest
from tasks.lake.manifest import run_number
from tasks.leaderboard.ranking import LeaderboardData, run_rows
from tasks.reporting.content.retrieval import lay_out_needles
from tasks.reporting.content.score_tables import lay_out_gains
from tasks.reporting.content.system_charts import chart_systems, show_systems
from tasks.reporting.figures.pictures import draw_picture
from tasks.runs.baselines import score_constant_answers
from tasks.runs.evidence import read_tables
from tasks.runs.exhibits import RankedModels, lay_out_exhibits
from tasks.runs.past_run import PastRun
from tasks.scoring.published import paper_of
from tasks.text.number_format import counted, listed, moment

Named = Iterable[tuple[str, Chart]]
HEADLINE = "headline"


@dataclass(frozen=True)
class Figures:
    """What can be drawn. `about` says of what, `source` where it comes from; `charts` are made when they are asked for."""

    about: str
    source: str
    blueprint: Blueprint
    charts: tuple[Callable[[], Named], ...]


def draw_figure(figures: Figures, name: str = HEADLINE) -> str:
    """Return a figure as an SVG file. UsageError: there is none of this name; it names those there are."""
    names: dict[str, None] = {}
    for charts in figures.charts:
        made, blueprint = tuple(charts()), figures.blueprint
        if drawn := [chart for own, chart in made if own == name]:
            return draw_picture(blueprint.title, name, drawn, figures.source, blueprint.ability_word)
        names |= dict.fromkeys(own for own, _ in made)
    if not names:
        step = "moodflow runs show says what a run lacks; moodflow runs list shows other runs"
        what = f"{figures.about} has no scores to draw"
        raise UsageError(what, where="scores", expected="one score", got="none", next_step=step)
    raise UsageError(
        f"there is no figure {name} of {figures.about}",
        where="--name",
        expected=f"one of {listed(list(names))}",
        got=name,
        next_step="name one of these",
    )


def figures_of_run(run: PastRun) -> Figures:
    """Return the figures of a run."""
    rows = run_rows(run)
    own = tuple(StoredRow.model_validate({**row.model_dump(), "run": run.name, "group": 1, "fuller_run": None}) for row in rows)
    models = RankedModels(run.blueprint, own, paper_of(run.blueprint), {run.name: run})

    def systems() -> Named:
        return chart_systems(show_systems(run, rows, score_constant_answers(run.blueprint, run.baselines)), run.blueprint).items()

    def sections() -> Named:
        data = read_tables(run, ("totals", "setting_gains", "needle_scores"), {}).data
        for name, blocks in (("gains", lay_out_gains(data)), ("needles", lay_out_needles(data))):
            yield from ((name, chart) for block in blocks for chart in block.charts)

    source = source_of(run.manifest, run.blueprint)
    return Figures(f"run {run.name}", source, run.blueprint, (systems, sections, lambda: _exhibited(models, ())))


def source_of(manifest: RunManifest, blueprint: Blueprint) -> str:
    """Return where the picture of a run comes from, in a line."""
    number = run_number(manifest.run)
    return f"MoodFlow, {blueprint.title}, run {f'#{number}' if number else manifest.run}, {moment(manifest.finished_at)}"


def figures_of_leaderboard(ranked: LeaderboardData) -> Figures:
    """Return the figures of ranked models, a figure of its own for each group of runs."""

    def systems() -> Named:
        for group in ranked.groups:
            rows = [row for row in ranked.rows if isinstance(row, StoredRow) and row.group == group.number]
            run = ranked.runs[rows[0].run] if rows else None
            constants = score_constant_answers(run.blueprint, run.baselines) if run else {}
            shown = [system for row in rows for system in show_systems(ranked.runs[row.run], [row], constants)]
            apart = f", group {group.number}" if len(ranked.groups) > 1 else ""
            for name, chart in chart_systems(shown, ranked.blueprint).items():
                yield name, replace(chart, title=f"{chart.title}{apart}")

    newest = max((manifest.finished_at for manifest in ranked.manifests), default="")
    runs = counted(len(ranked.manifests), "run")
    source = f"MoodFlow, {ranked.blueprint.title}, {runs}{f', the last of {moment(newest)}' if newest else ''}"
    about = f"the leaderboard of {ranked.blueprint.name}"
    return Figures(about, source, ranked.blueprint, (systems, lambda: _exhibited(ranked.models, ranked.groups)))


def _exhibited(models: RankedModels, groups: Sequence[Group]) -> Named:
    for apart, name, block in lay_out_exhibits(models, groups):
        yield from ((name, replace(chart, title=f"{chart.title}{apart}")) for chart in block.charts)
