"""`moodflow compare RUN RUN`: compare the scores of two runs of a benchmark."""

from collections.abc import Iterator, Sequence
from typing import Annotated, Any

import typer
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from flows.commands import options as opt
from flows.commands.console import CommandResult, bold, decimal, folded, label_system, numbers, text_table
from schemas.folders import DEFAULT_LAKE
from tasks.compare.runs import compare_runs
from tasks.runs.comparable_runs import in_words
from tasks.runs.verdict import name_score, say_total, total_of
from tasks.text.number_format import counted, interval, shorten, signed, signed_interval

MOST_DIFFERENCES = 15
MOST_IDS = 5
WIDTH = 240

Row = dict[str, Any]

app = typer.Typer(add_completion=False)


@app.command()
def compare(
    before: Annotated[str, typer.Argument(metavar="RUN", help="the earlier run; moodflow runs list names them")],
    after: Annotated[str, typer.Argument(metavar="RUN", help="the later run of the same benchmark, in any profile")],
    flips: Annotated[int, typer.Option(min=0, help="show so many flipped items of each direction with both replies")] = 0,
    bootstrap: Annotated[int | None, typer.Option(min=0, help="resamples for intervals; default 1000")] = None,
    lake: opt.LakeFolder = None,
    as_json: opt.AsJson = False,
) -> None:
    """Two runs of a benchmark, the earlier one first: scores over common items, items that flipped.

    Ends with 1 if the runs cannot be compared in every respect.
    """
    document = compare_runs(lake or DEFAULT_LAKE, (before, after), flips, bootstrap)
    CommandResult(int(bool(document["warnings"])), document, _view(document)).finish(as_json=as_json)


def _view(document: Row) -> list[RenderableType]:
    """Return what a terminal shows: warnings, one table per model and setting, flipped items, and what else differs."""
    shown: list[RenderableType] = [bold(document["benchmark"], f": {document['before']} -> {document['after']}")]
    shown += [bold("Not comparable without care:", f" {warning}") for warning in document["warnings"]]
    for model in document["models"]:
        shown += [_table(model), *_total_lines(model), *_dimension_table(model), *_flip_lines(model), *_item_lines(model)]
        shown += [line for flipped in model["flipped"] for line in _flipped(flipped)]
    for side in ("before", "after"):
        shown += [f"Only {side}: {label_system(each)}" for each in document[f"only_{side}"]]
    return [*shown, *_differences(document["differences"])]


def _table(model: Row) -> Table:
    sides = (model["before"], model["after"])
    amounts = numbers("Before", "After", "Difference", "95 % interval", "Common items", "Stored before", "Stored after")
    title = " -> ".join(dict.fromkeys(map(label_system, sides)))
    table = text_table(folded(""), *amounts, title=title)
    for name, common, stored in score_rows(model):
        table.add_row(name, *common, *stored)
    return table


def score_rows(model: Row) -> Iterator[tuple[str | Text, tuple[str, ...], tuple[str, ...]]]:
    """Yield the name of each score of a pair, its cells over common items, and what each run has stored."""
    sides = (model["before"], model["after"])
    common = {(row["kind"], row["id"]): row for row in model["common"]}
    if total := next((row for row in model["common"] if row["kind"] == "total"), None):
        name = " -> ".join(dict.fromkeys(name_score(side["verdict"]).lower() for side in sides))
        yield bold(name), _common(total), tuple(decimal(side["total_before_veto"]) for side in sides)
    for row in model["stored"]:
        name = f"{'  ' if row['kind'] == 'dataset' else ''}{row['id']}"
        # Two profiles measure by other methods, so that they have no items in common.
        cells = _common(common.get((row["kind"], row["id"]), {"difference": row["difference"]}))
        yield name, cells, (decimal(row["before"]), decimal(row["after"]))


def _common(row: Row) -> tuple[str, ...]:
    if "n_items" not in row:
        return ("-", "-", signed(row["difference"], 2), "-", "-")
    difference = signed(row["difference"], 2) + (" *" if row["is_clear"] else "")
    interval = signed_interval(row["ci_low"], row["ci_high"], 2)
    return (decimal(row["before"]), decimal(row["after"]), difference, interval, str(row["n_items"]))


def _total_lines(model: Row) -> Iterator[str]:
    before, after = model["before"], model["after"]
    yield "* the interval leaves out 0. Before, After and Difference are over the items that both runs scored."
    yield "Without common items, Difference is that of the stored scores."
    for name, side in (("Before", before), ("After", after)):
        if side["verdict"] != "scored":
            yield f"{name}: {side['headline']}"
    verdicts = " -> ".join(side["verdict"] for side in (before, after))
    ranks = " -> ".join(str(side["rank"] or "-") for side in (before, after))
    coverage = " -> ".join(f"{100 * side['coverage']:.0f} %" for side in (before, after))
    yield f"Total {say_total(total_of(before))} -> {say_total(total_of(after))}, {verdicts}, rank {ranks}, coverage {coverage}"


def _dimension_table(model: Row) -> Iterator[Table]:
    """Show means of rated dimensions side by side, in points of their scales; nothing if no run has any."""
    amounts = numbers("Scale", "Before", "95 % interval", "After", "95 % interval", "Difference")
    table = text_table(folded("Rated dimension"), *amounts)
    for row in model["dimension_scores"]:
        cells = [_mean(row[side]) for side in ("before", "after")]
        scales = dict.fromkeys(f"{side['scale_min']} to {side['scale_max']}" for side in (row["before"], row["after"]) if side)
        name = f"{row['dataset']}: {row['dimension']}"
        table.add_row(name, " -> ".join(scales), *cells[0], *cells[1], signed(row["difference"], 2))
    if table.row_count:
        yield table


def _mean(side: Row | None) -> tuple[str, str]:
    if side is None:
        return "-", "-"
    return decimal(side["mean"]), interval(side["ci_low"], side["ci_high"], 2)


def _flip_lines(model: Row) -> Iterator[str]:
    for metric in model["flips"]:
        if not metric["fell"] and not metric["rose"]:
            continue
        fell, rose = ("right -> wrong", "wrong -> right") if metric["binary"] else ("lower", "higher")
        test = "" if metric["p_value"] is None else f"; McNemar exact p = {metric['p_value']:.3g}"
        moved = f"{_counted_ids(metric['fell'], fell)}; {_counted_ids(metric['rose'], rose)}"
        yield f"{metric['dataset']}, {metric['method']}.{metric['metric']}, {metric['n_items']} common items: {moved}{test}"


def _counted_ids(ids: Sequence[str], word: str) -> str:
    more = f" and {len(ids) - MOST_IDS} more" if len(ids) > MOST_IDS else ""
    return f"{len(ids)} {word}" + (f" ({', '.join(ids[:MOST_IDS])}{more})" if ids else "")


def _item_lines(model: Row) -> Iterator[str]:
    for row in model["items"]:
        words = {"only_before": "only before", "only_after": "only after", "changed": "changed under the same id"}
        if parts := [_counted_ids(row[name], word) for name, word in words.items() if row[name]]:
            yield f"Items of {row['dataset']}: {row['common']} in both, {'; '.join(parts)}"


def _flipped(flipped: Row) -> Iterator[RenderableType]:
    question = next((row["question"] for row in flipped["after"]), "")
    what = f"of {flipped['dataset']} {flipped['direction']}: {shorten(question, WIDTH)}"
    yield bold(f"\n{flipped['item_id']}", f" {what}")
    measured = (flipped["method"], flipped["metric"])
    for side in ("before", "after"):
        for row in flipped[side]:
            for score in (each for each in row["scores"] if (each["method"], each["metric"]) == measured):
                said = next((each for each in row["answers"] if each["part"] == score["part"]), row)
                value = "-" if score["value"] is None else f"{score['value']:.4g}"
                reply = shorten(said["reply"] or f"({said['call'] or counted(len(row['answers']), 'answer')})", WIDTH)
                part = f", part {score['part']}" if score["part"] else ""
                yield f"  {side}{part}, {value}: {reply} -> {score['why']}"


def _differences(rows: Sequence[Row]) -> Iterator[RenderableType]:
    if rows:
        yield bold("What else differs", f", {counted(len(rows), 'thing')}:")
    for row in rows[:MOST_DIFFERENCES]:
        yield f"  {row['what']}: {shorten(in_words(row['before']), 60)} -> {shorten(in_words(row['after']), 60)}"
    if len(rows) > MOST_DIFFERENCES:
        yield f"  and {len(rows) - MOST_DIFFERENCES} more: --json lists them"
