"""Build the content of a report, before it becomes a page: everything computed, nothing formatted."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from schemas.certificates import CoveredDataset
from schemas.lineage import DatasetNotice, PartitionRef
from schemas.metrics import METRICS, Metric
from schemas.table import Cell, Column, Table, columns
from tasks.reporting.content.caveats import MissingScores, find_missing_scores
from tasks.reporting.content.helpers import lay_out_judges, lay_out_simulation
from tasks.reporting.content.position_bias import Positions, describe_positions
from tasks.reporting.content.request import Provenance, describe_provenance, lay_out_request
from tasks.reporting.content.retrieval import lay_out_needles, lay_out_retrieval
from tasks.reporting.content.score_tables import Headlines, describe_headlines, lay_out_gains, lay_out_groups, lay_out_headlines
from tasks.reporting.content.score_tree import Node, TreeSource, build_tree
from tasks.reporting.content.tables import RawRow, TaskRow, has_levels, metric_paths, raw_rows, task_rows, weakest
from tasks.reporting.content.verdicts import TotalVerdict, judge_systems
from tasks.reporting.content.weaknesses import WEAKEST, Weakness, find_reasons
from tasks.runs.run_tables import ReportData
from tasks.runs.score_tree import scores_of
from tasks.runs.sections import Section, lay_out_sections, shown_sections
from tasks.scoring.published import PublishedTable, as_table


@dataclass(frozen=True)
class SystemReport:
    """One model in one setting. `anchor` is its number in the page; `paper` has rows if its total may stand among the paper's."""

    anchor: str
    verdict: TotalVerdict
    weak: tuple[Weakness, ...]
    tree: Node
    paper: PublishedTable
    tasks: tuple[TaskRow, ...]
    raw: tuple[RawRow, ...]
    positions: Positions | None
    judges: tuple[CoveredDataset, ...] = ()

    @property
    def abilities(self) -> tuple[Node, ...]:
        """Main abilities with datasets, the gate included."""
        return tuple(node for node in self.tree.children if node.part.datasets_total)

    @property
    def levels(self) -> tuple[tuple[Node, Node], ...]:
        """Every ability that has tasks, behind the main ability it belongs to."""
        parents = {row.path.parent.id for row in self.tasks}
        return tuple((main, node) for main in self.abilities for node in main.walk() if node.part.id in parents)

    @property
    def label(self) -> str:
        """Name in headings."""
        return self.verdict.system.label


@dataclass(frozen=True)
class MethodNotes:
    """What a reader must know to understand the numbers.

    `metrics`: what is said of each. `reply_limits`: models whose replies the plan limits, with the limit in tokens. `design`:
    tasks, datasets and methods of each ability. `design_effects`: the greatest one per metric whose items share sources.
    `own_samples`: sizes of the samples that the blueprint states, by title. `deviations`: datasets that are asked or scored
    otherwise than in their papers.
    """

    metrics: Mapping[Metric, str]
    reply_limits: list[str]
    design: Table
    design_effects: Table
    own_samples: Mapping[str, int]
    deviations: tuple[DatasetNotice, ...]


@dataclass(frozen=True)
class Report:
    """Everything a report says, and the run it says it about. What a run does not have is null or empty."""

    data: ReportData
    systems: tuple[SystemReport, ...]
    provenance: Provenance
    leading: tuple[Section, ...]
    sections: tuple[Section, ...]
    headlines: tuple[Headlines, ...]
    method: MethodNotes

    @property
    def trusts(self) -> dict[str, list[str]]:
        """What to know before trusting a total, and the systems that each is said of."""
        said = dict.fromkeys(entry.verdict.trust for entry in self.systems)
        return {trust: [entry.label for entry in self.systems if entry.verdict.trust == trust] for trust in said}

    @property
    def has_changed(self) -> bool:
        """Whether there is more to say of the previous run than that nothing happened since."""
        return bool(self.data.changes and self.data.changes.state not in {"Completed", "UpToDate"})

    @property
    def has_levels(self) -> bool:
        """Whether tasks stand at several levels."""
        return has_levels(self.data.blueprint)

    @property
    def has_parts(self) -> bool:
        """Whether scores below the abilities say more than the abilities and tasks do."""
        return self.has_levels or any(main.title != node.title for entry in self.systems for main, node in entry.levels)


def build_report(data: ReportData) -> Report:
    """Compute everything a report says about a run."""
    gaps, verdicts = find_missing_scores(data), judge_systems(data)
    headlines = tuple(describe_headlines(data.blueprint, data.layers))
    side_by_side = lay_out_headlines(headlines, [verdict.system for verdict in verdicts])
    return Report(
        data=data,
        systems=tuple(_describe(data, verdict, gaps, f"m{number}") for number, verdict in enumerate(verdicts, start=1)),
        provenance=describe_provenance(data),
        leading=shown_sections(("headlines", "Scores side by side", side_by_side)),
        sections=shown_sections(
            ("asked", "What was asked", lay_out_request(data)),
            ("gains", "Gains over Base", lay_out_gains(data)),
            ("retrieval", "Retrieval", lay_out_retrieval(data)),
            ("needles", "Length and depth", lay_out_needles(data)),
            ("judges", "Judges", lay_out_judges(data)),
            *lay_out_sections(data),
            ("groups", "Groups of items", lay_out_groups(data)),
            ("simulation", "Simulated persons", lay_out_simulation(data)),
        ),
        headlines=headlines,
        method=describe_method(data),
    )


def _describe(data: ReportData, verdict: TotalVerdict, missing: MissingScores, anchor: str) -> SystemReport:
    system, paper = verdict.system, data.paper if verdict.has_total else as_table()
    scores = scores_of(data.layers, system, data.baselines)
    tasks, raw = task_rows(data.blueprint, scores), raw_rows(data, scores, missing)
    findings = find_reasons(data, system, tasks, raw)
    tree = build_tree(TreeSource(data, scores, anchor, missing, findings), verdict)
    return SystemReport(
        anchor=anchor,
        verdict=verdict,
        weak=tuple(findings[task.part.id] for task in weakest(tasks, WEAKEST)),
        tree=tree,
        paper=paper,
        tasks=tasks,
        raw=raw,
        positions=describe_positions(data, system),
        judges=data.judges,
    )


def describe_method(data: ReportData) -> MethodNotes:
    """Describe everything about the method that a reader of this run needs."""
    limits = {model["name"]: (model.get("sampling") or {}).get("max_tokens") for model in data.manifest.plan.get("models", ())}
    heads = (Column("Ability", "name"), *columns("count", "Tasks", "Datasets", "Methods"))
    own = data.blueprint.datasets.values() if data.manifest.plan.get("sample") is None else ()
    return MethodNotes(
        metrics={path.spec.metric: METRICS[path.spec.metric].words for path in metric_paths(data.blueprint)},
        reply_limits=[f"{name} {limit:,d}" for name, limit in limits.items() if limit],
        design=Table(heads, [(node.title, *counts) for node, *counts in data.blueprint.design()], "Tasks, datasets and methods"),
        design_effects=_design_effects_table(data),
        own_samples={entry.title: entry.sample for entry in own if entry.sample},
        deviations=tuple(notice for notice in data.manifest.datasets if notice.differences),
    )


def _design_effects_table(data: ReportData) -> Table:
    names = (Column("Dataset", "name"), Column("Metric", "code"))
    heads = (*names, *columns("count", "Items", "Sources"), Column("Design effect", "number"))
    effects = data.raw_scores.drop_nulls("design_effect").sort("design_effect", descending=True)
    greatest = effects.unique(["dataset", "metric"], keep="first", maintain_order=True)
    rows = greatest.select("dataset", "metric", "n_scored", "n_clusters", "design_effect").iter_rows()
    return Table(heads, [(data.title_of(name), *row) for name, *row in rows], "Design effects")


def partitions_table(layer: str, partitions: Sequence[PartitionRef]) -> Table:
    """Return the partitions of a layer."""
    rows = []
    for ref in partitions:
        key = ", ".join(f"{name}={value}" for name, value in ref.place)
        note = "" if ref.complete or ref.by_people else "incomplete: failed calls are asked again"
        rows.append((Cell(key, note), ref.rows, ref.fingerprint[:12], ref.content_sha256[:12]))
    heads = (Column("Partition"), Column("Rows", "count"), *columns("code", "Fingerprint", "Content"))
    return Table(heads, rows, f"Partitions of {layer}")
