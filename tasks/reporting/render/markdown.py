"""The report in markdown. Texts of models and datasets stand in code fences that they cannot close."""

from collections.abc import Iterable, Iterator

from tasks.analysis.number_format import NONE, count, counted, interval, number, percent, seconds, share_of, shorten
from tasks.reporting.content.caveats import NO_TASKS
from tasks.reporting.content.operations import write_costs
from tasks.reporting.content.tables import LevelCell, LevelRow, RawRow
from tasks.reporting.content.weaknesses import Example, Weakness
from tasks.reporting.render.markdown_comparison import (
    write_gains,
    write_judges,
    write_needles,
    write_request,
    write_results,
    write_retrieval,
    write_sides,
)
from tasks.reporting.render.markdown_sections import write_positions, write_provenance
from tasks.reporting.render.markup import cell, fence, table
from tasks.reporting.report import Report, SystemReport

LANGUAGE_NAMES = {"en": "English", "zh": "Chinese"}
REASON_LENGTH = 140
LABEL_LENGTH = 40


def write_markdown(report: Report) -> str:
    """The whole report as GitHub-flavoured markdown."""
    blocks = [
        f"# {cell(report.title)}",
        f"Run `{report.manifest.run}`, {report.manifest.started_at} to {report.manifest.finished_at}.",
        *([cell(report.provenance.short_note)] if report.provenance.short_note else []),
        *_totals(report),
        *write_sides(report.sides),
        *write_request(report.request),
        *write_gains(report.gains),
        *write_retrieval(report.retrieval),
        *write_needles(report.needles),
        *write_judges(report.judges),
    ]
    for entry in report.systems:
        blocks += _system(entry, report)
    blocks += [
        *_coverage(report),
        *write_results(report.field),
        *write_costs(report.costs),
        *write_provenance(report.provenance),
        *_lineage(report),
    ]
    return "\n\n".join(blocks) + "\n"


def _totals(report: Report) -> Iterator[str]:
    yield "## Result"
    for entry in report.systems:
        yield f"**{cell(entry.verdict.sentence)}** {cell(entry.verdict.trust)}"
    rows = []
    for entry in report.systems:
        verdict = entry.verdict
        total = number(verdict.total, 2) if verdict.state != "vetoed" else f"0 ({number(verdict.before_veto, 2)} before the veto)"
        rows.append(
            [
                cell(verdict.system.model),
                cell(verdict.system.setting),
                total if verdict.state != "unscored" else f"{NONE} (no score)",
                interval(verdict.ci_low, verdict.ci_high, 2),
                cell(verdict.rank_note),
                verdict.state_word,
                percent(verdict.coverage),
                f"{count(verdict.n_scored)} of {count(verdict.n_total)}",
            ]
        )
    yield table(["Model", "Setting", "Total", "95 % interval", "Rank", "State", "Coverage", "Items scored"], rows)


def _system(entry: SystemReport, report: Report) -> Iterator[str]:
    verdict = entry.verdict
    yield f"## {cell(entry.label)}"
    if verdict.veto_reason:
        yield f"Vetoed: {cell(verdict.veto_reason)}"
    if verdict.caveats:
        yield "\n".join(f"* {cell(caveat.text)}" for caveat in verdict.caveats)
    yield "### Abilities"
    abilities = [
        [
            cell(row.title) + (" (gate)" if row.is_gate else ""),
            number(row.score),
            f"{row.datasets_scored} of {row.datasets_total}",
            interval(row.published.low, row.published.high) if row.published else NONE,
            cell(shorten(row.reason or "", REASON_LENGTH)),
        ]
        for row in entry.abilities
    ]
    yield table(["Ability", "Score", "Datasets", "Published range", "Why no score"], abilities)
    if report.has_parts:
        yield from _levels(entry, has_levels=report.has_levels)
    yield "### Weakest tasks"
    for weak in entry.weak:
        yield from _weak(weak)
    if not entry.weak:
        yield "No task has a score below 100."
    yield from _all_tasks(entry, has_levels=report.has_levels)
    yield from write_positions(entry.positions)


def _levels(entry: SystemReport, *, has_levels: bool) -> Iterator[str]:
    yield "### Level by level" if has_levels else "### Sub-abilities"
    levels = [
        [
            cell(row.sub_ability),
            *(level_cell(found) for found in row.cells if has_levels),
            number(row.score),
            cell(shorten("; ".join(dict.fromkeys(level_gaps(row))), REASON_LENGTH)),
        ]
        for row in entry.levels
    ]
    scores = ["Low", "Medium", "High", "All levels"] if has_levels else ["Score"]
    yield table(["Sub-ability", *scores, "Why no score"], levels)


def level_cell(found: LevelCell) -> str:
    """Score and datasets of one level, or why there can be none."""
    return NO_TASKS if found.reason == NO_TASKS else f"{number(found.score)} ({found.datasets_scored} of {found.datasets_total})"


def level_gaps(row: LevelRow) -> list[str]:
    """Reasons for the missing scores of a sub-ability, levels without tasks apart."""
    return [found.reason for found in row.cells if found.reason is not None and found.reason != NO_TASKS]


def _weak(weak: Weakness) -> Iterator[str]:
    yield f"#### {cell(weak.task.title)}: {number(weak.task.score)}"
    yield _raw_table(weak.numbers)
    yield "\n".join(f"* {cell(advice.text)}" for advice in weak.advice)
    for example in weak.examples:
        yield f"Item {cell(example.item_id)} of {cell(example.dataset)} ({cell(example.source)}): {cell(example.why)}"
        yield fence(example_text(example))


def example_text(example: Example) -> str:
    """One evidence row as plain text."""
    lines = [f"Context: {example.context.short}"] if example.context else []
    if example.excerpt:
        part = example.excerpt
        lines.append(f"Context, {count(part.tokens)} tokens, around the needle:")
        before, after = (f"[{count(left)} characters]" for left in (part.left_before, part.left_after))
        lines.append(f"{before} {part.before}>>> {part.needle} <<<{part.after} {after}")
    lines.append(f"Question: {example.question.short}")
    for option in example.options:
        marks = [word for word, holds in (("right", option.is_gold), ("chosen", option.is_chosen)) if holds]
        marks += [] if option.points is None else [f"{number(option.points, 0)} points"]
        name = f"{option.letter}." if option.letter else "-"
        lines.append(f"  {name} {option.text}" + (f"  <- {', '.join(marks)}" if marks else ""))
    lines += [f"Reference: {reference}" for reference in example.references]
    if example.left_out_options:
        lines.append(f"  ({counted(example.left_out_options, 'other segment')} not shown)")
    lines.append("The reply is not in this run." if example.reply is None else f"Reply: {example.reply.short or '(empty)'}")
    lines += [
        f"Rating, {row.dimension} ({row.scale}): {', '.join(f'{judge}: {given}' for judge, given in row.given)}"
        for row in example.ratings
    ]
    return "\n".join(lines)


def _raw_table(rows: Iterable[RawRow]) -> str:
    heads = [
        "Dataset",
        "Method",
        "Metric",
        "Value",
        "95 % interval",
        "On 0-100",
        "Items",
        "Unreadable",
        "Constant answer",
        "Majority label",
        "Why no value",
    ]
    cells = [
        [
            cell(row.dataset),
            cell(row.method),
            cell(row.metric_label),
            number(row.value, 3),
            interval(row.ci_low, row.ci_high, 3),
            number(row.normalized_0_100),
            f"{count(row.n_scored)} of {count(row.n_total)}",
            percent(share_of(row.n_unparsed, row.n_scored)),
            _constant(row),
            f"{number(row.majority.share, 3)} ({cell(shorten(row.majority.label, LABEL_LENGTH))})" if row.majority else NONE,
            cell(shorten(row.reason or "", REASON_LENGTH)),
        ]
        for row in rows
    ]
    return table(heads, cells)


def _constant(row: RawRow) -> str:
    if row.constant is None:
        return NONE
    return ", ".join(f"{number(answer.share, 3)} ({answer.letter})" for answer in (row.constant, *row.baselines.ends))


def _all_tasks(entry: SystemReport, *, has_levels: bool) -> Iterator[str]:
    yield "### All tasks"
    rows = [
        [
            cell(row.title),
            *([row.level] if has_levels else []),
            number(row.score),
            f"{row.datasets_scored} of {row.datasets_total}",
            f"{count(row.n_scored)} of {count(row.n_total)}",
            cell(shorten(row.reason or "", REASON_LENGTH)),
        ]
        for row in entry.tasks
    ]
    yield table(["Task", *(["Level"] if has_levels else []), "Score", "Datasets", "Items scored", "What is missing"], rows)
    yield "### Raw scores"
    for path, numbers in entry.raw_by_ability:
        yield f"#### {cell(path)}"
        yield _raw_table(numbers)


def _coverage(report: Report) -> Iterator[str]:
    calls = report.manifest.calls
    yield "## Coverage and calls"
    yield (
        f"Calls: {count(calls.sent)} sent, {count(calls.answered)} answered, {count(calls.from_journal)} from the journal, "
        f"{count(calls.failed)} failed."
    )
    if report.manifest.missing:
        gaps = [
            [cell(gap.dataset), cell(gap.model or "all"), cell(gap.setting or "all"), cell(gap.reason), cell(gap.next_step)]
            for gap in report.manifest.missing
        ]
        yield table(["Dataset without score", "Model", "Setting", "Reason", "Next step"], gaps)
    if report.failures:
        failed = [
            [cell(row.system), cell(row.failure), count(row.calls), count(row.datasets), cell(row.example or NONE)]
            for row in report.failures
        ]
        yield table(["Model", "Failed calls", "Calls", "Datasets", "One of the errors"], failed)
    if report.judge_failures:
        judged = [[cell(row.system), cell(row.dataset), count(row.items)] for row in report.judge_failures]
        yield table(["Model", "Dataset", "Items without judgement"], judged)
    usage = [
        [
            cell(row.system),
            *(count(n) for n in (row.answered, row.failed, row.cut_off, row.prompt_tokens, row.completion_tokens)),
            seconds(row.latency_median_s),
            seconds(row.latency_p95_s),
        ]
        for row in report.usage
    ]
    heads = ["Model", "Answered", "Failed", "Cut off", "Prompt tokens", "Reply tokens", "Median latency", "95th percentile"]
    yield table(heads, usage)


def _lineage(report: Report) -> Iterator[str]:
    manifest = report.manifest
    yield "## Lineage"
    yield "\n".join(
        [
            f"* Run `{manifest.run}`",
            f"* Benchmark {cell(manifest.benchmark)}, blueprint `{manifest.blueprint_sha256}`",
            f"* moodflow {cell(manifest.package_version)}, git commit `{manifest.git_commit or 'none'}`",
        ]
    )
    layers = [
        [cell(layer.layer), count(len(layer.partitions)), count(layer.rows), count(layer.incomplete)] for layer in report.layers
    ]
    yield table(["Layer", "Partitions", "Rows", "Incomplete"], layers)
    yield "Plan:"
    yield fence(report.plan_json)
    yield f"{counted(len(manifest.partitions), 'partition')} with their hashes are listed in manifest.json."
