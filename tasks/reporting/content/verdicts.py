"""State each model's total, in numbers and in one plain sentence."""

from collections import Counter
from dataclasses import dataclass
from typing import Any, Literal

from schemas.blueprint import Blueprint
from schemas.comparability import Comparability
from tasks.analysis.comparability import compare_with_paper
from tasks.analysis.number_format import counted, describe_gate, interval, listed, number, percent, setting_title
from tasks.analysis.run_tables import ReportData, System, from_row
from tasks.reporting.content.benchmark import task_paths
from tasks.reporting.content.caveats import Caveat, find_caveats

State = Literal["counted", "vetoed", "undecided", "unscored"]
"""`counted`: a total that stands. `vetoed`: 0 by the gate. `undecided`: a total whose veto is open, since too little of the gate
was scored. `unscored`: no total.
"""


LEAST_COVERAGE = 0.5
"""A mean over fewer of a benchmark's datasets is no total of it."""


@dataclass(frozen=True, kw_only=True)
class SystemTotal:
    """The total of one system; scores are on 0-100, null means missing. `state_word`: its state in a word or two."""

    system: System
    state: State
    state_word: str
    total: float | None
    total_before_veto: float | None
    ci_low: float | None
    ci_high: float | None
    veto_reason: str | None
    rank: int | None
    coverage: float


@dataclass(frozen=True, kw_only=True)
class TotalVerdict(SystemTotal):
    """Everything about the total of one system."""

    gate_title: str | None
    gate_score: float | None
    gate_threshold: float | None
    rank_note: str
    datasets_scored: int
    datasets_total: int
    item_coverage: float | None
    comparability: Comparability | None
    n_scored: int
    n_total: int
    sentence: str
    trust: str
    caveats: tuple[Caveat, ...]


def say_state(state: State, blueprint: Blueprint) -> str:
    """Return a state in a word or two."""
    words: dict[State, str] = {
        "counted": "gate passed" if blueprint.gate else "scored",
        "vetoed": "vetoed",
        "undecided": "veto undecided",
        "unscored": "no score",
    }
    return words[state]


def say_veto(row: dict[str, Any], blueprint: Blueprint) -> str | None:
    """Return why a total is vetoed, from its row of `totals`: its own words have the id of the gate and six decimals."""
    if not row["vetoed"] or blueprint.gate is None:
        return None
    title = next(ability.title for ability in blueprint.abilities if ability.id == blueprint.gate.ability)
    return f"{title} scored {number(row['gate_score'], 2)}, below the threshold of {blueprint.gate.threshold:g}"


def judge_systems(data: ReportData) -> tuple[TotalVerdict, ...]:
    """Return one verdict per system of the run, in the order of `ReportData.systems`."""
    ranked = Counter(data.totals.filter(data.totals["rank"].is_not_null())["setting"])
    records = compare_with_paper(data, data.paper)
    return tuple(_judge(data, system, ranked[system.setting], records.get(system)) for system in data.systems)


def _judge(data: ReportData, system: System, ranked: int, record: Comparability | None) -> TotalVerdict:
    row = next(iter(system.rows(data.totals)), None) or _no_totals(data)
    state = state_of(row, data.blueprint)
    caveats = find_caveats(data, system, row)
    gate = data.blueprint.gate
    titles = {ability.id: ability.title for ability in data.blueprint.abilities}
    return from_row(
        TotalVerdict,
        row,
        system=system,
        state=state,
        state_word=say_state(state, data.blueprint),
        veto_reason=say_veto(row, data.blueprint),
        gate_title=titles[gate.ability] if gate else None,
        gate_threshold=gate.threshold if gate else None,
        rank_note=_rank_note(row, state, data, ranked),
        comparability=record,
        sentence=_sentence(data, system, row, state, record),
        trust=_trust(state, caveats),
        caveats=caveats,
    )


def _no_totals(data: ReportData) -> dict[str, Any]:
    counts = {"datasets_scored": 0, "datasets_total": len(data.blueprint.datasets), "n_scored": 0, "n_total": 0}
    return {**dict.fromkeys(data.totals.columns), **counts, "coverage": 0.0}


def state_of(row: dict[str, Any], blueprint: Blueprint) -> State:
    """Return what became of a total, from its row of `totals`."""
    if row["vetoed"]:
        return "vetoed"
    if row["total_before_veto"] is None:
        return "unscored"
    return "undecided" if row["vetoed"] is None and blueprint.gate is not None else "counted"


def _rank_note(row: dict[str, Any], state: State, data: ReportData, ranked: int) -> str:
    if row["rank"] is not None:
        where = f" with {setting_title(row['setting'])}" if len(data.settings) > 1 else ""
        return f"{row['rank']} of {counted(ranked, 'ranked model')}{where} in this run"
    if state != "counted":
        why = {"vetoed": "vetoed", "undecided": "the veto is undecided", "unscored": "no score"}[state]
    elif row["coverage"] < 1:
        why = f"coverage is {percent(row['coverage'])}"
    elif row["item_coverage"] is not None and row["item_coverage"] < data.blueprint.rank_item_coverage:
        why = f"only {percent(row['item_coverage'])} of the items have a score"
    else:
        why = "the run gives it no rank"
    return f"not ranked: {why}"


def _trust(state: State, caveats: tuple[Caveat, ...]) -> str:
    if state == "unscored":
        return "The reasons stand below; nothing here says anything about the model."
    if not caveats:
        return "Nothing lowers the trust in it: every dataset has a score, every reply could be read and no call failed."
    return f"Read it with care: {listed([caveat.short for caveat in caveats])}."


def _sentence(data: ReportData, system: System, row: dict[str, Any], state: State, record: Comparability | None) -> str:
    if state == "unscored":
        return f"{system.label} has no score: {_say_unscored(row)}."
    if state == "vetoed":
        return f"{system.label} is vetoed: {_say_vetoed(data.blueprint, row)}.{_weakest(data, system)}"
    bounds = f" (95 % interval {interval(row['ci_low'], row['ci_high'])})" if row["ci_low"] is not None else ""
    published = f", {record.position.words}" if record and record.position else ""
    if row["coverage"] < LEAST_COVERAGE:
        few = f"{row['datasets_scored']} of {counted(row['datasets_total'], 'dataset')} scored"
        over = f"over those it has {number(row['total'], 2)} of 100{bounds}"
        return f"{system.label} has no total of the benchmark: {few}; {over}.{_weakest(data, system)}"
    said = f"{system.label} scores {number(row['total'], 2)} of 100{bounds}{published}.{_weakest(data, system)}"
    return said if state == "counted" else f"{said} The veto is undecided, so this total is provisional: {describe_gate(row)}."


def _say_vetoed(blueprint: Blueprint, row: dict[str, Any]) -> str:
    threshold = f" below the required {number(blueprint.gate.threshold, 0)}" if blueprint.gate else ""
    before = row["total_before_veto"]
    otherwise = "nothing else was scored" if before is None else f"before the veto it would be {number(before, 2)}"
    return f"its total is 0, because the gate score of {number(row['gate_score'], 2)} is{threshold}; {otherwise}"


def _say_unscored(row: dict[str, Any]) -> str:
    datasets = counted(row["datasets_total"], "dataset")
    if not row["datasets_scored"]:
        return f"none of the {datasets} gave a result"
    return f"{row['datasets_scored']} of {datasets} gave a result, none that enters the total"


def _weakest(data: ReportData, system: System) -> str:
    abilities = {row["ability"]: row["score_0_100"] for row in system.rows(data.ability) if row["score_0_100"] is not None}
    tasks = {row["task"]: row["score_0_100"] for row in system.rows(data.task) if row["score_0_100"] is not None}
    if not abilities or not tasks:
        return ""
    weakest = min(abilities, key=abilities.__getitem__)
    if abilities[weakest] == 100:  # noqa: PLR2004  the best score there is
        return ""
    title = next(main.title for main in data.blueprint.abilities if main.id == weakest)
    paths = [path for path in task_paths(data.blueprint) if path.main.id == weakest and path.task.id in tasks]
    score, task = min(((tasks[path.task.id], path.task.title) for path in paths), default=(0.0, title))
    there = f", there in {task} ({number(score)})" if task != title else ""
    return f" It is weakest in {title} ({number(abilities[weakest])}){there}."
