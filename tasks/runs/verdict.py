"""Decide what may be said of a system's total: whether there is one, its verdict, its rank, and the sentence on top.

Every surface takes these columns: no other module decides from coverage, veto or instruments.
"""

from collections.abc import Mapping
from typing import Any

import polars as pl

from schemas.blueprint import Blueprint
from schemas.documents.leaderboard import WITH_TOTAL, JudgedTotal, Verdict
from tasks.runs.past_run import PastRun
from tasks.runs.run_tables import ReportData, System, from_row, pool_counts
from tasks.text.number_format import NONE, counted, describe_gate, interval, listed, number

LEAST_COVERAGE = 0.5
"""A mean over fewer of a benchmark's datasets is no total of it."""


def judge_run(run: PastRun | ReportData) -> pl.DataFrame:
    """Return the totals of a run as `judge_totals` does."""
    return judge_totals(run.layers["totals"], run.blueprint, {"": run})


def total_of(row: Mapping[str, Any]) -> JudgedTotal:
    """Return a row of judged totals, whatever other columns it has."""
    return from_row(JudgedTotal, row)


def judge_totals(totals: pl.DataFrame, blueprint: Blueprint, runs: Mapping[str, PastRun | ReportData]) -> pl.DataFrame:
    """Return the same rows with `verdict`, `why` and `headline`, and without a total and a rank where there is none.

    Ranks are those of the others alone; what was scored stays in `total_before_veto` and its interval.

    Args:
        totals: rows of `totals`, ranked within their setting, and their `group` if they have one.
        blueprint: of the benchmark.
        runs: by the rows' column `run`, "" where they have none; no instrument failed in any other.
    """
    judged = [judge_row(row, blueprint, runs.get(row.get("run", ""))) for row in totals.iter_rows(named=True)]
    verdicts = pl.DataFrame(judged, schema=dict.fromkeys(("verdict", "why", "headline"), pl.String), orient="row")
    has_total = pl.col("verdict").is_in(WITH_TOTAL)
    return pl.concat([totals, verdicts], how="horizontal").with_columns(
        total=pl.when(has_total).then("total"),
        rank=pl.when(has_total)
        .then("rank")
        .rank("min")
        .over(name for name in ("setting", "group") if name in totals.columns)
        .cast(pl.Int64),
    )


def judge_row(row: Mapping[str, Any], blueprint: Blueprint, run: PastRun | ReportData | None) -> tuple[Verdict, str | None, str]:
    """Return the verdict on a row of `totals`, what it rests on (null = the score alone), and a sentence to be said first."""
    system, of = System(row["model"], row["setting"]), counted(row["datasets_total"], "dataset")
    counts = run.instruments if run else ()
    name, failed = system.label, [count for count in counts if count.failed and (count.model, count.setting) == system]
    bounds = f" (95 % interval {interval(row['ci_low'], row['ci_high'])})" if row["ci_low"] is not None else ""
    before = row["total_before_veto"]
    scored = "nothing was scored" if before is None else f"what was scored gives {number(before, 2)} of 100{bounds}"
    if failed:
        instrument = listed([count.words for count in pool_counts(failed)])
        return "instrument failed", instrument, f"{name} has no total, because an instrument failed: {instrument}; {scored}."
    gate = describe_gate(row)
    if row["vetoed"]:
        threshold = f" below the required {number(blueprint.gate.threshold, 0)}" if blueprint.gate else ""
        otherwise = "nothing else was scored" if before is None else f"before the veto it would be {number(before, 2)}"
        score = f"the gate score of {number(row['gate_score'], 2)} is{threshold}"
        return "vetoed", gate, f"{name} is vetoed: its total is 0, because {score}; {otherwise}."
    if before is None:
        none = f"{row['datasets_scored']} of {of} gave a result, none that enters the total"
        why = none if row["datasets_scored"] else f"none of the {of} gave a result"
        return "unscored", why, f"{name} has no score: {why}."
    if row["coverage"] < LEAST_COVERAGE:
        few = f"{row['datasets_scored']} of {of} have a score"
        return "too little scored", few, f"{name} has no total of the benchmark: {few}, and a total needs half of them; {scored}."
    scores = f"{name} scores {number(before, 2)} of 100{bounds}."
    if row["vetoed"] is None and blueprint.gate is not None:
        return "undecided", gate, f"{scores} The veto is undecided, so this total is provisional: {gate}."
    return "scored", None, scores


def say_total(total: JudgedTotal) -> str:
    """Return a judged total for a cell: the number, or a dash and what was scored."""
    before = number(total.total_before_veto, 2)
    if total.verdict == "vetoed":
        return f"0 ({before} before the veto)"
    if total.has_total:
        return number(total.total, 2)
    return NONE if total.total_before_veto is None else f"{NONE} (what was scored: {before})"


def say_verdict(total: JudgedTotal) -> str:
    """Return a verdict for a cell, with what it rests on."""
    return f"{total.verdict}: {total.why}" if total.why else total.verdict


def say_interval(total: JudgedTotal) -> str:
    """Return the 95 % interval of a judged total for a cell; after a veto it is that of the total before."""
    both = interval(total.ci_low, total.ci_high, 2) if total.has_total else NONE
    return f"{both}, before the veto" if total.verdict == "vetoed" and both != NONE else both


def name_score(verdict: Verdict) -> str:
    """Return what the mean of the abilities is called that stands next to a verdict."""
    if verdict == "vetoed":
        return "Total before the veto"
    return "Total" if verdict in WITH_TOTAL else "No total, mean of what was scored"
