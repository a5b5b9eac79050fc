"""Say what changed since the previous run: totals, the largest falls, regressions, and what else has to be known."""

from collections.abc import Iterator

from schemas.blueprint import Blueprint
from schemas.changes import TOTAL, RunChanges, SystemChanges
from schemas.table import Column, Interval, Table, Value, columns
from tasks.runs.run_tables import System

LARGEST_FALLS = 3
"""Abilities, and dimensions, of a system that are named; the leaderboard and `moodflow compare` have the others."""


def label_of(changes: SystemChanges) -> str:
    """Return the name of the system, as it stands wherever its scores do."""
    return System(changes.model, changes.setting).label


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
    regressed = ", ".join(map(label_of, changes.regressed))
    return f"regressed: {regressed}" if regressed else f"no regression against {changes.previous}"


def changes_table(changes: RunChanges, blueprint: Blueprint) -> Table:
    """Return each system's total before the veto, then abilities and rated dimensions that fell most, the largest fall first."""
    scores = (*columns("number", "Before", "Now"), Column("Change", "difference"), Column("95 % interval", "change"))
    titles = {TOTAL: "Total", **{main.id: main.title for main in blueprint.abilities}}
    rows: list[tuple[Value, ...]] = []
    for system in changes.units:
        totals = [one for one in system.changes if one.what == TOTAL]
        falls = [one for one in system.changes if one.what != TOTAL and (one.change or 0) < 0]
        falls.sort(key=lambda one: (one.change or 0) / (one.scale[1] - one.scale[0]))
        abilities, dimensions = ([one for one in falls if (one.rubric is not None) == rated] for rated in (False, True))
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
