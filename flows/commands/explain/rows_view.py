"""Show on a terminal the rows behind a score: questions, replies and how they were read."""

from collections.abc import Iterator, Sequence
from typing import Any

from rich.markup import escape

from schemas.question_types import QUESTION_TYPES
from schemas.usage import TESTED
from tasks.analysis.number_format import counted, shorten

ROWS = 10
"""Shown without --worst."""

WIDTH = 300
MOST_OPTIONS = 8
Row = dict[str, Any]


def rows_view(document: Row, worst: int | None) -> Iterator[str]:
    """Show how the metrics follow from the items, and some of the items."""
    for metric in document["metrics"]:
        yield from _metric(metric)
    if document["withheld"]:
        yield escape(f"Texts are left out: the run is redacted and their licence is {document['withheld']}")
    yield from (escape(f"Note: {note}") for note in document["notes"])
    rows = document["rows"][: ROWS if worst is None else None]
    for row in rows:
        yield ""
        yield from _row(row)
    yield ""
    if worst is None and len(document["rows"]) > len(rows):
        more = counted(len(document["rows"]) - len(rows), "more row")
        yield f"and {more}: --worst 20 shows those that earn least, --json has all"
    if rows:
        yield f"Go deeper: {escape(rows[0]['next'])}"


def _metric(metric: Row) -> Iterator[str]:
    counts = ", ".join(f"{name.replace('_', ' ')} {value:g}" for name, value in metric["counts"].items())
    value = "none: no item was scored" if metric["value"] is None else f"{metric['value']:.6g}"
    found = ", ".join(f"{count} {status}" for status, count in metric["statuses"].items())
    yield escape(f"{metric['method']}.{metric['metric']} = {metric['formula']}: {counts} -> raw {value}; rows: {found}")
    for label in metric["labels"]:
        counts = f"hits {label['hits']}, predicted {label['predicted']}, gold {label['gold']}"
        yield escape(f"  {shorten(label['label'], 60)}: {counts}, f1 {label['f1']:.4f}")


def _row(row: Row) -> Iterator[str]:
    times = f", repetition {row['repetition']}" if row["repetition"] else ""
    value = "no value" if row["value"] is None else f"{row['value']:.4g}"
    yield f"[bold]{escape(row['item_id'])}[/bold]{times}: {value}   --item {escape(row['item_id'])}"
    before = f"[{row['context_characters']:,} characters before it] " if row["context_characters"] else ""
    yield escape(f"  Question: {before}{shorten(row['question'], WIDTH)}")
    if row["options"]:
        yield escape(f"  Options: {_options(row['options'], row['question_type'])}")
    for text in (row["references"] or ())[:2]:
        yield escape(f"  Right: {shorten(text, WIDTH)}")
    whose = f" of the {row['failed_role']}" if row["failed_role"] not in (None, TESTED) else ""
    reply = f"call{whose} {row['call']}, {row['failure']}" if row["reply"] is None else shorten(row["reply"], WIDTH) or "(empty)"
    yield escape(f"  Reply: {reply}" + (f" [{row['remark']}]" if row["remark"] else ""))
    for score in row["scores"]:
        value = "-" if score["value"] is None else f"{score['value']:.4g}"
        yield escape(f"  {score['method']}.{score['metric']} {value} ({score['status']}): {shorten(score['why'], WIDTH)}")
    for rating in row["ratings"]:
        given = "-" if rating["rating"] is None else f"{rating['rating']} on {rating['lowest']} to {rating['highest']}"
        yield escape(f"  {rating['judge']} rates {rating['dimension']} {given} ({rating['parse_status']})")
    for reply in dict.fromkeys(rating["raw_reply"] for rating in row["ratings"]):
        yield escape(f"  Reply of a judge: {shorten(reply or '(nothing)', WIDTH)}")


def _options(options: Sequence[Row], kind: str) -> str:
    """Return the options as shown; of more than MOST_OPTIONS only those that are right or chosen."""
    told = [option for option in options if option["gold"] or option["chosen"]]
    shown = told if len(options) > MOST_OPTIONS else options
    rest = [f"and {len(options) - len(shown)} more"] if len(shown) < len(options) else []
    return "; ".join([*(_option(option, kind) for option in shown), *rest])


def _option(option: Row, kind: str) -> str:
    names = {"index": f"{option['index']}. ", "label": ""}  # these are answered by number and by label
    marks = [word for word, is_so in (("right", option["gold"]), ("chosen", option["chosen"])) if is_so]
    marks += [f"{option['points']:g} points"] if option.get("points") is not None else []
    text = names.get(QUESTION_TYPES[kind].answer, f"{option['letter']}. ") + shorten(option["text"], 80)
    return text + (f" [{', '.join(marks)}]" if marks else "")
