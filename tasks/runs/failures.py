"""Tell whose failures left values missing: those of the model under test, of a helper or of the judge."""

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from schemas.lineage import RunManifest
from schemas.roles import JUDGE
from schemas.usage import TESTED
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
