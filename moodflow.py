"""MoodFlow from Python: evaluate models, and read what past runs found.

    import moodflow

    run = moodflow.evaluate("moodbench-mini", model="my-model", base_url="http://localhost:8000/v1")
    run.total
    run.scores()

What a command of `moodflow` does, these functions do by the same path, and return the same documents (`moodflow schema`). Frames
are of polars. What cannot be done raises MoodflowError with the fields what, where, expected, got and next_step. All of it works
where an event loop is running, as in a notebook. Warnings and progress go to standard error, and nothing to standard output.
"""

import sys
from collections.abc import Mapping, Sequence
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

ROOMS = ("flows", "schemas", "tasks")
"""MoodFlow's own packages, whose names may be those of modules of a user. Of its folder `data` no module is imported."""


def _hidden_room() -> str | None:
    """Return what hides a package of MoodFlow from this process, in one sentence; null = nothing does."""
    home = Path(__file__).resolve().parent
    for room in ROOMS:
        spec = find_spec(room)
        origin = Path(spec.origin or next(iter(spec.submodule_search_locations or ()), "")).resolve() if spec else None
        if origin != home / room / "__init__.py":
            return (
                f"{origin or f'no module {room}'} is found in place of MoodFlow's own package {room}: rename it, or start in another "
                "folder, which PYTHONPATH does not name either"
            )
    return None


if _hidden := _hidden_room():
    if Path(sys.argv[0]).stem == "moodflow":  # the command line, which tells an error in one message
        sys.stderr.write(f"Error: {_hidden}\n")
        raise SystemExit(2)
    raise ImportError(_hidden, name=__name__)

from schemas.errors import MoodflowError, UsageError  # noqa: E402  once it is known to be ours

if TYPE_CHECKING:
    import polars as pl

    from schemas.documents.comparison import RunComparison
    from schemas.documents.explanation import Explanation
    from schemas.documents.leaderboard import RankedSystems
    from schemas.documents.plan import RunForecast
    from schemas.documents.run import RunDocument, RunList
    from schemas.folders import Folder
    from schemas.plan import Plan
    from schemas.table import Table
    from tasks.runs.past_run import PastRun

__all__ = ["MoodflowError", "Run", "Runs", "evaluate", "forecast", "leaderboard", "run", "runs"]

Names = str | Path | Sequence[str | Path] | None
"""One name, or several."""


def main() -> None:
    """Run the command line."""
    from flows.cli import main as command_line  # noqa: PLC0415  which configures the process before it imports

    command_line()


def evaluate(
    benchmark: "str | Path | Plan | Mapping[str, Any]",
    *,
    model: Names = None,
    base_url: str | None = None,
    provider: str | None = None,
    api_key_env: str | None = None,
    judge: str | None = None,
    judge_base_url: str | None = None,
    roles: Mapping[str, Any] | None = None,
    datasets: Names = None,
    settings: Names = None,
    sample: int | None = None,
    seed: int | None = None,
    concurrency: int | None = None,
    config: Names = None,
    mirror: str | Path | None = None,
    lake: "str | Folder | None" = None,
    progress: bool = True,
    **plan: Any,
) -> "Run":
    """Evaluate models on a benchmark, from source files to report, and return the run.

    What is in the lake is not asked and not computed again, so that the same call later costs nothing.

    Args:
        benchmark: its name, the file of a blueprint, or a whole plan: a `schemas.plan.Plan` or a mapping with its fields.
        model: names of the models under test; `smollm2` comes with the install.
        base_url: of their OpenAI-compatible server.
        provider: one of `moodflow models list`, instead of the address.
        api_key_env: the name of the environment variable with the API key, never the key itself.
        judge: name of the model that judges free-text answers.
        judge_base_url: of its server.
        roles: models besides, by role: `{"seeker": "NAME@URL"}`, or mappings with the fields of a model.
        datasets: only these.
        settings: how items are asked; default base, or as the blueprint says.
        sample: items per dataset; default 300, or as the blueprint says.
        seed: of sampling and intervals; default 0.
        concurrency: most calls in flight at once; default 64.
        config: files with fields of the plan, or preset paper.
        mirror: folder with source files.
        lake: folder of the layers, or `s3://BUCKET/PREFIX`; default `parquet` in the working folder.
        progress: whether lines on standard error tell how far it is.
        plan: any other field, as `moodflow options` lists them: `repeat=3`, `profile="reference"`, `retrieval={"top_k": 8}`, and
            by path `**{"judge.api_key_env": "KEY"}`. Keywords win over paths of a `config`, and these over a preset.

    Raises:
        MoodflowError: a name, an option or a server is wrong. A run that ended, though not well, is returned: its document says
            what is missing and its state.
    """
    given = {
        **{"model": model, "base_url": base_url, "provider": provider, "api_key_env": api_key_env, "judge": judge},
        **{"judge_base_url": judge_base_url, "roles": roles, "datasets": datasets, "settings": settings, "sample": sample},
        **{"seed": seed, "concurrency": concurrency, "config": config, "mirror": mirror, "lake": lake, **plan},
    }
    stated = _read_plan(benchmark, given)
    document: RunDocument = _carry_out("run", stated, progress=progress)
    return run(document.run, stated.lake)


def forecast(benchmark: "str | Path | Plan | Mapping[str, Any]", **options: Any) -> "RunForecast":
    """Return the calls, tokens and money that `evaluate` with the same arguments would take; no model is asked."""
    progress = options.pop("progress", True)
    document: RunForecast = _carry_out("dry-run", _read_plan(benchmark, options), progress=progress)
    return document


def run(name: str = "latest", lake: "str | Folder | None" = None) -> "Run":
    """Return a past run by its name, `latest`, `latest~1`, a number such as `#12` or the beginning of its name.

    Raises:
        MoodflowError: there is no such run in the lake, or its manifest cannot be read.
    """
    from tasks.runs.past_run import reopen  # noqa: PLC0415

    return Run(reopen(_lake(lake), name))


def runs(lake: "str | Folder | None" = None) -> "Runs":
    """Return the runs of a lake, newest first; one that cannot be read is named on standard error and left out."""
    from tasks.lake.lake import Lake  # noqa: PLC0415
    from tasks.lake.manifest import read_code_version, read_manifests  # noqa: PLC0415
    from tasks.runs.past_run import describe_runs, past_run  # noqa: PLC0415

    folder = _lake(lake)
    stored = Lake(folder, read_code_version())
    return Runs([Run(past_run(manifest, stored)) for manifest in read_manifests(folder)], describe_runs(folder))


def leaderboard(
    benchmark: str, *, lake: "str | Folder | None" = None, runs: Sequence[str] = (), published: bool = False
) -> "RankedSystems":
    """Return the models of a benchmark, ranked: of these runs, by default the newest of each model; or those of its paper."""
    from tasks.leaderboard.across_models import describe_leaderboard  # noqa: PLC0415
    from tasks.leaderboard.ranking import published_leaderboard, rank_stored_systems  # noqa: PLC0415

    ranked = published_leaderboard(benchmark) if published else rank_stored_systems(benchmark, _lake(lake), runs, "corrected")
    return describe_leaderboard(ranked, ())


class Run:
    """A run of a lake. Frames are read from its layers when they are asked for, and checked against its manifest.

    Every frame has the columns `run`, `ability` (of the main tier) and `task`, and what its rows are joined by: `dataset`, `model`,
    `setting`, `item_id`, `part` and `repetition`.
    """

    def __init__(self, past: "PastRun") -> None:
        self.past = past
        """The run as the rest of MoodFlow reads it, with its manifest, blueprint and lake."""

    @property
    def name(self) -> str:
        """Return its name, which begins with its start time."""
        return self.past.name

    @cached_property
    def document(self) -> "RunDocument":
        """Return what `moodflow runs show --json` prints: scores, calls, cost, what is missing, the state."""
        from tasks.reporting.run_document import describe_run  # noqa: PLC0415

        return describe_run(self.past.manifest, self.past.lake)

    @property
    def total(self) -> float | None:
        """Return the total of its only model and setting on 0-100; null = it has none, and its headline says why.

        Raises:
            MoodflowError: the run has several; `scores()` and `document.models` have them all.
        """
        systems = self.document.models
        if len(systems) != 1:
            raise UsageError(
                f"the run has {len(systems)} totals",
                where=f"Run.total of {self.name}",
                expected="a run of one model in one setting",
                got=", ".join(f"{row.model} {row.setting}" for row in systems),
                next_step="run.document.models lists them with their totals, run.scores() has all scores",
            )
        return systems[0].total

    def scores(self) -> "pl.DataFrame":
        """Return a row per score, from the total down to the metrics of datasets; `kind` says which.

        `score` is on 0-100, null where nothing was scored. Of the total before the veto `ci_low` and `ci_high` are the ends of the
        95 % interval; of a metric `raw`, `raw_low` and `raw_high` are its value and the ends of its interval in its own unit.
        """
        import polars as pl  # noqa: PLC0415

        from tasks.runs.score_tree import list_scores, scores_of  # noqa: PLC0415

        rows = [
            {"run": self.name, **system._asdict(), **row}
            for system in self.past.systems
            for row in list_scores(scores_of(self.past.layers, system), self.past.blueprint)
        ]
        return pl.DataFrame(rows, infer_schema_length=None)

    def items(self) -> "pl.DataFrame":
        """Return a row per answer and metric: the question, what the reply was read as, and the value that it earned."""
        asked = self.past.read("items").select("dataset", "item_id", "language", "question_type", "subset", "question")
        return self._placed(
            self.past.read("item_scores").join(asked, on=["dataset", "item_id"], how="left", maintain_order="left")
        )

    def answers(self) -> "pl.DataFrame":
        """Return a row per answer: its text or its turns, and why there is none."""
        return self._placed(self.past.read("answers"))

    def ratings(self) -> "pl.DataFrame":
        """Return a row per rating of an answer: judge, dimension, scale, rating and rationale."""
        return self._placed(self.past.read("judgements"))

    def _placed(self, rows: "pl.DataFrame") -> "pl.DataFrame":
        import polars as pl  # noqa: PLC0415

        abilities = self.past.blueprint.abilities
        tasks = [(main.id, task) for main in abilities for _, node in main.walk() for task in node.tasks]
        places = [(self.name, ability, task.id, entry.id) for ability, task in tasks for entry in task.datasets]
        columns = ("run", "ability", "task", "dataset")
        of_datasets = pl.DataFrame(places, schema=dict.fromkeys(columns, pl.String), orient="row")
        placed = rows.join(of_datasets, on="dataset", how="left", maintain_order="left")
        return placed.select(*columns, pl.exclude(columns))

    def compare(self, earlier: "Run | str", *, flips: int = 0, bootstrap: int | None = None) -> "RunComparison":
        """Compare it with an earlier run of its benchmark in the same lake; differences are this run minus the earlier one.

        Args:
            earlier: that run, or what names it.
            flips: items of each direction, per model and setting, to be listed with both replies.
            bootstrap: resamples for intervals; default 1000.
        """
        from tasks.compare.runs import compare_runs  # noqa: PLC0415

        lake = self.past.lake.root
        if isinstance(earlier, Run) and str(earlier.past.lake.root) != str(lake):
            raise UsageError(
                "the two runs are in different lakes",
                where="Run.compare",
                expected=f"a run in {lake}",
                got=f"{earlier.name} in {earlier.past.lake.root}",
                next_step="moodflow journal import takes the replies of another lake in; then evaluate again",
            )
        before = earlier.name if isinstance(earlier, Run) else earlier
        return compare_runs(lake, (before, self.name), flips, bootstrap)

    def explain(self, *, where: str | None = None, **selection: Any) -> "Explanation":
        """Explain how a score came about, as `moodflow explain` does: the total, unless something below it is named.

        Args:
            where: a condition on items; scores of those that meet it, and of the others.
            selection: `model`, `setting`, `ability`, `task`, `dataset`, `item`, and of a dataset its `worst` rows, a number.
        """
        from flows.commands.explain import explain_run  # noqa: PLC0415
        from tasks.explain.totals import Selection  # noqa: PLC0415

        explanation: Explanation = explain_run(self.past, Selection(**selection), where).document
        return explanation

    def tidy(self) -> "pl.DataFrame":
        """Return the table that `moodflow export` writes: a row per value that an answer earned, with all that it is about."""
        import polars as pl  # noqa: PLC0415

        from tasks.runs.tidy import COLUMNS, read_tidy  # noqa: PLC0415

        return pl.concat([pl.DataFrame(schema=COLUMNS), *read_tidy(self.past)])

    def report(self, to: str | Path | None = None) -> "Folder":
        """Return the page of its report; with `to` it is written again, into that folder, from the lake alone."""
        lake, written = self.past.lake.root, self.past.manifest.report
        if to is None and written:
            return lake / written
        from tasks.lake.manifest import read_changes, run_folder  # noqa: PLC0415
        from tasks.lake.seal import REPORT  # noqa: PLC0415
        from tasks.reporting.page import write_report  # noqa: PLC0415
        from tasks.reporting.steps import load_report_data  # noqa: PLC0415

        folder = run_folder(lake, self.name) if to is None else Path(to)
        write_report(load_report_data(self.past, read_changes(lake, self.name)), folder)
        return folder / REPORT

    def __repr__(self) -> str:
        return "\n".join([f"Run {self.name} of {self.past.manifest.benchmark}", *(row.headline for row in self.document.models)])

    def _repr_html_(self) -> str:
        from html import escape  # noqa: PLC0415

        from schemas.table import Column, Table, columns  # noqa: PLC0415
        from tasks.runs.run_tables import System  # noqa: PLC0415

        systems = self.document.models
        heads = (Column("Ability", "name"), *columns("score", *(System(row.model, row.setting).label for row in systems)))
        rows = [(main.title, *(row.abilities.get(main.id) for row in systems)) for main in self.past.blueprint.abilities]
        sentences = "".join(f"<p>{escape(row.headline)}</p>" for row in systems)
        return f"{sentences}{_html_table(Table(heads, rows))}"


class Runs(list[Run]):
    """Runs of a lake, newest first; a notebook shows them as a table."""

    def __init__(self, runs: Sequence[Run], document: "RunList") -> None:
        super().__init__(runs)
        self.document = document
        """What `moodflow runs list --json` prints."""

    def _repr_html_(self) -> str:
        from schemas.table import Column, Table  # noqa: PLC0415

        rows = [(row.run, row.benchmark, row.started_at, row.state) for row in self.document.runs]
        return _html_table(Table((Column("Run", "name"), Column("Benchmark"), Column("Started"), Column("State")), rows))


def _html_table(table: "Table") -> str:
    from tasks.reporting.page import make_environment  # noqa: PLC0415

    shared: Any = make_environment().get_template("common.html.jinja").module
    return str(shared.show(table))


def _lake(folder: "str | Folder | None") -> "Folder":
    from schemas.folders import DEFAULT_LAKE, parse_folder  # noqa: PLC0415

    return DEFAULT_LAKE if folder is None else parse_folder(folder)


def _read_plan(benchmark: "str | Path | Plan | Mapping[str, Any]", given: Mapping[str, Any]) -> "Plan":
    """Return the plan that arguments of `evaluate` state, by the machinery that reads the options of `moodflow run`."""
    from dataclasses import fields  # noqa: PLC0415

    from flows.commands.plan_options import PlanOptions, read_plan  # noqa: PLC0415
    from schemas.plan import Plan  # noqa: PLC0415

    written = benchmark.model_dump() if isinstance(benchmark, Plan) else benchmark
    stated = dict(written) if isinstance(written, Mapping) else {"benchmark": str(written)}
    names = {option.name for option in fields(PlanOptions)}
    values = {name: value for name, value in given.items() if value is not None}
    options = {name: _as_option(name, values.pop(name)) for name in names & values.keys()}
    roles = {role: _as_field(role, model) for role, model in values.pop("roles", {}).items()}
    by_path = {path: _as_field(path, values.pop(path)) for path in [*values] if "." in path}
    stated |= {name: _as_field(name, value) for name, value in values.items()}
    stated["roles"] = {**stated.get("roles", {}), **roles}
    return read_plan(stated.pop("benchmark"), PlanOptions(**options), stated=stated, by_path=by_path)


def _as_option(name: str, value: Any) -> Any:
    """Return an argument as the command line gives the option of its name."""
    if name == "lake":
        return _lake(value)
    if name in ("mirror", "about"):
        return Path(value)
    several = [value] if isinstance(value, str | Path) else value
    if name in ("datasets", "settings"):
        return ",".join(several)
    return [str(each) for each in several] if name in ("model", "judge", "role", "set", "config") else value


def _as_field(path: str, value: Any) -> Any:
    """Return an argument as the field of a plan takes it; UsageError, with the nearest paths: there is no such field."""
    from flows.commands.plan_fields import find_field, parse_value  # noqa: PLC0415
    from schemas.plan import Plan  # noqa: PLC0415

    if path in Plan.model_fields and not isinstance(value, str):
        return value
    field = find_field(path, "an argument of evaluate")
    return parse_value(field, value) if isinstance(value, str) else value


def _carry_out(stage: str, plan: "Plan", *, progress: bool) -> Any:
    """Return the document of a stage, or of a dry run; the Prefect server is the user's, or one that ends with this process."""
    from flows.commands.process import require_certificates, require_prefect_settings  # noqa: PLC0415
    from flows.commands.stages import resolve_all  # noqa: PLC0415
    from flows.runtime.local_server import configure_prefect, temporary_server  # noqa: PLC0415

    configure_prefect("CRITICAL")
    require_certificates()
    require_prefect_settings()
    resolved = resolve_all([plan], whole=stage == "run")
    temporary_server()
    from flows.commands.run import stage_work  # noqa: PLC0415  which imports Prefect, as it is configured now
    from flows.runtime.prefect_flows import run_in_thread  # noqa: PLC0415

    return run_in_thread(stage_work(stage, *resolved)).document
