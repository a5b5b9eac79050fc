"""Tell what failed in a run: calls and whose they were, and instruments, which readers, judges and simulated persons are."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import polars as pl

from schemas.documents.run import FailedCalls, InstrumentCount, ScoreOverDialogues, SimulationCheck
from schemas.lineage import RunManifest
from schemas.roles import JUDGE, PANEL, PEOPLE
from schemas.tables.layers import FROM_OUTSIDE
from schemas.tables.responses import Judgements, Responses
from schemas.usage import TESTED
from tasks.judging.answers import SIMULATED
from tasks.judging.rubrics import order_dimensions
from tasks.lake.lake import Lake
from tasks.metrics.item_scores import wholes_of
from tasks.models.http.failures import BUDGET_SPENT, FAILURE_KINDS
from tasks.models.long_prompts import WAS_CUT
from tasks.runs.past_run import PastRun, no_rows
from tasks.runs.run_tables import System, from_row
from tasks.scoring.benchmark import ScoreSettings, score_benchmark
from tasks.scoring.breakdowns import rate_answers
from tasks.solvers.answers import ANSWER, ASKED, ITEM, OWN_WORDS
from tasks.text.replies import read_object

METRIC = ["model", "setting", "dataset", "method", "metric"]
"""Columns that name a number of a dataset."""

NOT_SENT = "budget"
"""In place of a role: nobody failed, but the budget was spent before the call was sent."""


def find_failures(item_scores: pl.DataFrame, answers: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of `item_scores` without a value since a call failed, with `failed_role`: once for each role, or NOT_SENT.

    Their answers say whose call failed. A metric of all parts of an item rests on each of its answers.
    """
    whose = pl.when(failure=NOT_SENT).then(pl.lit(NOT_SENT)).otherwise("failed_role")
    failed = answers.drop_nulls("failed_role").with_columns(failed_role=whose)
    of_item = failed.group_by(ASKED).agg(of_item=pl.col("failed_role").unique().sort())
    unanswered = (
        item_scores.filter(pl.col("status") == "call_failed")
        .join(failed.select(*ANSWER, own=pl.concat_list("failed_role")), on=ANSWER, how="left")
        .join(of_item, on=ASKED, how="left")
        .with_columns(failed_role=pl.coalesce("own", "of_item", pl.lit([TESTED])))
        .drop("own", "of_item")
        .explode("failed_role")
    )
    unjudged = item_scores.filter(pl.col("status") == "judge_failed").with_columns(failed_role=pl.lit(JUDGE))
    return pl.concat([unanswered, unjudged])


def find_lost(item_scores: pl.DataFrame, answers: pl.DataFrame) -> tuple[dict[str, frozenset[str]], int]:
    """Return whose failures cost one model and setting items, and how many items the model under test is not to blame for.

    Whose: roles, or NOT_SENT, by dataset. An item that lacks a part lacks its score.
    """
    lost = find_failures(item_scores, answers)
    by_dataset = lost.group_by("dataset").agg(pl.col("failed_role").unique()).iter_rows()
    blamed = lost.group_by(*ITEM, "repetition").agg(others=(pl.col("failed_role") != TESTED).all())
    return {dataset: frozenset(roles) for dataset, roles in by_dataset}, int(blamed["others"].sum())


def name_role(manifest: RunManifest, role: str, model: str) -> str:
    """Return a role as readers know it, with the models that the plan names for it, or that under test."""
    if role in {TESTED, NOT_SENT}:
        return role
    if role == JUDGE and not manifest.names_in(JUDGE):
        return PEOPLE
    return f"{role.replace('_', ' ')} ({', '.join(manifest.names_in(role)) or model})"


def failure_kinds(manifest: RunManifest, lake: Lake) -> list[FailedCalls]:
    """Return calls that failed by model and kind, the most frequent first."""
    calls: Counter[tuple[str, str, str]] = Counter()
    errors: dict[tuple[str, str, str], str | None] = {}
    for (_, model, _, what, count, next_step), error in failed_calls(manifest, lake):
        calls[model, what, next_step] += count
        errors.setdefault((model, what, next_step), error)
    return [
        FailedCalls(model=model, what=what, calls=count, next_step=next_step, error=errors[model, what, next_step])
        for (model, what, next_step), count in calls.most_common()
    ]


def failed_calls(manifest: RunManifest, lake: Lake) -> Iterator[tuple[tuple[str, str, str, str, int, str], str | None]]:
    """Yield one row per partition and kind of failure, with an error; only partitions are read that have failed calls."""
    for ref in manifest.partitions:
        keys = dict(ref.place)
        if ref.layer not in FROM_OUTSIDE or ref.by_people or (ref.complete and ref.layer != "judgements"):
            continue
        dataset, setting, tested = keys["dataset"], keys["setting"], keys["model"]
        if ref.layer == "judgements":
            sent, lost = pl.col("error").ne_missing(BUDGET_SPENT), pl.col("parse_status") == "failed"
            unrated = lake.read(ref, Judgements).filter(pl.col("rating").is_null(), sent)
            reason = pl.when(lost).then(pl.col("error").filter(lost).min()).otherwise("error").fill_null("no reason was kept")
            for (status, why), rows in unrated.group_by("parse_status", reason, maintain_order=True):
                word, remedy = "readable ", "see the replies: moodflow explain"
                if status == "failed":
                    word, remedy = "", "see that the judge's server answers, then run again"
                if why.startswith(WAS_CUT):
                    remedy = FAILURE_KINDS["prompt_cut"].remedy
                what = f"no {word}rating of {tested}'s answers: {why}"
                yield (dataset, keys["judge"], setting, what, rows["call_key"].n_unique(), remedy), None
            continue
        failed = lake.read(ref, Responses).cast({"failure": pl.String}).filter(pl.col("failure") != NOT_SENT)
        by_kind = ["asked_model", "role", "failure"]
        kinds = failed.group_by(by_kind).agg(pl.len(), pl.col("error").drop_nulls().first()).sort(by_kind)
        for model, role, failure, calls, error in kinds.iter_rows():
            kind, of = FAILURE_KINDS[failure], "" if role == TESTED else f" ({role} of {tested})"
            yield (dataset, model, setting, f"{failure}{of}: {kind.meaning}", calls, kind.remedy), error


COUNTED = ["model", "setting", "dataset", "name"]


def count_instruments(run: PastRun) -> tuple[InstrumentCount, ...]:
    """Count what each instrument failed to do, by dataset; of replies of the model, over the gate and over all else."""
    of_panel = pl.col("judge").is_in(run.manifest.names_in(PANEL))  # whose ratings are in no score
    kept = pl.col("model", "setting", "dataset", "judge", "parse_status")  # reasons and replies fill the memory
    rated = pl.concat([no_rows("judgements").select(kept), *(rows.select(kept) for rows in run.read_each("judgements"))])
    came = rated.filter(~of_panel, pl.col("parse_status") != "failed").rename({"judge": "name"})
    by_part = _read_parts(run)
    of_judge = pl.col("part").str.ends_with("judge")
    tallies = {
        "simulated person": _tally_dialogues(run),
        "judge": _tally(came, pl.col("parse_status") == "unparsed"),
        **{str(role): _tally(rows, pl.col("unread")) for (role,), rows in by_part.filter(of_judge).group_by("role")},
    }
    counts = [
        InstrumentCount(model, setting, instrument, name, (dataset,), faulty, total)
        for instrument, rows in tallies.items()
        for model, setting, dataset, name, faulty, total in rows.iter_rows()
    ]
    readers = _readers(run, count_unread(run, by_part))
    return tuple(count for count in (*counts, *readers) if count.faulty)


def _tally_dialogues(run: PastRun) -> pl.DataFrame:
    """Return by COUNTED in how many dialogues a simulated person has a fault that counts, `faulty`, of the `total`."""
    faults = run.read("simulation_faults").filter(pl.col("refused").is_null()).select(*ANSWER, tainted=True).unique()
    answers = run.read("answers").filter(SIMULATED) if run.partitions("simulation_faults") else no_rows("answers")
    dialogues = answers.join(faults, on=ANSWER, how="left").with_columns(name=pl.lit(""))
    return _tally(dialogues, pl.col("tainted").fill_null(value=False))


def _tally(rows: pl.DataFrame, faulty: pl.Expr) -> pl.DataFrame:
    return rows.group_by(COUNTED).agg(faulty=faulty.sum().cast(pl.Int64), total=pl.len().cast(pl.Int64)).sort(COUNTED)


def _read_parts(run: PastRun) -> pl.DataFrame:
    """Return the replies about datasets whose items are scored by all their parts: which are `unread`, and who judges."""
    parts = [no_rows("answers").with_columns(name=pl.lit(""), role=pl.lit(""), unread=pl.lit(value=False))]
    for name, dataset in run.blueprint.datasets.items():
        for whole in wholes_of(dataset.methods)[:1]:
            replies = run.read("answers", dataset=name).drop_nulls("text")
            unread = [whole.is_unread(part, read_object(text) or {}) for part, text in replies.select("part", "text").iter_rows()]
            judge, role = ", ".join(run.manifest.names_in(whole.judge)), whole.judge.replace("_", " ")
            answered = replies.with_columns(name=pl.lit(judge), role=pl.lit(role), unread=pl.Series(unread, dtype=pl.Boolean))
            parts.append(answered)
    return pl.concat(parts)


def count_unread(run: PastRun, by_part: pl.DataFrame | None = None) -> pl.DataFrame:
    """Return by COUNTED how many replies of the model under test cannot be read, `faulty`, of the `total`; `name` is empty."""
    of_judge = pl.col("part").str.ends_with("judge")
    parts = _tally((_read_parts(run) if by_part is None else by_part).filter(~of_judge), pl.col("unread"))
    raw = run.read("raw_scores").filter(pl.col("n_scored") > 0).with_columns(name=pl.lit(""))
    unparsed = raw.group_by(COUNTED).agg(faulty=pl.col("n_unparsed").max(), total=pl.col("n_scored").max())
    return pl.concat([parts, unparsed.join(parts, on="dataset", how="anti")]).sort(COUNTED)


def _readers(run: PastRun, replies: pl.DataFrame) -> Iterator[InstrumentCount]:
    """Count replies of the model under test over the datasets of the gate, and over the others: a verdict rests on either."""
    gate = run.blueprint.gate.ability if run.blueprint.gate else None
    titles = {name: main.title for main in run.blueprint.abilities if main.id == gate for name in main.dataset_ids}
    replies = replies.with_columns(name=pl.col("dataset").replace_strict(titles, default="", return_dtype=pl.String))
    for (model, setting, name), rows in replies.group_by("model", "setting", "name", maintain_order=True):
        system, datasets = System(str(model), str(setting)), tuple(rows["dataset"])
        faulty, total = rows.select(pl.col("faulty", "total").sum()).row(0)
        count = InstrumentCount(*system, "reader", str(name), datasets, faulty, total)
        silent = sum(_count_silent(run, system, dataset) for dataset in datasets) if count.failed else 0
        yield replace(count, faulty=count.faulty - silent)


def _count_silent(run: PastRun, system: System, dataset: str) -> int:
    """Count unparsed replies that are empty or, as the server marked them, refusals: these are the model's own."""
    keys = {"dataset": dataset, **system._asdict()}
    unread = run.read("item_scores", **keys).filter(pl.col("status") == "unparsed").unique(ASKED)
    silent = (pl.col("remark") == "refusal") | (OWN_WORDS.str.strip_chars() == "")
    return unread.join(run.read("answers", **keys).filter(silent), on=ASKED, how="semi").height


TOP = 10
"""Of the scale on which criteria of simulated persons are shown: mean / 2 x 10; arXiv 2406.14952."""


def check_simulation(run: PastRun) -> tuple[SimulationCheck, ...]:
    """Describe the persons that each model talked with, in each setting; nothing where nobody is played."""
    if not run.partitions("simulation_faults"):
        return ()
    faults, tainted = run.read("simulation_faults"), _tally_dialogues(run)
    rubric = run.manifest.plan.get("simulation_rubric") or ""
    reviews = run.read("judgements", rubric=rubric)
    counted = faults.filter(pl.col("refused").is_null())
    totals, rest = run.layers["totals"], _score_without(run, counted)
    rated = rate_answers(reviews).drop_nulls("value")
    of_ten = TOP * (pl.col("value") - pl.col("lowest")) / (pl.col("highest") - pl.col("lowest"))
    means = rated.group_by("model", "setting", "dataset", "dimension").agg(mean=of_ten.mean())
    criteria = order_dimensions(rubric, reviews["dimension"], run.blueprint.own_rubrics)

    def check(system: System) -> SimulationCheck:
        own, (dialogues, slips) = system.of(counted), system.of(tainted).select("total", "faulty").sum().row(0)
        mean_of = {(row["dataset"], row["dimension"]): row["mean"] for row in system.rows(means)}
        return SimulationCheck(
            model=system.model,
            setting=system.setting,
            dialogues=dialogues,
            tainted=slips,
            share=slips / dialogues,
            kinds=count_dialogues_by(own, "kind"),
            severities=count_dialogues_by(own, "severity"),
            refused=system.of(faults).height - own.height,
            unreviewed=None if reviews.is_empty() else dialogues - system.of(rated).select(ANSWER).n_unique(),
            all=from_row(ScoreOverDialogues, system.rows(totals)[0]),
            untainted=next((from_row(ScoreOverDialogues, row) for row in system.rows(rest)), None),
            criteria={of: {name: mean_of.get((of, name)) for name in criteria} for of in sorted({of for of, _ in mean_of})},
        )

    return tuple(check(System(*names)) for names in tainted.select("model", "setting").unique().sort("model", "setting").rows())


def _score_without(run: PastRun, faults: pl.DataFrame) -> pl.DataFrame:
    """Return rows of `totals` over the items, in each repetition, whose dialogues have none of these faults."""
    scores = run.read("item_scores").join(faults, on=ASKED, how="anti")
    settings = from_row(ScoreSettings, run.lake.read_footer(run.manifest.partition("totals")).settings)
    none: pl.DataFrame = run.layers["totals"].clear()
    return score_benchmark(scores.lazy(), run.blueprint, settings).totals if scores.height else none


def count_dialogues_by(faults: pl.DataFrame, name: str) -> dict[str, int]:
    """Return in how many dialogues a fault has each value of a column, the most frequent first."""
    counts = faults.unique([*ANSWER, name]).group_by(name).len()
    return dict(counts.sort("len", name, descending=[True, False]).rows())
