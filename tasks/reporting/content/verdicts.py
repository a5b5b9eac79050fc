"""State each model's total, in numbers and in one plain sentence, and what changed since the previous run."""

from collections import Counter
from collections.abc import Iterator

import polars as pl

from schemas.blueprint import Blueprint
from schemas.changes import TOTAL, Regression, RunChanges
from schemas.documents.leaderboard import JudgedTotal, Verdict, ranks_said
from schemas.paper import Comparability
from schemas.table import Cell, Column, Interval, Table, Value, columns
from tasks.leaderboard.rank_ranges import ranked_run
from tasks.reporting.content.caveats import Caveat, find_caveats
from tasks.runs.comparability import compare_with_paper
from tasks.runs.run_tables import ReportData, Row, System, from_row
from tasks.runs.verdict import judge_row, label_of, say_headline, why_unranked
from tasks.solvers.registry import setting_title
from tasks.text.number_format import counted, listed, number, percent

TOTAL_COLUMNS = (Column("Total", "score"), Column("95 % interval", "interval"), Column("Verdict", "verdict"))
"""Columns that say of a system what comes out."""


def total_cell(total: JudgedTotal) -> Cell:
    """Return the total, and what was scored where that is another number."""
    before = number(total.total_before_veto, 2)
    if total.verdict == "vetoed":
        return Cell(total.total, f"{before} before the veto")
    return Cell(total.total, "" if total.has_total or total.total_before_veto is None else f"what was scored: {before}")


def interval_cell(total: JudgedTotal) -> Cell:
    """Return the interval of the total; after a veto that of the total before."""
    both = Interval.of(total.ci_low, total.ci_high) if total.has_total else None
    return Cell(both, "before the veto" if both and total.verdict == "vetoed" else "")


class TotalVerdict(JudgedTotal):
    """Everything about the total of one system."""

    rank_note: str
    rank_range: str
    comparability: Comparability | None
    sentence: str
    trust: str
    caveats: tuple[Caveat, ...]

    @property
    def system(self) -> System:
        """Whose it is."""
        return System(self.model, self.setting)


def judge_systems(data: ReportData) -> tuple[TotalVerdict, ...]:
    """Return one verdict per system of the run, ranked ones first, then in the order of `ReportData.systems`."""
    totals = ranked_run(data, data.item_scores)
    ranked = Counter(totals.drop_nulls("rank")["setting"])
    records = compare_with_paper(data, data.paper)
    verdicts = (_judge(data, system, totals, ranked[system.setting], records.get(system)) for system in data.systems)
    return tuple(sorted(verdicts, key=lambda verdict: (verdict.rank is None, verdict.rank or 0)))


def _judge(data: ReportData, system: System, totals: pl.DataFrame, ranked: int, record: Comparability | None) -> TotalVerdict:
    row = next(iter(system.rows(totals)), None) or _no_totals(data, system)
    caveats = find_caveats(data, system, row)
    published = f" It is {record.position.words}." if record and record.position else ""
    return from_row(
        TotalVerdict,
        row,
        rank_note=_rank_note(row, data, ranked),
        rank_range=ranks_said(row.get("rank_low"), row.get("rank_high")),
        comparability=record,
        sentence=f"{row['headline']}{published}",
        trust=_trust(row["verdict"], caveats),
        caveats=caveats,
    )


def _no_totals(data: ReportData, system: System) -> Row:
    counts = {"datasets_scored": 0, "datasets_total": len(data.blueprint.datasets), "n_scored": 0, "n_total": 0, "coverage": 0.0}
    row = {**dict.fromkeys(data.totals.columns), **system._asdict(), **counts}
    row |= dict(zip(("verdict", "why"), judge_row(row, data.blueprint, None), strict=True))
    row["unranked"] = why_unranked(row, data.blueprint)
    return row | {"headline": say_headline(row, data.blueprint, None)}


def _rank_note(row: Row, data: ReportData, ranked: int) -> str:
    if row["rank"] is not None:
        within = f"; {ranks} are not ruled out" if (ranks := ranks_said(row["rank_low"], row["rank_high"])) else ""
        where = f" with {setting_title(row['setting'])}" if len(data.settings) > 1 else ""
        return f"{row['rank']} of {counted(ranked, 'ranked model')}{where} in this run{within}"
    return f"not ranked: {row['unranked']}"


def _trust(verdict: Verdict, caveats: tuple[Caveat, ...]) -> str:
    if verdict == "unscored":
        return "The reasons stand below; nothing here says anything about the model."
    if not caveats:
        more = " other" if verdict == "unreadable" else ""
        return f"No{more} reason for doubt: every dataset has a score, every reply could be read and no call failed."
    return f"Read with care: {listed([caveat.short for caveat in caveats])}."


LARGEST_FALLS = 3
"""Abilities, and dimensions, of a system that are named; the leaderboard and `moodflow compare` have the others."""


def state_said(changes: RunChanges) -> str:
    """Return a run's state in words, and whatever a canary found that is not as journaled."""
    return "; ".join((_state_said(changes), *changes.differences))


def _state_said(changes: RunChanges) -> str:
    if changes.state == "Failed":
        return "no call was answered"
    if changes.state == "BudgetSpent":
        return "the budget was spent before all calls were sent"
    if changes.previous is None:
        return changes.reason or "no earlier run"
    if changes.state == "Drifting":
        return "differences beyond the server's own noise"
    if changes.state == "UpToDate":
        canary = ", but for the canary" if changes.canary_calls else ""
        unchanged = "" if changes.differences else f"nothing changed since {changes.previous}: "
        return f"{unchanged}no model call was sent{canary}"
    regressed = [f"{label_of(system)} ({_finding_words(system.findings[0])})" for system in changes.regressed]
    return ", ".join(regressed) or f"no regression against {changes.previous}"


def _finding_words(finding: Regression) -> str:
    if finding.what == "veto":
        return "newly vetoed" if finding.after else "veto undecided"
    words = percent if finding.what.endswith("coverage") else number
    return f"{finding.what} {words(finding.before)} -> {words(finding.after)}"


def changes_table(changes: RunChanges, blueprint: Blueprint) -> Table:
    """Return each system's total before the veto, then abilities and rated dimensions that fell most, the largest fall first."""
    scores = (*columns("number", "Before", "Now"), Column("Change", "difference"), Column("95 % interval", "change"))
    titles = {TOTAL: "Total", **{main.id: main.title for main in blueprint.abilities}}
    rows: list[tuple[Value, ...]] = []
    for system in changes.units:
        totals = [score for score in system.changes if score.what == TOTAL]
        falls = [score for score in system.changes if score.what != TOTAL and (score.change or 0) < 0]
        falls.sort(key=lambda score: (score.change or 0) / (score.scale[1] - score.scale[0]))
        abilities, dimensions = ([score for score in falls if (score.rubric is not None) == rated] for rated in (False, True))
        for score in (*totals, *abilities[:LARGEST_FALLS], *dimensions[:LARGEST_FALLS]):
            ends = Interval.of(score.ci_low, score.ci_high)
            rows.append((label_of(system), titles.get(score.what, score.label), score.before, score.after, score.change, ends))
    return Table((*columns("name", "Model", "Score"), *scores), rows, "Changes since the previous run")


def change_notes(changes: RunChanges) -> Iterator[str]:
    """Yield which system was compared with another run or with none, warnings, and what was found on the way."""
    for system in changes.units:
        if changes.previous and (system.reason or system.previous != changes.previous):
            yield f"{label_of(system)}: {system.reason or f'compared with {system.previous}'}"
    yield from (f"{label_of(system)}: {remark}" for system in changes.units for remark in system.remarks)
    yield from changes.remarks
