"""What people read of a certificate: verdict and why, judge, people and constant side by side, checks, all figures."""

from collections import Counter
from collections.abc import Iterator

from schemas.documents.certificates import Certificate, CheckFigure, JudgeAgreement, JudgeCheck
from schemas.table import Column, Interval, Table, Value, columns
from tasks.text.number_format import count, listed

SIDE_BY_SIDE = (*((name, "pooled") for name in ("exact", "mae", "bias", "spearman")), ("spearman", "by_system"))
"""Statistic and level of what is shown side by side; the others are in the table of all."""

SIDES = (
    *(Column("Judge"), Column("Dimension", "name"), *columns("text", "Statistic", "Level"), Column("Units", "count")),
    *(Column("With people", "number"), Column("95 %", "interval")),
    *columns("number", "People with each other", "Same targets", "Best constant"),
)
"""Of a judge with people, people with each other, the judge with the targets of these, and the best constant with people."""

MOST_NAMED, FEW_CLUSTERS, NOT_TRIED = 3, 10, "not tried"


def certificate_tables(certificate: Certificate) -> Iterator[Table]:
    """Yield the tables of a certificate: verdicts first, then judge, people and constant, checks, and last two of all figures."""
    heads = (Column("Dimension", "name"), Column("Verdict", "verdict"), Column("Rule that decided"))
    yield Table(heads, [(each.dimension, each.verdict, each.rule) for each in certificate.dimensions], "Verdict")
    own = (row for row in certificate.agreements if row.judge == certificate.judge and row.value is not None)
    rows = {(row.dimension, row.statistic, row.level): row for row in own}
    keys = ((each.dimension, *key) for each in certificate.dimensions for key in SIDE_BY_SIDE)
    sides = [side_by_side(rows[key]) for key in keys if key in rows]
    yield Table(SIDES, sides, "Judge, people and constant").without_constant("Judge", "Level")
    limits = (Column("Check", "name"), *columns("text", "Figure", "Must be"))
    counted = (*columns("count", "Passed", "Failed", "Not decided"), Column("What failed, or why it is not decided"))
    yield Table((*limits, *counted), [*_checks(certificate)], "Checks")
    named = (Column("Check", "name"), *columns("text", "Variant", "Dimension", "Figure"))
    values = (Column("Value", "number"), Column("95 %", "interval"), Column("Pairs", "count"))
    results = (Column("Must be"), Column("Result", "verdict"), Column("Undefined because"))
    figures = [_figure(figure) for figure in certificate.checks if figure.undefined_because != NOT_TRIED]
    yield Table((*named, *values, *results), figures, "Figures of the checks").without_empty("Variant", "Undefined because")
    everything = [side_by_side(row) for row in certificate.agreements if row.value is not None]
    yield Table(SIDES, everything, "All figures of judges and people")


def side_by_side(row: JudgeAgreement) -> tuple[Value, ...]:
    """Return the cells of a row below SIDES."""
    names = (f"{row.judge} {row.rubric}".strip(), row.dimension, row.statistic, row.level)
    ends = Interval.of(row.value_low, row.value_high)
    return (*names, row.n_units, row.value, ends, row.human_value, row.same_targets_value, row.constant_value)


def _checks(certificate: Certificate) -> Iterator[tuple[Value, ...]]:
    """Yield a row per limit: how many figures of dimensions and variants keep it, and which do not."""
    groups: dict[tuple[str, str, str], list[CheckFigure]] = {}
    for figure in (figure for figure in certificate.checks if figure.limit and figure.undefined_because != NOT_TRIED):
        groups.setdefault((figure.check, figure.figure, figure.limit), []).append(figure)
    for group, figures in groups.items():
        states = [sum(figure.passed is state for figure in figures) for state in (True, False, None)]
        failed = [f"{figure.dimension} {figure.variant}".strip() for figure in figures if figure.passed is False]
        undecided = dict.fromkeys(figure.undefined_because or "" for figure in figures if figure.passed is None)
        some = [*failed[:MOST_NAMED], f"{count(len(failed) - MOST_NAMED)} more"] if len(failed) > MOST_NAMED else failed
        where = "; ".join(undecided) if not failed else "all of them" if len(failed) == len(figures) > 1 else listed(some)
        yield (*group, *states, where)


def _figure(figure: CheckFigure) -> tuple[Value, ...]:
    ends, state = Interval.of(figure.ci_low, figure.ci_high), {True: "passed", False: "failed", None: ""}[figure.passed]
    named = (figure.check, figure.variant, figure.dimension, figure.figure, figure.value, ends, figure.n)
    return (*named, figure.limit, state, figure.undefined_because)


def why(certificate: Certificate) -> str:
    """Return why a certificate has its verdict: the rule of the first dimension that has it, and of how many it holds."""
    worst = [each for each in certificate.dimensions if each.verdict == certificate.verdict]
    of = f"{len(worst)} of {len(certificate.dimensions)} dimensions, such as " if len(certificate.dimensions) > 1 else ""
    return f"Why: {of}{worst[0].dimension}: {worst[0].rule}"


def certificate_counts(certificate: Certificate) -> Iterator[str]:
    """Yield what was asked, what was left out and what it took, a line each."""
    refused = f", {certificate.refused:,} rows refused" if certificate.refused else ""
    yield f"{certificate.texts:,} texts, {certificate.ratings:,} ratings by people{refused}"
    yield from (f"Left out: {number:,} ratings {reason}" for reason, number in certificate.left_out.items())
    for names, told in ((certificate.not_rated, "people did not rate"), (certificate.not_asked, "the rubric does not have")):
        yield from [f"Dimensions that {told}: {', '.join(names)}"] if names else []
    untried = dict.fromkeys(figure.check for figure in certificate.checks if figure.undefined_because == NOT_TRIED)
    yield from [f"Checks that were not tried: {', '.join(untried)}"] if untried else []
    yield from agreement_notes(certificate)
    yield f"Ratings of the judge that are missing: {certificate.unread:,}"
    yield f"Calls: {certificate.calls.line}"
    yield f"Judge and rubric as they were used: {certificate.identity[:16]}"


def agreement_notes(document: Certificate | JudgeCheck) -> Iterator[str]:
    """Yield what is undefined, whether clusters are few, and each refused row, a line each."""
    undefined = Counter(row.undefined_because for row in document.agreements if row.value is None)
    yield from (f"Undefined: {n} rows, {why}" for why, n in undefined.items())
    if any(row.n_clusters is not None and row.n_clusters < FEW_CLUSTERS for row in document.agreements):
        yield f"Intervals rest on few clusters, below {FEW_CLUSTERS}"
    yield from (f"Refused: line {row.line}, {row.rule}" for row in document.refused_rows)
