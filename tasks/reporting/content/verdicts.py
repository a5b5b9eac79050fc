"""State each model's total, in numbers and in one plain sentence."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from schemas.blueprint import Blueprint
from tasks.analysis.number_format import counted, interval, listed, number, percent, setting_title
from tasks.analysis.run_tables import ReportData, System
from tasks.reporting.content.benchmark import is_comparable, task_paths
from tasks.reporting.content.caveats import Caveat, find_caveats

State = Literal["counted", "vetoed", "gate_unscored", "unscored"]
"""`counted`: a total that stands. `vetoed`: 0 by the gate. `gate_unscored`: a total whose veto is open. `unscored`: no total."""


@dataclass(frozen=True)
class TotalVerdict:
    """Everything about the total of one system; scores are on 0-100, null means missing."""

    system: System
    state: State
    total: float | None
    before_veto: float | None
    ci_low: float | None
    ci_high: float | None
    gate_title: str | None
    gate_score: float | None
    gate_threshold: float | None
    veto_reason: str | None
    rank: int | None
    rank_note: str
    coverage: float
    datasets_scored: int
    datasets_total: int
    item_coverage: float | None
    n_scored: int
    n_total: int
    sentence: str
    trust: str
    caveats: tuple[Caveat, ...]

    @property
    def state_word(self) -> str:
        """The state in a word or two."""
        return say_state(self.state, has_gate=self.gate_title is not None)


def say_state(state: State, *, has_gate: bool) -> str:
    """Return a state in a word or two."""
    words: dict[State, str] = {
        "counted": "gate passed" if has_gate else "scored",
        "vetoed": "vetoed",
        "gate_unscored": "gate not scored",
        "unscored": "no score",
    }
    return words[state]


def judge_systems(data: ReportData) -> tuple[TotalVerdict, ...]:
    """Return one verdict per system of the run, in the order of `ReportData.systems`."""
    ranked = Counter(data.totals.filter(data.totals["rank"].is_not_null())["setting"])
    return tuple(_judge(data, system, ranked[system.setting]) for system in data.systems())


def _judge(data: ReportData, system: System, ranked: int) -> TotalVerdict:
    row = next(iter(system.rows(data.totals)), None) or _no_totals(data.blueprint)
    state = state_of(row, data.blueprint)
    published = _published_rank(data, system, row) if state == "counted" else None
    caveats = find_caveats(data, system, row)
    gate = data.blueprint.gate
    titles = {ability.id: ability.title for ability in data.blueprint.abilities}
    gate_title = titles[gate.ability] if gate else None
    return TotalVerdict(
        system=system,
        state=state,
        total=row["total"],
        before_veto=row["total_before_veto"],
        ci_low=row["ci_low"],
        ci_high=row["ci_high"],
        gate_title=gate_title,
        gate_score=row["gate_score"],
        gate_threshold=gate.threshold if gate else None,
        veto_reason=row["veto_reason"],
        rank=row["rank"],
        rank_note=_rank_note(row, state, data, ranked),
        coverage=row["coverage"],
        datasets_scored=row["datasets_scored"],
        datasets_total=row["datasets_total"],
        item_coverage=row["item_coverage"],
        n_scored=row["n_scored"],
        n_total=row["n_total"],
        sentence=_SENTENCES[state](data, system, row, published),
        trust=_trust(state, caveats),
        caveats=caveats,
    )


def _no_totals(blueprint: Blueprint) -> dict[str, Any]:
    empty = dict.fromkeys(
        ("total", "total_before_veto", "ci_low", "ci_high", "gate_score", "vetoed", "veto_reason", "item_coverage", "rank")
    )
    counts = {"datasets_scored": 0, "datasets_total": len(blueprint.datasets), "n_scored": 0, "n_total": 0}
    return {**empty, **counts, "coverage": 0.0}


def state_of(row: dict[str, Any], blueprint: Blueprint) -> State:
    """Return what became of a total, from its row of `totals`."""
    if row["vetoed"]:
        return "vetoed"
    if row["total_before_veto"] is None:
        return "unscored"
    return "gate_unscored" if row["vetoed"] is None and blueprint.gate is not None else "counted"


def _rank_note(row: dict[str, Any], state: State, data: ReportData, ranked: int) -> str:
    if row["rank"] is not None:
        where = f" with {setting_title(row['setting'])}" if len(data.settings) > 1 else ""
        return f"{row['rank']} of {counted(ranked, 'ranked model')}{where} in this run"
    if state != "counted":
        why = {"vetoed": "vetoed", "gate_unscored": "the gate has no score", "unscored": "no score"}[state]
    elif row["coverage"] < 1:
        why = f"coverage is {percent(row['coverage'])}"
    elif row["item_coverage"] is not None and row["item_coverage"] < data.blueprint.rank_item_coverage:
        why = f"only {percent(row['item_coverage'])} of the items have a score"
    else:
        why = "the run gives it no rank"
    return f"not ranked: {why}"


def _published_rank(data: ReportData, system: System, row: dict[str, Any]) -> str | None:
    """Say how many of the ranked published models a total is above, among those asked in the same setting."""
    totals = data.paper.total(system.setting, ranked=True)
    if not is_comparable(data.blueprint) or row["rank"] is None or not totals:
        return None
    above = sum(total < row["total"] for total in totals)
    among = "ranked published models"
    if len(data.paper.settings) > 1:
        among = f"models published with {setting_title(system.setting)}"
    return f", above {above} of the {len(totals)} {among}"


def _trust(state: State, caveats: tuple[Caveat, ...]) -> str:
    if state == "unscored":
        return "The reasons stand below; nothing here says anything about the model."
    if not caveats:
        return "Nothing lowers the trust in it: every dataset has a score, every reply could be read and no call failed."
    return f"Read it with care: {listed([caveat.short for caveat in caveats])}."


def _say_counted(data: ReportData, system: System, row: dict[str, Any], published: str | None) -> str:
    range_ = interval(row["ci_low"], row["ci_high"])
    bounds = f" (95 % interval {range_})" if row["ci_low"] is not None else ""
    return f"{system.label} scores {number(row['total'], 2)} of 100{bounds}{published or ''}.{_weakest(data, system)}"


def _say_gate_unscored(data: ReportData, system: System, row: dict[str, Any], published: str | None) -> str:
    return f"{_say_counted(data, system, row, published)} Its gate was not scored, so this total is provisional."


def _say_vetoed(data: ReportData, system: System, row: dict[str, Any], _published: str | None) -> str:
    gate = data.blueprint.gate
    threshold = f" below the required {number(gate.threshold, 0)}" if gate else ""
    before = row["total_before_veto"]
    otherwise = "nothing else was scored" if before is None else f"before the veto it would be {number(before, 2)}"
    return (
        f"{system.label} is vetoed: its total is 0, because the gate score of {number(row['gate_score'], 2)} is{threshold}; "
        f"{otherwise}.{_weakest(data, system)}"
    )


def _say_unscored(_data: ReportData, system: System, row: dict[str, Any], _published: str | None) -> str:
    if row["datasets_scored"]:
        got = f"{row['datasets_scored']} of {counted(row['datasets_total'], 'dataset')} gave a result, none that enters the total"
    else:
        got = f"none of the {counted(row['datasets_total'], 'dataset')} gave a result"
    return f"{system.label} has no score: {got}."


_SENTENCES: dict[State, Callable[[ReportData, System, dict[str, Any], str | None], str]] = {
    "counted": _say_counted,
    "gate_unscored": _say_gate_unscored,
    "vetoed": _say_vetoed,
    "unscored": _say_unscored,
}


def _weakest(data: ReportData, system: System) -> str:
    abilities = [row for row in system.rows(data.ability) if row["score_0_100"] is not None]
    tasks = [row for row in system.rows(data.task) if row["score_0_100"] is not None]
    if not abilities or not tasks:
        return ""
    ability = min(abilities, key=lambda row: row["score_0_100"])
    paths = [path for path in task_paths(data.blueprint) if path.main.id == ability["ability"]]
    scores = {row["task"]: row["score_0_100"] for row in tasks}
    inside = [(scores[path.task.id], path.task.title) for path in paths if path.task.id in scores]
    title = next(main.title for main in data.blueprint.abilities if main.id == ability["ability"])
    said = f" It is weakest in {title} ({number(ability['score_0_100'])})"
    if not inside:
        return f"{said}."
    score, task = min(inside)
    if task == title:
        return f"{said}."
    return f"{said}, there in {task} ({number(score)})."
