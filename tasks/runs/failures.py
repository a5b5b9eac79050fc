"""Tell whose failures left values missing, those of the model under test, of a helper or of the judge, and which calls failed."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import polars as pl

from schemas.documents.run import FailedCalls
from schemas.lineage import RunManifest
from schemas.roles import JUDGE
from schemas.tables.layers import FROM_OUTSIDE
from schemas.tables.responses import Judgements, Responses
from schemas.usage import TESTED
from tasks.lake.lake import Lake
from tasks.models.http.client import BUDGET_SPENT
from tasks.models.http.failures import FAILURE_KINDS
from tasks.models.long_prompts import WAS_CUT
from tasks.solvers.answers import ANSWER, ASKED, ITEM

METRIC = ["model", "setting", "dataset", "method", "metric"]
"""Columns that name a number of a dataset."""

NOT_SENT = "budget"
"""In place of a role: nobody failed, but the budget was spent before the call was sent."""


@dataclass(frozen=True)
class Lost:
    """Items of one model and setting without a score since a call failed or was not sent.

    `roles`: whose calls, or NOT_SENT, by dataset. `items_of_others`: how many items the model under test is not to blame for.
    """

    roles: Mapping[str, frozenset[str]]
    items_of_others: int


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


def find_lost(item_scores: pl.DataFrame, answers: pl.DataFrame) -> Lost:
    """Return whose failures cost one model and setting items; one that lacks a part lacks its score."""
    lost = find_failures(item_scores, answers)
    by_dataset = lost.group_by("dataset").agg(pl.col("failed_role").unique()).iter_rows()
    blamed = lost.group_by(*ITEM, "repetition").agg(others=(pl.col("failed_role") != TESTED).all())
    return Lost({dataset: frozenset(roles) for dataset, roles in by_dataset}, int(blamed["others"].sum()))


def name_role(manifest: RunManifest, role: str, model: str) -> str:
    """Return a role as readers know it, with the models that the plan names for it, or that under test."""
    if role in {TESTED, NOT_SENT}:
        return role
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
        place = dict(ref.place)
        if ref.layer not in FROM_OUTSIDE or (ref.complete and ref.layer != "judgements"):
            continue
        dataset, setting, tested = place["dataset"], place["setting"], place["model"]
        if ref.layer == "judgements":
            sent, lost = pl.col("error").ne_missing(BUDGET_SPENT), pl.col("parse_status") == "failed"
            unrated = lake.read(ref, Judgements).filter(pl.col("rating").is_null(), sent)
            reason = pl.when(lost).then(pl.col("error").filter(lost).min()).otherwise("error").fill_null("no reason was kept")
            for (status, why), rows in unrated.group_by("parse_status", reason, maintain_order=True):
                word, remedy = ("", "run again") if status == "failed" else ("readable ", "see the replies: moodflow explain")
                if why.startswith(WAS_CUT):
                    remedy = FAILURE_KINDS["prompt_cut"].remedy
                what = f"no {word}rating of {tested}'s answers: {why}"
                yield (dataset, place["judge"], setting, what, rows["call_key"].n_unique(), remedy), None
            continue
        failed = lake.read(ref, Responses).cast({"failure": pl.String}).filter(pl.col("failure") != NOT_SENT)
        by_kind = ["asked_model", "role", "failure"]
        kinds = failed.group_by(by_kind).agg(pl.len(), pl.col("error").drop_nulls().first()).sort(by_kind)
        for model, role, failure, calls, error in kinds.iter_rows():
            kind, of = FAILURE_KINDS[failure], "" if role == TESTED else f" ({role} of {tested})"
            yield (dataset, model, setting, f"{failure}{of}: {kind.meaning}", calls, kind.remedy), error
