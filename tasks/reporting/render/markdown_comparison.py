"""Sections of the markdown report about settings, retrieval, needles and judges: each only where the run has it."""

from collections.abc import Iterator

from tasks.analysis.number_format import NONE, count, number, percent, setting_title, signed, signed_interval
from tasks.reporting.content.gains import ModelGains, SideBySide
from tasks.reporting.content.judges import HOW_TO_READ, JudgeReport
from tasks.reporting.content.published_models import PublishedModels
from tasks.reporting.content.request import ParameterRow, Request
from tasks.reporting.content.retrieval import CUTOFFS, NeedleGrid, RetrievalReport
from tasks.reporting.render.markup import cell, table


def write_request(request: Request | None) -> Iterator[str]:
    """Roles and parameters."""
    if request is None:
        return
    yield "## What was asked"
    preset = f" Parameters: preset `{request.preset}`." if request.preset else ""
    yield f"Settings: {cell(request.settings)}.{preset}"
    if request.notes:
        yield "\n".join(f"* {cell(note)}" for note in request.notes)
    yield table(["Role", "Model", "What it does"], ([cell(row.role), cell(row.players), cell(row.does)] for row in request.roles))
    for title, rows in (("retrieval", request.retrieval), ("the contexts", request.contexts)):
        if rows:
            yield f"Parameters of {title}:"
            yield table(["Parameter", "Value", "Meaning"], map(_parameter, rows))


def _parameter(row: ParameterRow) -> list[str]:
    return [cell(row.name), cell(row.value) + (" (set for this run)" if row.given else ""), cell(row.meaning)]


def write_sides(sides: SideBySide | None) -> Iterator[str]:
    """Every model in every setting."""
    if sides is None:
        return
    yield "### Settings side by side"
    rows = []
    for model in sides.models:
        for row in model.rows:
            scores = [number(found.score) + ("" if found.gain is None else f" ({signed(found.gain)})") for found in row.cells]
            rows.append([cell(model.model), cell(row.title), *scores])
    yield table(["Model", "Score", *sides.settings], rows)
    yield "In brackets: gain over Base, over the items scored in both settings."


def write_gains(gains: tuple[ModelGains, ...]) -> Iterator[str]:
    """What settings gain over base."""
    if not gains:
        return
    yield "## Gains over Base"
    for entry in gains:
        yield f"### Gains of {cell(entry.model)}"
        if entry.sentences:
            yield cell(" ".join(entry.sentences))
        rows = [
            [
                cell(row.title),
                cell(row.setting),
                number(row.base),
                number(row.value),
                signed(row.gain),
                signed_interval(row.ci_low, row.ci_high),
                count(row.n_items),
            ]
            for row in entry.rows
        ]
        yield table(["Score", "Setting", "In Base", "In the setting", "Gain", "95 % interval", "Items"], rows)


def write_retrieval(found: RetrievalReport | None) -> Iterator[str]:
    """How often the needle was found, and what it did."""
    if found is None:
        return
    yield "## Retrieval"
    rows = [
        [cell(row.title), cell(row.setting), row.stage, cell(row.model), *map(percent, row.recall), count(row.n_items)]
        for row in found.recall
    ]
    heads = [f"Recall at {k}" for k in CUTOFFS]
    yield table(["Dataset", "Setting", "Ranking", "Model", *heads, "Items with a needle"], rows)
    if found.kept:
        yield "Mean score where the needle's chunk went into the prompt and where it did not:"
        kept = [
            [
                cell(row.title),
                cell(row.model),
                cell(row.setting),
                f"{number(row.kept)} ({count(row.n_kept)})",
                f"{number(row.lost)} ({count(row.n_lost)})",
            ]
            for row in found.kept
        ]
        yield table(["Dataset", "Model", "Setting", "Shown (items)", "Not shown (items)"], kept)


def write_needles(grids: tuple[NeedleGrid, ...]) -> Iterator[str]:
    """Scores by length and depth."""
    if not grids:
        return
    yield "## Length and depth"
    for grid in grids:
        yield f"### {cell(grid.title)}: {cell(grid.system)}"
        if grid.sentence:
            yield cell(grid.sentence)
        rows = [
            [
                depth,
                *(NONE if found is None else f"{number(found.score)} ({count(found.n)})" for found in cells),
            ]
            for depth, cells in grid.by_depth
        ]
        yield table(["Depth", *(f"{length} tokens (items)" for length in grid.lengths)], rows)


def write_judges(judges: JudgeReport | None) -> Iterator[str]:
    """How far judges agree."""
    if judges is None:
        return
    yield "## Judges"
    yield cell(HOW_TO_READ)
    if judges.warnings:
        yield "\n".join(f"* {cell(warning)}" for warning in judges.warnings)
    rows = [
        [
            cell(row.title),
            cell(row.system),
            cell(row.dimension),
            cell(", ".join(row.judges)),
            count(row.n_answers),
            number(row.alpha, 2),
            signed(row.length_correlation, 2),
            signed(row.place_effect, 2),
        ]
        for row in judges.rows
    ]
    yield table(["Dataset", "Model", "Dimension", "Judges", "Answers", "Alpha", "Length", "Place"], rows)


def write_results(field: PublishedModels | None) -> Iterator[str]:
    """Published and own results of a paper with several settings."""
    if field is None or not field.results:
        return
    yield "## Beside the published models"
    if field.warning:
        yield cell(field.warning)
    rows = [
        [cell(row.model) + (" (this run)" if row.ours else ""), setting_title(row.setting), *map(number, row.scores)]
        for row in field.results
    ]
    yield table(["Model", "Setting", *map(cell, field.heads)], rows)
