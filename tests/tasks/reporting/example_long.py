"""A run of LongEmotion written out by rule: two models, three settings, two items per dataset, all layers that long runs have.

`alpha` enriches and judges itself. Scores follow from `share`; CoEM is above RAG and RAG above base. Of two choices one is right.
"""

from dataclasses import replace
from functools import cache
from typing import Any

import dataframely as dy
import polars as pl

from schemas.tables import scores as tables
from schemas.tables.comparisons import Agreements, NeedleScores, SettingGains
from schemas.tables.items import Contexts, Items, Retrievals
from schemas.tables.responses import Judgements, Responses
from tasks.benchmarks.longemotion.benchmark import ASPECTS
from tasks.runs.run_tables import PROMPT_CHUNKS, ReportData
from tasks.scoring.blueprints import load_blueprint
from tasks.scoring.published import as_table, published_of
from tests.tasks.reporting.example_items import digest, make_table
from tests.tasks.reporting.example_run import example_data, manifest, partition
from tests.tasks.reporting.example_scores import score_layers
from tests.tasks.rows import item, judgement, response

BLUEPRINT = load_blueprint("longemotion")
PREFIX = "longemotion_"
TASKS = ("ec_emobench", "ec_finentity", "ed", "qa", "es", "mc1", "mc2", "mc3", "mc4", "ee")
MODELS, SETTINGS = ("alpha", "beta"), ("base", "rag", "coem")
JUDGED = {"es", "mc1", "mc2", "mc3", "mc4", "ee"}
NEEDLE = "Mara put the letter back, <b>smiled</b> and said nothing for a while."
FILLER = "The rain kept on and the train was late again, and nobody in the hall looked up from a paper. "
BEFORE, AFTER = FILLER * 900, FILLER * 400
SEGMENTS = tuple(f"Segment number {n} about a worried evening." for n in range(30))
ALPHA_PLAYER = {"name": "alpha", "identity": "http://localhost:8000/v1"}
PLAN: dict[str, Any] = {
    "benchmark": "longemotion",
    "models": [{"name": name, "identity": "http://localhost:8000/v1", "sampling": {}} for name in MODELS],
    "settings": list(SETTINGS),
    "roles": {"judge": ALPHA_PLAYER, "panel": [{"name": "gamma-judge", "identity": "http://localhost:8000/v1"}]},
    "judge_repeat": 2,
    "retrieval": {"preset": "paper", "chunk_tokens": None, "top_k": 8, "ranking": "fused", "embedder": "auto"},
    "contexts": {"lengths": [8000, 16000], "depths": [], "needle_style": "matched"},
    "sample": 2,
    "datasets": None,
}


def share(model: str, setting: str, task: str) -> float:
    """Score in [0, 1] of a model in a setting and task that is rated or compared with a reference."""
    return 0.3 + 0.1 * SETTINGS.index(setting) + 0.05 * MODELS.index(model) + 0.02 * TASKS.index(task)


CELLS = tuple((model, setting, task) for model in MODELS for setting in SETTINGS for task in TASKS)
TEXTS = {"question_type": "counselor_reply", "context": BEFORE + NEEDLE + AFTER}
LABELS = {"question_type": "label_choice", "options": ["Hope & Joy", "Fear", "Anger"], "gold_indices": [1]}
ASKED: dict[str, dict[str, Any]] = {
    "ec_emobench": LABELS,
    "ec_finentity": LABELS,
    "ed": {"question_type": "odd_one_out", "options": list(SEGMENTS), "gold_indices": [17], "context": None},
    "qa": {"question_type": "extractive", "references": ["a short answer"]},
    "es": {"question_type": "aspect_summary", "references": [f"reference of {aspect}" for aspect in ASPECTS]},
    "ee": {"question_type": "emotion_expression", "options": [f"adjective{n}" for n in range(20)], "context": "She waits."},
}
"""What items of a task have otherwise than TEXTS."""


def items() -> dy.DataFrame[Items]:
    rows = [
        item(
            f"{task}-{number}",
            dataset=PREFIX + task,
            source_row=number,
            fixed_order=True,
            question=f"What about {task}?",
            **TEXTS | ASKED.get(task, {}),
        )
        for task in TASKS
        for number in range(2)
    ]
    return make_table(Items, rows)


def contexts() -> dy.DataFrame[Contexts]:
    placed = {"needle": NEEDLE, "needle_start": len(BEFORE), "needle_end": len(BEFORE + NEEDLE), "depth_percent": 69.0}
    needle = {"ed": {"needle": SEGMENTS[17]}} | dict.fromkeys(TASKS[:2], placed | {"query": "Mara"})
    rows = [
        {"dataset": PREFIX + task, "task": task, "tokens": 30_000, "renamed": [], "item_id": f"{task}-{number}"}
        | needle.get(task, {})
        for task in TASKS
        for number in range(2)
    ]
    return make_table(Contexts, rows)


def item_scores() -> dy.DataFrame[tables.ItemScores]:
    parsed = {"ec_emobench": "Anger", "ec_finentity": "Anger", "ed": "4"}
    rows = [
        {"model": model, "dataset": PREFIX + task, "method": method.id, "metric": spec.metric, "setting": setting}
        | {"item_id": f"{task}-{number}", "repetition": 0, "parsed_answer": parsed.get(task, "some words"), "status": "scored"}
        | {"value": share(model, setting, task) if task in JUDGED | {"qa"} else float(number)}
        for model, setting, task in CELLS
        for method in BLUEPRINT.datasets[PREFIX + task].methods[:1]
        for number in range(2)
        for spec in method.metrics
    ]
    return make_table(tables.ItemScores, rows)


def responses() -> dy.DataFrame[Responses]:
    rows = [
        response(
            f"{task}-{number}",
            f"Reply of {model} in turn {turn}.",
            dataset=PREFIX + task,
            model=model,
            setting=setting,
            turn=turn,
            latency_s=1.0,
            call_key=digest(f"{model}{setting}{task}-{number}{turn}"),
            finish_reason="stop",
        )
        for model, setting, task in CELLS
        for number in range(2)
        for turn in range(6 if task == "ee" else 1)
    ]
    return make_table(Responses, rows)


def judgements() -> dy.DataFrame[Judgements]:
    """The judge rated twice, the panel once."""
    scales = {"es": (1, 5), "ee": (0, 100)}
    rows = [
        judgement(
            *(f"{task}-{number}", dimension, lowest + 2 + repetition),
            dataset=PREFIX + task,
            model=model,
            setting=setting,
            judge=judge,
            judge_repetition=repetition,
            rubric="r",
            lowest=lowest,
            highest=highest,
            raw_reply="2",
        )
        for model, setting, task in CELLS
        if task in JUDGED
        for lowest, highest in [scales.get(task, (0, 5))]
        for judge, repetition in (("alpha", 0), ("alpha", 1), ("gamma-judge", 0))
        for number in range(2)
        for dimension in ("deep_needs", "warmth")
    ]
    return make_table(Judgements, rows)


def retrievals() -> dy.DataFrame[Retrievals]:
    """RAG keeps the best chunk; CoEM keeps 4 of 8 after ranking them again. The needle's chunk stands at rank 2, then at 0."""
    stages = {"rag": [("initial", 2, 1)], "coem": [("initial", 2, 8), ("reranked", 0, 4)], "base": []}
    rows = [
        {"dataset": PREFIX + task, "item_id": f"{task}-{number}", "model": model, "setting": setting, "repetition": 0}
        | {"query_number": 0, "stage": stage, "rank": rank, "corpus": "context", "chunk": (rank - at) % 8, "query": "Mara"}
        | {"kept": rank < kept, "holds_needle": rank == at}
        | {"enriched": f"Mara thinks of chunk {rank}." if setting == "coem" else None}
        for model, setting, task in CELLS
        if task.startswith("ec")
        for number in range(2)
        for stage, at, kept in stages[setting]
        for rank in range(8)
    ]
    return make_table(Retrievals, rows)


def prompt_chunks() -> pl.DataFrame:
    found = retrievals().filter(pl.col("setting") == "coem", pl.col("stage") == "reranked", "kept")
    texts = (
        pl.when("holds_needle").then(pl.lit(f"... {NEEDLE} ...")).otherwise(pl.lit("chunk of rain ") + pl.col("rank").cast(str))
    )
    return found.with_columns(text=texts).select(*PROMPT_CHUNKS).cast(PROMPT_CHUNKS)


def gains() -> dy.DataFrame[SettingGains]:
    """The interval of RAG holds 0, that of CoEM does not."""
    rows = [
        {"model": model, "setting": setting, "scope": scope, "base_0_100": low, "setting_0_100": high, "n_items": 2}
        | {"gain": high - low, "ci_low": high - low - 12, "ci_high": high - low + 12}
        for model in MODELS
        for setting in SETTINGS[1:]
        for task, scope in (("qa", "total"), *((task, PREFIX + task) for task in TASKS))
        for low, high in [[share(model, name, task) * 100 for name in ("base", setting)]]
    ]
    return make_table(SettingGains, rows)


def agreements() -> dy.DataFrame[Agreements]:
    row = {"model": "alpha", "setting": "base", "rubric": "mc_stage4", "judges": ["gamma-judge", "alpha"], "n_answers": 2}
    numbers = [("deep_needs", 0.9, 0.1, 0.25), ("warmth", 0.4, -0.7, None), ("autonomy", None, None, None)]
    rows = [
        row
        | {"dataset": PREFIX + "mc4", "dimension": name, "n_ratings": 6}
        | {"alpha": alpha, "length_correlation": length, "place_effect": place}
        for name, alpha, length, place in numbers
    ]
    return make_table(Agreements, rows)


def needles() -> dy.DataFrame[NeedleScores]:
    """Lengths 8000 and 16000, two depths; nothing was scored at the longest and deepest."""
    rows = [
        {"model": model, "setting": setting, "dataset": PREFIX + "ec_emobench", "method": "label", "metric": metric, "n_total": 5}
        | {"length_bin": str(length), "length_tokens": length, "depth_bin": f"{depth} to {depth + 20} %", "depth_percent": depth}
        | ({"value": None, "n": 0} if (length, depth) == (16000, 80) else {"value": value - depth / 200, "n": 5})
        for model, setting in (("alpha", "base"), ("alpha", "coem"))
        for metric in ("accuracy", "strict_accuracy")
        for length, value in ((8000, 0.9), (16000, 0.5))
        for depth in (0, 80)
    ]
    return make_table(NeedleScores, rows)


def layers() -> dict[str, dy.DataFrame[Any]]:
    """Every score layer, with intervals of 10 points around raw scores and of 6 around totals."""
    found = score_layers(item_scores(), BLUEPRINT)
    raw = found["raw_scores"].with_columns(ci_low=pl.col("value") - 0.05, ci_high=pl.col("value") + 0.05)
    totals = found["totals"].with_columns(ci_low=pl.col("total") - 3, ci_high=pl.col("total") + 3)
    return found | {"raw_scores": tables.RawScores.validate(raw), "totals": tables.Totals.validate(totals)}


def long_data(**changes: Any) -> ReportData:
    """The run; any field of ReportData can be replaced."""
    return replace(_whole(), **changes)


@cache
def _whole() -> ReportData:
    fields: dict[str, Any] = {
        "manifest": manifest(plan=PLAN, benchmark="longemotion", missing=(), partitions=(partition("items", ()),)),
        "blueprint": BLUEPRINT,
        **layers(),
        "item_scores": item_scores(),
        "items": items(),
        "responses": responses(),
        "paper": as_table(published_of(BLUEPRINT)),
        "judgements": judgements(),
        "contexts": contexts(),
        "retrievals": retrievals(),
        "prompt_chunks": prompt_chunks(),
        "setting_gains": gains(),
        "agreements": agreements(),
        "needle_scores": needles(),
    }
    return example_data(**fields)
