"""Why a dataset has no score."""

from collections import defaultdict
from dataclasses import dataclass

import polars as pl

from schemas.lineage import Missing
from tasks.analysis.number_format import counted, listed
from tasks.analysis.run_tables import ReportData, System

NO_TASKS = "no tasks at this level"
NOT_SELECTED = "not selected for this run"
NO_REPLIES = "no replies in this run"
MAX_NAMES = 3


@dataclass(frozen=True)
class MissingScores:
    """Reasons by dataset and system, gathered from the manifest and the status of the items."""

    missing: tuple[Missing, ...]
    selected: frozenset[str] | None
    statuses: dict[tuple[str, str, str], dict[str, int]]

    def reason(self, system: System, dataset: str) -> str:
        """Why this dataset gave this system no score; the most specific reason known."""
        if noted := self._noted(system, dataset):
            return noted.reason
        if self.selected is not None and dataset not in self.selected:
            return NOT_SELECTED
        return _from_statuses(self.statuses.get((system.model, system.setting, dataset), {}))

    def reasons(self, system: System, datasets: list[str]) -> str:
        """The reasons of several datasets, each said once, the commonest first; with names where reasons differ."""
        by_reason: dict[str, list[str]] = defaultdict(list)
        for dataset in datasets:
            by_reason[self.reason(system, dataset)].append(dataset)
        if len(by_reason) == 1:
            return next(iter(by_reason))
        ordered = sorted(by_reason.items(), key=lambda entry: -len(entry[1]))
        return "; ".join(f"{reason} ({_names(names)})" for reason, names in ordered)

    def _noted(self, system: System, dataset: str) -> Missing | None:
        fitting = [
            gap
            for gap in self.missing
            if gap.dataset == dataset and gap.model in {None, system.model} and gap.setting in {None, system.setting}
        ]
        return max(fitting, key=lambda gap: (gap.model is not None) + (gap.setting is not None), default=None)


def _names(names: list[str]) -> str:
    return listed(names) if len(names) <= MAX_NAMES else f"{', '.join(names[:MAX_NAMES])} and {len(names) - MAX_NAMES} more"


def find_gaps(data: ReportData) -> MissingScores:
    """Gather what is known about datasets without a score."""
    statuses: dict[tuple[str, str, str], dict[str, int]] = defaultdict(dict)
    counts = data.item_scores.group_by("model", "setting", "dataset", "status").agg(pl.struct("item_id", "repetition").n_unique())
    for model, setting, dataset, status, n in counts.iter_rows():
        statuses[model, setting, dataset][status] = n
    selected = data.manifest.plan.get("datasets")
    return MissingScores(data.manifest.missing, None if selected is None else frozenset(selected), dict(statuses))


def _from_statuses(statuses: dict[str, int]) -> str:
    if not statuses:
        return NO_REPLIES
    words = {"call_failed": "failed call", "judge_failed": "judge failure", "not_counted": "filler item"}
    parts = [counted(statuses[status], noun) for status, noun in words.items() if status in statuses]
    return f"nothing scored: {', '.join(parts)}" if parts else NO_REPLIES
