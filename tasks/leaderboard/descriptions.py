"""Filter and group the rows of a leaderboard by what is said of their models."""

from dataclasses import replace

import polars as pl

from schemas.documents.leaderboard import Chosen
from schemas.errors import unknown_name
from schemas.model_description import ModelDescription
from tasks.explain.groups import hold_condition
from tasks.leaderboard.ranking import GROUP, RUN, LeaderboardData
from tasks.runs.verdict import with_headlines
from tasks.scoring.aggregation import rank_models

NOTHING = ModelDescription()
COLUMNS = {"model": pl.String, "setting": pl.String, **dict.fromkeys(NOTHING.cells, pl.String), "billions": pl.Float64}
"""What a condition may name: `billions` is the size, of a range its middle."""


def choose_described(data: LeaderboardData, where: str | None, group_by: str | None) -> LeaderboardData:
    """Return the leaderboard of the models that fulfil a condition over COLUMNS, ranked among themselves, in groups of a field.

    A model of which it is not said what the condition needs is left out, and counted. That the condition cannot be read, or that
    there is no such field, is a UsageError.
    """
    fields = ModelDescription.model_fields
    if group_by and group_by not in fields:
        raise unknown_name("field", group_by, fields, "--group-by", "name what is said of models")
    if where is None:
        return replace(data, chosen=Chosen(group_by=group_by))
    rows = list(data.totals.iter_rows(named=True))
    about = (data.about.get(row.get(RUN), {}).get(row["model"], NOTHING) for row in rows)
    said = [(row["model"], row["setting"], *each.cells.values()) for row, each in zip(rows, about, strict=True)]
    holds = hold_condition(pl.DataFrame(said, COLUMNS, orient="row"), where)
    totals = data.totals.filter(holds)
    groups = [name for name in ("setting", GROUP) if name in totals.columns]
    systems = [name for name in ("model", "setting", RUN) if name in data.dimensions.columns]
    return replace(
        data,
        totals=with_headlines(rank_models(totals, data.blueprint, within=groups), data.blueprint, data.runs),
        dimensions=data.dimensions.join(totals, on=systems, how="semi", maintain_order="left"),
        chosen=Chosen(where=where, unknown=holds.null_count(), group_by=group_by),
    )
