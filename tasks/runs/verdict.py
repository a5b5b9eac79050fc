"""Decide what may be said of a system's total: whether there is one, its verdict, its rank, and the sentence on top.

Every surface takes these columns: no other module decides from coverage, veto or instruments.
"""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from operator import itemgetter
from typing import Any

import polars as pl

from schemas.blueprint import Ability, Blueprint
from schemas.documents.leaderboard import WITH_TOTAL, JudgedTotal, Verdict
from schemas.documents.run_list import BestTotal
from schemas.folders import Folder
from schemas.lineage import RunManifest
from tasks.lake.lake import Lake
from tasks.lake.manifest import read_code_version
from tasks.runs.past_run import PastRun, past_run
from tasks.runs.run_list import best_of
from tasks.runs.run_tables import ReportData, System, from_row, ordered, pool_counts
from tasks.text.number_format import NONE, bracketed, count, counted, describe_gate, listed, number, ordinal, percent

LEAST_COVERAGE = 0.5
"""A mean over fewer of a benchmark's datasets, or of the items that were asked, is no total of it."""

NEEDED = "A total needs half of the items, half of the datasets and every main ability."

BEST = 100.0


def label_of(row: Any) -> str:
    """Return the name of the system that a row with `model` and `setting` is about."""
    return System(row.model, row.setting).label


@lru_cache(maxsize=1)  # each page about a run needs them; one, since a report in memory may be large
def judge_run(run: PastRun | ReportData) -> pl.DataFrame:
    """Return the totals of a run as `judge_totals` does."""
    return judge_totals(run.layers["totals"], run.blueprint, {"": run})


def best_total(manifest: RunManifest, folder: Folder) -> BestTotal:
    """Return the highest total of a run of a lake."""
    run = past_run(manifest, Lake(folder, read_code_version()))
    return best_of([total_of(row) for row in ordered(judge_totals(run.read("totals"), run.blueprint, {"": run}))])


def total_of(row: Mapping[str, Any]) -> JudgedTotal:
    """Return a row of judged totals, whatever other columns it has."""
    return from_row(JudgedTotal, row)


def judge_totals(totals: pl.DataFrame, blueprint: Blueprint, runs: Mapping[str, PastRun | ReportData]) -> pl.DataFrame:
    """Return the same rows with `verdict`, `why`, `unranked` and `headline`, and without a total and a rank where there is none.

    They are ranked within their setting, and their `group` if they have one. Ranks are those of the others alone; what was scored
    stays in `total_before_veto` and its interval. `runs`: by the rows' column `run`, "" where they have none; no instrument
    failed in any other.
    """
    judged = [judge_row(row, blueprint, runs.get(row.get("run", ""))) for row in totals.iter_rows(named=True)]
    verdicts = pl.DataFrame(judged, schema=dict.fromkeys(("verdict", "why"), pl.String), orient="row")
    has_total = pl.col("verdict").is_in(WITH_TOTAL)
    ranked = pl.concat([totals, verdicts], how="horizontal").with_columns(
        total=pl.when(has_total).then("total"),
        rank=pl.when(has_total).then("rank").rank("min").over(_ranked_within(totals)).cast(pl.Int64),
    )
    return with_headlines(ranked, blueprint, runs)


def _ranked_within(totals: pl.DataFrame) -> list[str]:
    return [name for name in ("setting", "group") if name in totals.columns]


def with_headlines(totals: pl.DataFrame, blueprint: Blueprint, runs: Mapping[str, PastRun | ReportData]) -> pl.DataFrame:
    """Return judged totals with why each has no rank, and its headline; arguments as above. They change with the ranks."""
    within = _ranked_within(totals)
    places = totals.with_columns(of=pl.col("rank").count().over(within), tied=pl.col("rank").count().over([*within, "rank"]))
    rows = [row | {"unranked": why_unranked(row, blueprint)} for row in places.iter_rows(named=True)]
    headlines = []
    for row in rows:
        run = runs.get(row.get("run", ""))
        source = " Scored are replies from a file." if run and run.manifest.replies_file(row["model"]) else ""
        headlines.append(f"{say_headline(row, blueprint, run)}{source}")
    reasons = pl.Series([row["unranked"] for row in rows], dtype=pl.String)
    return totals.with_columns(headline=pl.Series(headlines, dtype=pl.String), unranked=reasons)


def judge_row(row: Mapping[str, Any], blueprint: Blueprint, run: PastRun | ReportData | None) -> tuple[Verdict, str | None]:
    """Return the verdict on a row of `totals`, and what it rests on (null = the score alone)."""
    system, of = System(row["model"], row["setting"]), counted(row["datasets_total"], "dataset")
    failed = [count for count in (run.instruments if run else ()) if count.failed and (count.model, count.setting) == system]
    if failed:
        return "unreadable", listed([count.words for count in pool_counts(failed)])
    if row["vetoed"]:
        return "vetoed", describe_gate(row)
    if row["total_before_veto"] is None:
        some = f"{row['datasets_scored']} of {of} gave a result, none that enters the total"
        none = f"none of the {of} gave a result" if row["datasets_total"] > 1 else "its only dataset gave no result"
        return "unscored", some if row["datasets_scored"] else none
    if too_little := [*_say_too_little(row, blueprint, run)]:
        return "too little scored", "; ".join(too_little)
    if row["vetoed"] is None and blueprint.gate is not None:
        return "undecided", describe_gate(row)
    return "scored", None


def _say_too_little(row: Mapping[str, Any], blueprint: Blueprint, run: PastRun | ReportData | None) -> Iterator[str]:
    """Yield what a total lacks, what was left unasked first."""
    if row["item_coverage"] is not None and row["item_coverage"] < LEAST_COVERAGE:
        items, share = f"{count(row['n_scored'])} of {counted(row['n_total'], 'item')}", percent(row["item_coverage"])
        yield f"{_why_cut_short(row['model'], run)}{items} ({share}) have a score"
    if row["coverage"] < LEAST_COVERAGE:
        yield f"{row['datasets_scored']} of {counted(row['datasets_total'], 'dataset')} have a score"
    if unscored := _unscored_abilities(row, blueprint, run):
        whole = sum(main.weight for main in _counted_abilities(blueprint))
        weight = percent(sum(main.weight for main in unscored) / whole)
        titles = [main.title for main in unscored]
        yield f"{listed(titles)} ({weight} of the weight) {'has' if len(titles) == 1 else 'have'} no score"


def _why_cut_short(model: str, run: PastRun | ReportData | None) -> str:
    usage = [row for row in (run.manifest.usage if run else ()) if row.model == model]
    if unsent := sum(row.unsent for row in usage):
        return f"the budget was spent with {counted(unsent, 'call')} unsent: "
    failed = sum(row.failed for row in usage)
    return f"{counted(failed, 'call')} failed: " if failed else ""


def _counted_abilities(blueprint: Blueprint) -> list[Ability]:
    """Return the main abilities that enter the total."""
    gate = blueprint.gate.ability if blueprint.gate else None
    return [main for main in blueprint.abilities if main.dataset_ids and main.weight and main.id != gate]


def _unscored_abilities(row: Mapping[str, Any], blueprint: Blueprint, run: PastRun | ReportData | None) -> list[Ability]:
    """Return the counted abilities without a score; none where scores of abilities are not known."""
    complete = row["datasets_scored"] == row["datasets_total"]
    if complete or run is None or not (isinstance(run, ReportData) or run.partitions("ability_scores")):
        return []
    abilities = run.layers["ability_scores"] if isinstance(run, ReportData) else run.read("ability_scores")
    scored = _scores_by("ability", System(row["model"], row["setting"]).of(abilities))
    return [main for main in _counted_abilities(blueprint) if main.id not in scored]


def why_unranked(total: Mapping[str, Any], blueprint: Blueprint) -> str | None:
    """Return why a row of judged totals has no rank; null = it has one."""
    if total["rank"] is not None:
        return None
    if total["verdict"] != "scored":
        return {"vetoed": "it is vetoed", "undecided": "the veto is undecided"}.get(total["verdict"], "it has no total")
    if total["datasets_scored"] < total["datasets_total"]:
        return f"{total['datasets_scored']} of {counted(total['datasets_total'], 'dataset')} have a score"
    if total["item_coverage"] is not None and total["item_coverage"] < blueprint.rank_item_coverage:
        needed = f"and a rank needs {percent(blueprint.rank_item_coverage)}"
        return f"{count(total['n_scored'])} of {counted(total['n_total'], 'item')} have a score, {needed}"
    return "the run gives it no rank"


def say_headline(total: Mapping[str, Any], blueprint: Blueprint, run: PastRun | ReportData | None) -> str:
    """Return what to say first of a system: its score and place or why it has none, and where it is weakest.

    `total`: a row of judged totals; `of`: how many are ranked with it, `tied`: how many have its rank. Without scores of its
    abilities and tasks in the run, these are not said.
    """
    name, why, before = System(total["model"], total["setting"]).label, total["why"], total["total_before_veto"]
    score = f"{number(before)} of 100{bracketed(total['ci_low'], total['ci_high'])}"
    scored = "Nothing was scored." if before is None else f"What was scored averages {score}."
    has_scores = isinstance(run, ReportData) or (run is not None and bool(run.partitions("task_scores")))
    weakest = _weakest(total, blueprint, run) if run and has_scores else ""
    match total["verdict"]:
        case "unreadable":
            return f"{name} has no total: {why}. {scored}"
        case "unscored":
            return f"{name} has no score: {why}."
        case "too little scored":
            return f"{name} has no total: {why}. {NEEDED} {scored}{weakest}"
        case "vetoed":
            return f"{name} is vetoed: {_say_veto(total, blueprint)}.{weakest}"
        case "undecided":
            return f"{name} scores {score}, provisionally because the veto is undecided: {why}.{weakest}"
    joint = "joint " if total["tied"] > 1 else ""
    place = f", {joint}{ordinal(total['rank'])} of {total['of']}" if total["rank"] and total["of"] > 1 else ""
    place = place if total["rank"] else f", not ranked: {total['unranked']}"
    return f"{name} scores {score}{place}.{weakest}"


def _say_veto(total: Mapping[str, Any], blueprint: Blueprint) -> str:
    before, gate = total["total_before_veto"], blueprint.gate
    title = next((main.title for main in blueprint.abilities if gate and main.id == gate.ability), "gate")
    required = f" below the required {number(gate.threshold, 0)}" if gate else ""
    otherwise = "nothing else was scored" if before is None else f"{number(before)} without the veto"
    return f"its {title} score of {number(total['gate_score'])} is{required}, so its total is 0 ({otherwise})"


def _weakest(total: Mapping[str, Any], blueprint: Blueprint, run: PastRun | ReportData) -> str:
    """Return the weakest main ability and the task that is weakest in it; nothing where the benchmark has one ability."""
    system, word = System(total["model"], total["setting"]), blueprint.ability_word
    abilities = _scores_by("ability", system.of(run.layers["ability_scores"]))
    tasks = _scores_by("task", system.of(run.layers["task_scores"]))
    if len(blueprint.abilities) == 1 or not abilities:
        return ""
    main = min((main for main in blueprint.abilities if main.id in abilities), key=lambda main: abilities[main.id])
    if (score := abilities[main.id]) == BEST:
        return ""
    of_main = [(tasks[task.id], task.title) for _, node in main.walk() for task in node.tasks if task.id in tasks]
    lowest, title = min(of_main, default=(score, ""), key=itemgetter(0))
    reason = f", lowest in {title} ({number(lowest)})" if lowest < score else ""
    return f" Weakest {word}: {main.title} ({number(score)}){reason}."


def _scores_by(name: str, rows: pl.DataFrame) -> dict[str, float]:
    return dict(rows.drop_nulls("score_0_100").select(name, "score_0_100").iter_rows())


def say_total(total: JudgedTotal) -> str:
    """Return a judged total for a cell: the number, or a dash and what was scored."""
    before = number(total.total_before_veto, 2)
    if total.verdict == "vetoed":
        return f"0 ({before} before the veto)"
    if total.has_total:
        return number(total.total, 2)
    return NONE if total.total_before_veto is None else f"{NONE} (what was scored: {before})"


def say_verdict(total: JudgedTotal) -> str:
    """Return a verdict for a cell, with what it rests on, or why it has no rank."""
    if total.verdict == "scored":
        return f"scored, not ranked: {total.unranked}" if total.unranked else total.verdict
    return f"{total.verdict}: {total.why}" if total.why else total.verdict


def name_score(verdict: Verdict) -> str:
    """Return what the mean of the abilities is called that stands next to a verdict."""
    if verdict == "vetoed":
        return "Total before the veto"
    return "Total" if verdict in WITH_TOTAL else "No total, mean of what was scored"
