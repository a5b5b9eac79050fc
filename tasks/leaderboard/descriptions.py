"""Filter and group the rows of a leaderboard by what is said of their models."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby
from statistics import mean, median

import polars as pl

from schemas.documents.leaderboard import Chosen, DescribedModels
from schemas.errors import UsageError, unknown_name
from schemas.model_description import ModelDescription
from schemas.table import Column, Table, columns
from tasks.explain.groups import hold_condition
from tasks.leaderboard.ranking import GROUP, RUN, LeaderboardData
from tasks.scoring.aggregation import rank_models
from tasks.scoring.published import PublishedTable
from tasks.solvers.registry import setting_title
from tasks.text.number_format import counted

NOTHING = ModelDescription()
COLUMNS = {"model": pl.String, "setting": pl.String, **dict.fromkeys(NOTHING.cells, pl.String), "billions": pl.Float64}
"""What a condition may name: `billions` is the size, of a range its middle."""


def choose_described(data: LeaderboardData, where: str | None, group_by: str | None) -> LeaderboardData:
    """Return the leaderboard of the models that fulfil a condition over COLUMNS, ranked among themselves, in groups of a field.

    A model of which it is not said what the condition needs is left out, and counted.

    Raises:
        UsageError: the condition cannot be read, no model fulfils it, or there is no such field.
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
    if totals.is_empty():
        raise UsageError(
            "no model of the leaderboard fulfils the condition",
            where="--where",
            expected=where,
            got=f"{counted(len(said), 'row')}; of {holds.null_count()} it is not said",
            next_step="describe models with moodflow runs describe RUN --about FILE, or change the condition",
        )
    within = [name for name in ("setting", GROUP) if name in totals.columns]
    chosen = Chosen(where=where, unknown=holds.null_count(), group_by=group_by)
    ranked = replace(data, totals=rank_models(totals, data.blueprint, within=within), chosen=chosen)
    if not data.is_published:
        left_out = data.totals.join(totals, on=["model", "setting", RUN], how="anti")
        of_runs = data.dimensions.filter(pl.col(RUN).is_in(totals[RUN].implode()))  # gold replies have no row of totals
        dimensions = of_runs.join(left_out, on=["model", "setting", RUN], how="anti", maintain_order="left")
        return replace(ranked, dimensions=dimensions)
    printed = data.paper.wide.join(totals, on=["model", "setting"], how="semi", maintain_order="left")
    return replace(ranked, paper=PublishedTable(printed))


def group_described(data: LeaderboardData) -> Iterator[DescribedModels]:
    """Yield what the rows of each group, setting and value have in common; nothing if the leaderboard is not grouped."""
    rows = data.rows if data.chosen.group_by else ()
    for (group, setting, value), of_value in groupby(rows, lambda row: (row.group, row.setting, row.said(data.chosen.group_by))):
        models = list(of_value)
        totals = {row.model: row.total for row in models if row.total is not None}
        values = list(totals.values())
        yield DescribedModels(
            group=group,
            setting=setting,
            value=value,
            rows=len(models),
            ranked=sum(row.rank is not None for row in models),
            mean=mean(values) if values else None,
            median=median(values) if values else None,
            best=max(totals, key=totals.__getitem__) if totals else None,
        )


def described_table(data: LeaderboardData) -> Table:
    """Return a row for each group of models."""
    title = str(data.chosen.group_by).capitalize()
    heads = (Column("Group", "count"), *columns("name", title, "Setting"), *columns("count", "Models", "Ranked"))
    totals = (*columns("score", "Mean total", "Median total"), Column("Best", "name"))
    rows = [
        (each.group, each.value, setting_title(each.setting), each.rows, each.ranked, each.mean, each.median, each.best)
        for each in group_described(data)
    ]
    return Table((*heads, *totals), rows, f"Models by {data.chosen.group_by}").without_empty("Group")
