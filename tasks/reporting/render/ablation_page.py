"""Write the report of an ablation: report.html, complete in itself, and its summary report.md."""

import json
from dataclasses import dataclass
from typing import Any, NamedTuple

import dataframely as dy

from schemas.folders import Folder
from schemas.tables.comparisons import Ablations
from tasks.analysis.run_tables import ReportPaths
from tasks.reporting.content.ablations import describe_ablation
from tasks.reporting.render.page import make_environment, write_text
from tasks.reporting.render.summary import write_ablation_summary


@dataclass(frozen=True)
class AblationFacts:
    """What only the run itself knows. `notes`: what is missing or was done otherwise, in sentences."""

    run: str
    title: str
    benchmark: str
    started_at: str
    finished_at: str
    package_version: str
    git_commit: str | None
    plan: dict[str, Any]
    notes: tuple[str, ...] = ()

    @property
    def plan_json(self) -> str:
        """The plan, indented."""
        return json.dumps(self.plan, ensure_ascii=False, indent=2)


class Pages(NamedTuple):
    """The report of an ablation in both forms."""

    html: str
    markdown: str


def ablation_page(ablation: str, frame: dy.DataFrame[Ablations], facts: AblationFacts) -> Pages:
    """Return the report of one ablation.

    Args:
        ablation: name of the ablation; rows of others are left out.
        frame: scores by variant.
        facts: about the run.

    Raises:
        UsageError: if the frame has no row of this ablation.
    """
    # The drawing libraries take half a second to load; commands that draw nothing do not pay for it.
    from tasks.reporting.figures import comparison_figures as figures  # noqa: PLC0415
    from tasks.reporting.figures.drawing import COLOURS  # noqa: PLC0415

    outcomes = describe_ablation(ablation, frame)
    drawn = {entry.anchor: [("", svg)] if (svg := figures.draw_series(entry.series, entry.factor)) else [] for entry in outcomes}
    for entry in outcomes:
        drawn[entry.anchor] += [(heat.name, figures.draw_variants(heat)) for heat in entry.heat_maps]
    template = make_environment().get_template("ablation.html.jinja")
    html = template.render(ablation=ablation, outcomes=outcomes, facts=facts, drawn=drawn, colours=COLOURS)
    return Pages(html, write_ablation_summary(facts.title, facts.run, outcomes, facts.notes))


def write_ablation_report(ablation: str, frame: dy.DataFrame[Ablations], facts: AblationFacts, folder: Folder) -> ReportPaths:
    """Write `report.md` and `report.html` of an ablation into a folder, each at once or not at all.

    Raises:
        UsageError: if the frame has no row of this ablation.
        LakeError: if the disk refuses a file.
    """
    pages, paths = ablation_page(ablation, frame, facts), ReportPaths(folder / "report.md", folder / "report.html")
    write_text(paths.markdown, pages.markdown)
    write_text(paths.html, pages.html)
    return paths
