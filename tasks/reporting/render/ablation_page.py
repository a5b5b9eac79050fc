"""Write the report of an ablation: report.html, complete in itself, and its summary report.md."""

import json
from typing import NamedTuple

import dataframely as dy

from schemas.folders import Folder
from schemas.lineage import RunManifest
from schemas.tables.comparisons import Ablations
from tasks.analysis.run_tables import ReportPaths
from tasks.reporting.content.ablations import describe_ablation
from tasks.reporting.render.page import make_environment, write_text
from tasks.reporting.render.summary import write_ablation_summary


class Pages(NamedTuple):
    """The report of an ablation in both forms."""

    html: str
    markdown: str


def ablation_page(frame: dy.DataFrame[Ablations], manifest: RunManifest) -> Pages:
    """Render the report of one ablation.

    Args:
        frame: scores by variant; rows of other ablations are left out.
        manifest: of the ablation's run.

    Raises:
        UsageError: if the frame has no row of this ablation.
    """
    # The drawing libraries take half a second to load; commands that draw nothing do not pay for it.
    from tasks.reporting.figures import comparison_figures as figures  # noqa: PLC0415
    from tasks.reporting.figures.drawing import COLOURS  # noqa: PLC0415

    name = (manifest.ablation or {})["name"]
    title = f"{name}: {manifest.benchmark}"
    notes = tuple(f"{gap.dataset} {gap.reason}; {gap.next_step}." for gap in manifest.missing)
    contents = describe_ablation(name, frame)
    drawn = {entry.anchor: [("", svg)] if (svg := figures.draw_series(entry.series, entry.factor)) else [] for entry in contents}
    for entry in contents:
        drawn[entry.anchor] += [(heat.name, figures.draw_variants(heat)) for heat in entry.heat_maps]
    html = (
        make_environment()
        .get_template("ablation.html.jinja")
        .render(
            ablation=name,
            title=title,
            notes=notes,
            contents=contents,
            manifest=manifest,
            plan_json=json.dumps(manifest.plan, ensure_ascii=False, indent=2),
            drawn=drawn,
            colours=COLOURS,
        )
    )
    return Pages(html, write_ablation_summary(title, manifest.run, contents, notes))


def write_ablation_report(frame: dy.DataFrame[Ablations], manifest: RunManifest, folder: Folder) -> ReportPaths:
    """Write `report.md` and `report.html` of an ablation into a folder, each at once or not at all.

    Args:
        frame: scores by variant.
        manifest: of the ablation's run.
        folder: where the files go.

    Raises:
        UsageError: if the frame has no row of this ablation.
        LakeError: if the disk refuses a file.
    """
    pages, paths = ablation_page(frame, manifest), ReportPaths(folder / "report.md", folder / "report.html")
    write_text(paths.markdown, pages.markdown)
    write_text(paths.html, pages.html)
    return paths
