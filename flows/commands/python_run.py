"""A run as an object of Python: its scores, items, answers and ratings as frames, its documents, and how a notebook shows it."""

from functools import cached_property
from html import escape
from itertools import chain
from pathlib import Path
from typing import Any

import polars as pl

from flows.commands.explain import explain_run
from flows.commands.figure import write_picture
from flows.commands.runs_list import run_table
from schemas.documents.comparison import RunComparison
from schemas.documents.explanation import Explanation
from schemas.documents.run import RunDocument
from schemas.errors import UsageError
from schemas.folders import Folder
from schemas.table import Column, Interval, Table, Value
from tasks.compare.runs import compare_runs
from tasks.explain.totals import Selection
from tasks.lake.lake import Lake
from tasks.lake.manifest import read_changes, read_code_version, read_manifests, run_folder
from tasks.lake.seal import REPORT
from tasks.reporting.page import make_environment, write_report
from tasks.reporting.run_document import describe_run
from tasks.reporting.run_figures import HEADLINE, draw_figure, figures_of_run
from tasks.reporting.run_files import load_report_data
from tasks.runs.past_run import PastRun, past_run
from tasks.runs.run_list import describe_runs
from tasks.runs.run_tables import System
from tasks.runs.score_tree import list_scores, scores_of
from tasks.runs.tidy import COLUMNS, read_tidy
from tasks.runs.verdict import label_of

PLACE = ("run", "ability", "task", "dataset")


class Picture(str):
    """A figure as the text of an SVG file, which a notebook shows."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"Picture, {len(self):,} characters of SVG"

    def _repr_svg_(self) -> str:
        return str(self)


class Run:
    """A run of a lake. Frames are read from its layers and checked against its manifest when they are asked for.

    A frame of rows about items has what these are joined by: run, main ability, task, dataset, model, setting, item_id, part and
    repetition.
    """

    def __init__(self, past: PastRun) -> None:
        self.past = past
        """The same with its manifest, blueprint and lake."""

    @property
    def name(self) -> str:
        """Return its name, which begins with its start time."""
        return self.past.name

    @cached_property
    def document(self) -> RunDocument:
        """Return what `moodflow runs show --json` prints."""
        return describe_run(self.past.manifest, self.past.lake)

    @property
    def total(self) -> float | None:
        """Return the total on 0-100; null = there is none, and the headline says why. UsageError: the run has several systems."""
        systems = self.document.models
        if len(systems) != 1:
            raise UsageError(
                f"the run has {len(systems)} totals",
                where=f"total of run {self.name}",
                expected="a run of one model in one setting",
                got=", ".join(label_of(row) for row in systems),
                next_step="document.models has the total of each, scores() has all scores",
            )
        return systems[0].total

    def scores(self) -> pl.DataFrame:
        """Return a row per score, from the total down to the metrics of datasets; `kind` says which.

        `score` is on 0-100; null = nothing was scored. `raw` is the value of a metric in its own unit. `ci_low` and `ci_high` are
        the ends of the 95 % interval of that, and of the total before the veto. `constant` is the score of the best constant
        answer to each dataset below it; null = one of them has none.
        """
        rows = (
            {"run": self.name, **system._asdict(), **row}
            for system in self.past.systems
            for row in list_scores(scores_of(self.past.layers, system, self.past.baselines), self.past.blueprint)
        )
        return pl.DataFrame(list(rows), infer_schema_length=None)

    def items(self) -> pl.DataFrame:
        """Return a row per metric of an answer: the question, what the reply was read as, and the value that it earned."""
        asked = self.past.read("items").select("dataset", "item_id", "language", "question_type", "subset", "question")
        return self._placed(self.past.read("item_scores").join(asked, ["dataset", "item_id"], "left", maintain_order="left"))

    def answers(self) -> pl.DataFrame:
        """Return a row per answer: its text or turns, or why there is none."""
        return self._placed(self.past.read("answers"))

    def ratings(self) -> pl.DataFrame:
        """Return a row per rating: the judge, the dimension and its scale, the rating and its rationale."""
        return self._placed(self.past.read("judgements"))

    def tidy(self) -> pl.DataFrame:
        """Return the table that `moodflow export` writes: a row per value that an answer earned, with all that it is about."""
        return pl.concat([pl.DataFrame(schema=COLUMNS), *read_tidy(self.past)])

    def _placed(self, rows: pl.DataFrame) -> pl.DataFrame:
        tasks = [(main, task) for main in self.past.blueprint.abilities for _, node in main.walk() for task in node.tasks]
        places = [(self.name, main.id, task.id, entry.id) for main, task in tasks for entry in task.datasets]
        placed = pl.DataFrame(places, dict.fromkeys(PLACE, pl.String), orient="row")
        return rows.join(placed, "dataset", "left", maintain_order="left").select(*PLACE, pl.exclude(PLACE))

    def compare(self, earlier: "Run | str", *, flips: int = 0) -> RunComparison:
        """Compare it with an earlier run of its lake; a difference is this run minus the earlier one.

        Args:
            earlier: that run, or how the command line names it.
            flips: items of each direction that are listed with both replies, per model and setting.
        """
        before = earlier.name if isinstance(earlier, Run) else earlier
        return compare_runs(self.past.lake.root, (before, self.name), flips)

    def explain(self, *, where: str | None = None, **selection: Any) -> Explanation:
        """Explain how a score came about, as `moodflow explain` does.

        Args:
            where: a condition on items: scores of those that meet it, and of the others.
            selection: model, setting, ability, task, dataset, item, and worst, a number of rows of the dataset.
        """
        explanation: Explanation = explain_run(self.past, Selection(**selection), where).document  # type: ignore[assignment]
        return explanation

    def figure(self, name: str = HEADLINE, to: str | Path | None = None) -> Picture:
        """Draw a figure, as `moodflow figure` does; with `to` it is also written, into a file that ends in .png or .svg."""
        picture = Picture(draw_figure(figures_of_run(self.past), name))
        if to:
            write_picture(picture, Path(to))
        return picture

    def report(self, to: str | Path | None = None) -> Folder:
        """Return the page of its report; with `to` it is written again, into that folder, from the lake alone."""
        lake = self.past.lake.root
        folder = Path(to) if to else run_folder(lake, self.name)
        if to or not (folder / REPORT).exists():
            write_report(load_report_data(self.past, read_changes(lake, self.name)), folder)
        return folder / REPORT

    def __repr__(self) -> str:
        return "\n".join([f"Run {self.name}", *(row.headline for row in self.document.models)])

    def _repr_html_(self) -> str:
        systems = list(dict.fromkeys(System(row.model, row.setting) for row in self.document.abilities))
        scores: dict[str, list[Value]] = {}
        for row in self.document.abilities:  # of each model in turn
            scores.setdefault(row.title, []).extend((row.score, Interval.of(row.ci_low, row.ci_high)))
        of_system = ((Column(each.label, "score", 1), Column("95 % interval", "interval", 1)) for each in systems)
        heads = (Column("Ability", "name"), *chain.from_iterable(of_system))
        table = Table(heads, [(title, *values) for title, values in scores.items()], "Abilities")
        sentences = "".join(f"<p>{escape(row.headline)}</p>" for row in self.document.models)
        figure = self.figure() if any(row.score is not None for row in self.document.abilities) else ""
        return f"{sentences}{_to_html(table)}{figure}"


class Runs(list[Run]):
    """Runs of a lake, newest first; a notebook shows them as a table."""

    def __init__(self, folder: Folder) -> None:
        lake = Lake(folder, read_code_version())
        super().__init__(Run(past_run(manifest, lake)) for manifest in read_manifests(folder))
        self._folder = folder

    def _repr_html_(self) -> str:
        return _to_html(run_table(describe_runs(self._folder).runs))


def _to_html(table: Table) -> str:
    parts: Any = make_environment().get_template("common.html.jinja").module
    return str(parts.show(table))
