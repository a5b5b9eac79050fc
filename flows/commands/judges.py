"""`moodflow judges`: how far the judges of a run agree with people."""

from collections import Counter
from pathlib import Path
from typing import Annotated

import polars as pl
import typer
from rich.console import RenderableType

from flows.commands import options as opt
from flows.commands.console import CommandResult, decimal, detail_lines, folded, numbers, text_table
from schemas.folders import DEFAULT_LAKE
from tasks.compare.judge_agreement import certificates
from tasks.compare.judged_ratings import join_ratings, read_human_ratings
from tasks.compare.runs import RESAMPLES
from tasks.runs.past_run import reopen
from tasks.scoring.uncertainty import Resampling

FEW_CLUSTERS = 10

app = typer.Typer(no_args_is_help=True, add_completion=False)

Human = Annotated[Path, typer.Option("--human", metavar="FILE", help="ratings by people: .parquet, .csv or .jsonl")]


@app.callback()
def _group() -> None:
    """Judges, and how far they agree with people."""


@app.command("check")
def check_command(run: opt.Run, human: Human, lake: opt.LakeFolder = None, as_json: opt.AsJson = False) -> None:
    """Compare judges with people, beside people with each other and the best constant. Ends with 1 if rows were refused."""
    past, ratings = reopen(lake or DEFAULT_LAKE, run), read_human_ratings(human)
    joined = join_ratings(ratings.good, past)
    table = certificates(joined, Resampling(RESAMPLES, int(past.manifest.plan.get("seed", 0))))
    refused = ratings.read - ratings.good.height
    counts = {"read": ratings.read, "good": ratings.good.height, "refused": refused, "refused_by_rule": ratings.refused}
    document = {"run": run, "human": str(human), **counts, "left_out": joined.left_out}
    view = [*detail_lines(document), *_view(table)]
    CommandResult(int(refused > 0), {**document, "certificates": table.to_dicts()}, view).finish(as_json=as_json)


def _view(table: pl.DataFrame) -> list[RenderableType]:
    heads = numbers("Units", "Value", "95 %", "People", "Same targets", "Constant")
    shown, undefined = text_table(folded("Judge"), folded("Dimension"), "Statistic", "Level", *heads), Counter[str]()
    for row in table.iter_rows(named=True):
        if row["value"] is None:
            undefined[row["undefined_because"]] += 1
            continue
        ends = "-" if row["value_low"] is None else f"{row['value_low']:.2f} to {row['value_high']:.2f}"
        sides = (decimal(row[f"{side}_value"]) for side in ("human", "same_targets", "constant"))
        names = (f"{row['judge']} {row['rubric']}", row["dimension"], row["statistic"], row["level"])
        shown.add_row(*names, str(row["n_units"] or "-"), decimal(row["value"]), ends, *sides)
    notes = [f"Undefined: {n} rows, {why}" for why, n in undefined.items()]
    few = f"Intervals rest on few clusters, below {FEW_CLUSTERS}"
    return [shown, *notes, *([few] if (table["n_clusters"] < FEW_CLUSTERS).any() else [])]
