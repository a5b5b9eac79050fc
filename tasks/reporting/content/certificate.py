"""What people read of a certificate: verdicts with their rules, judge, people and constant side by side, checks, all figures."""

from collections.abc import Iterator

from schemas.documents.certificates import Certificate, JudgeAgreement
from schemas.table import Column, Interval, Table, Value, columns

SIDE_BY_SIDE = ("exact", "within_one", "kappa_quadratic", "mae", "bias", "spearman")
"""Statistics that are shown side by side; the others are in the table of all."""

SIDES = (
    *(*columns("text", "Judge", "Dimension", "Statistic", "Level"), Column("Units", "count"), Column("With people", "number")),
    *(Column("95 %", "interval"), *columns("number", "People with each other", "Judge, same targets", "Best constant")),
)


def certificate_tables(certificate: Certificate) -> Iterator[Table]:
    """Yield the tables of a certificate: verdicts first, then judge, people and constant, checks, and all figures."""
    heads = (Column("Dimension", "name"), Column("Verdict", "verdict"), Column("Rule that decided"))
    yield Table(heads, [(each.dimension, each.verdict, each.rule) for each in certificate.dimensions], "Verdict")
    own = [row for row in certificate.agreements if row.judge == certificate.judge and row.statistic in SIDE_BY_SIDE]
    sides = [_sides(row) for row in own if row.level != "by_item"]
    yield Table(SIDES, sides, "Judge, people and constant").without_constant("Judge")
    names = columns("text", "Check", "Variant", "Dimension", "Figure")
    numbers = (Column("Value", "number"), Column("95 %", "interval"), Column("Pairs", "count"))
    checks: list[tuple[Value, ...]] = []
    for figure in certificate.checks:
        ends, state = Interval.of(figure.ci_low, figure.ci_high), {True: "passed", False: "failed", None: ""}[figure.passed]
        of_figure = (figure.check, figure.variant, figure.dimension, figure.figure)
        checks.append((*of_figure, figure.value, ends, figure.n, figure.limit, state, figure.undefined_because))
    limits = (*columns("text", "Must be"), Column("Result", "verdict"), Column("Undefined because"))
    yield Table((*names, *numbers, *limits), checks, "Checks").without_empty("Variant", "Undefined because")
    everything = [(*_sides(row), row.undefined_because or row.human_undefined_because) for row in certificate.agreements]
    yield Table((*SIDES, Column("Undefined because")), everything, "All figures")


def _sides(row: JudgeAgreement) -> tuple[Value, ...]:
    names = (f"{row.judge} {row.rubric}".strip(), row.dimension, row.statistic, row.level)
    ends = Interval.of(row.value_low, row.value_high)
    return (*names, row.n_units, row.value, ends, row.human_value, row.same_targets_value, row.constant_value)


def certificate_counts(certificate: Certificate) -> Iterator[str]:
    """Yield what was asked, what was left out and what it took, a line each."""
    refused = f", {certificate.refused:,} rows refused" if certificate.refused else ""
    yield f"{certificate.texts:,} texts, {certificate.ratings:,} ratings by people{refused}"
    yield from (f"Left out: {count:,} ratings {reason}" for reason, count in certificate.left_out.items())
    undecided = ((each.dimension, ", ".join(each.missing_checks)) for each in certificate.dimensions)
    yield from (f"Checks not decided in {dimension}: {names}" for dimension, names in undecided if names)
    yield f"Ratings of the judge that are missing: {certificate.unread:,}"
    yield f"Calls: {certificate.calls.line}"
    yield f"Judge and rubric as they were used: {certificate.identity[:16]}"
