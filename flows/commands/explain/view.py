"""Show on a terminal how a score came about: the parts of a total with their arithmetic, and the rows behind it."""

from collections.abc import Iterable, Iterator, Sequence

from rich.console import RenderableType

from flows.commands.console import bold, decimal, detail_lines, folded, label_system, numbers, text_table
from schemas.question_types import QUESTION_TYPES
from schemas.usage import TESTED
from tasks.explain.totals import OPTIONS
from tasks.runs.run_tables import Row
from tasks.runs.verdict import name_score, say_interval, say_total, total_of
from tasks.text.number_format import counted, describe_gate, interval, shorten

ROWS = 10
"""Shown without --worst."""

WIDTH = 300
MOST_OPTIONS = 8
MOST_PARTS = 10


def score_view(document: Row) -> list[RenderableType]:
    """Return everything above the rows: where this is, a table of each model's parts with their arithmetic, and the way down."""
    above = " > ".join(f"{each['kind']} {each['id']}" for each in document["above"])
    title = bold(document["title"], f", run {document['run']}")
    shown: list[RenderableType] = [title, *([f"{above} > {document['kind']} {document['id']}"] if above else [])]
    return [*shown, *(line for model in document["models"] for line in _one_model(model)), *_ends(document)]


def _one_model(model: Row) -> Iterator[RenderableType]:
    part, amounts = model["part"], numbers("Weight", "Share", "Score", "Contributes", "Datasets", "Items")
    rows = (_cells(depth, each) for depth, each in _flat(part))
    table = text_table(folded(""), *amounts, "Deeper by", rows=rows, title=label_system(model))
    sums = ("", "", bold(decimal(part["score"])), "", _datasets(part), _items(part), "")
    what = name_score(model["total"]["verdict"]) if "total" in model else f"{part['kind'].replace('_', '-')} {part['id']}"
    table.add_row(bold(f"= {what}"), *sums)
    if gate := model.get("gate"):
        cells = _cells(0, gate)
        table.add_row(f"{cells[0]} (gate, not in the mean)", "", "", cells[3], "", *cells[5:])
    yield table
    yield "Share: of the score that a line is part of. Contributes: share x score; what contributes to a score adds up to it."
    yield from _formulas(part)
    if likeness := model["comparability"]:
        said = "; ".join(filter(None, (*likeness["reasons"], likeness["position"])))
        yield f"Beside the published numbers of {likeness['paper']}, {likeness['verdict']}: {said}"
    yield from (f"Instrument: {words}" for words in model["instruments"])
    if "total" in model:
        yield from _verdict(model)


def _flat(part: Row, depth: int = 0) -> Iterator[tuple[int, Row]]:
    for each in part.get("parts", ()):
        yield depth, each
        yield from _flat(each, depth + 1)


def _cells(depth: int, each: Row) -> tuple[str, ...]:
    weight = "-" if each["kind"] == "level" and each["score"] is None else f"{each['weight']:g}"
    share = "-" if each["share"] is None else f"{100 * each['share']:.2f} %"
    scores = (decimal(each["score"]), decimal(each["contributes"]))
    name = f"{'  ' * depth}{each['id']}" + (" (level)" if each["kind"] == "level" else "")
    return (name, weight, share, *scores, _datasets(each), _items(each), OPTIONS.get(each["kind"], ""))


def _datasets(each: Row) -> str:
    return "" if each["kind"] in ("metric", "dataset") else f"{each['datasets_scored']} of {each['datasets_total']}"


def _items(each: Row) -> str:
    return f"{each['n_scored']} of {each['n_total']}"


def _formulas(part: Row) -> Iterator[str]:
    """Show the raw score of every metric below a part, and what made it a number on 0-100."""
    for _, each in _flat(part):
        if measured := each.get("measured"):
            yield f"{measured['dataset']}, {each['id']}: {_formula(measured, each['score'])}"


def _formula(measured: Row, score: float | None) -> str:
    if measured["raw"] is None:
        return "no raw score: no item was scored"
    effect = "" if measured["design_effect"] is None else f", design effect {measured['design_effect']:.2f}"
    interval = "" if measured["ci_low"] is None else f" (95 % interval {measured['ci_low']:.4f} to {measured['ci_high']:.4f})"
    unread = f"; {measured['n_unparsed']} unparsed, counted as wrong" if measured["n_unparsed"] else ""
    return f"raw {measured['raw']:.6g}{interval}{effect}; {measured['formula']} = {decimal(score)}{unread}"


def _verdict(model: Row) -> Iterator[RenderableType]:
    total, judged = model["total"], total_of(model["total"])
    yield bold(judged.headline)
    yield f"Total {say_total(judged)}, {judged.verdict}; 95 % interval {say_interval(judged)}"
    if gate := model["gate"]:
        yield f"Veto by {gate['id']}: {describe_gate(total)}, the threshold is {gate['threshold']:g}"
    datasets = f"{total['datasets_scored']} of {total['datasets_total']} datasets"
    yield f"Coverage: {datasets}, {total['n_scored']} of {total['n_total']} items; rank {total['rank'] or '-'}"


def _ends(document: Row) -> Iterator[RenderableType]:
    gaps = document["missing"]
    for gap in gaps[:10]:
        yield f"Missing: {gap['dataset']} {gap['reason']}; {gap['next_step']}"
    if len(gaps) > 10:  # noqa: PLR2004
        yield f"and {counted(len(gaps) - 10, 'more gap')}: --json lists them"
    if not document["adds_up"]:
        yield bold("The stored scores are not what their parts give", ": --json marks them with adds_up: false")
    if document["next"]:
        yield f"Go deeper: {document['next']}"


def subset_view(document: Row) -> list[RenderableType]:
    """Return a table per model: each metric over the items that fulfil the condition, and over the others."""
    counts = ", ".join(f"{count} {side}" for side, count in document["items"].items())
    shown: list[RenderableType] = [f"Where {document['where']}: {counts}", f"Columns: {', '.join(document['columns'])}"]
    heads = numbers(*(head for side in ("Subset", "Complement") for head in (side, "95 % interval", "n")))
    for model in document["models"]:
        table = text_table("Score", "Dataset", *heads, title=label_system(model))
        for row in model["scores"]:
            table.add_row(row["measure"], row["dataset"], *_side(row["subset"]), *_side(row["complement"]))
        shown.append(table)
    return [*shown, document["note"]]


def _side(side: Row) -> tuple[str, str, str]:
    if side["suppressed"]:
        return "suppressed", "-", str(side["n"])
    return decimal(side["score"]), interval(side["ci_low"], side["ci_high"], 2), str(side["n"])


def rows_view(document: Row, worst: int | None) -> Iterator[RenderableType]:
    """Show how the metrics follow from the items, and some of the items."""
    for metric in document["metrics"]:
        yield from _metric(metric)
    if document["withheld"]:
        yield f"Texts are left out: the run is redacted and their licence is {document['withheld']}"
    yield from (f"Note: {note}" for note in document["notes"])
    rows = document["rows"][: ROWS if worst is None else None]
    for row in rows:
        yield ""
        yield from _row(row)
    yield ""
    if worst is None and len(document["rows"]) > len(rows):
        more = counted(len(document["rows"]) - len(rows), "more row")
        yield f"and {more}: --worst 20 shows those that earn least, --json has all"
    if rows:
        yield f"Go deeper: {rows[0]['next']}"


def _metric(metric: Row) -> Iterator[str]:
    counts = ", ".join(f"{name.replace('_', ' ')} {value:g}" for name, value in metric["counts"].items())
    value = "none: no item was scored" if metric["value"] is None else f"{metric['value']:.6g}"
    found = ", ".join(f"{count} {status}" for status, count in metric["statuses"].items())
    yield f"{metric['method']}.{metric['metric']} = {metric['formula']}: {counts} -> raw {value}; rows: {found}"
    for label in metric["labels"]:
        counts = f"hits {label['hits']}, predicted {label['predicted']}, gold {label['gold']}"
        yield f"  {shorten(label['label'], 60)}: {counts}, f1 {label['f1']:.4f}"


def _row(row: Row) -> Iterator[RenderableType]:
    times = f", repetition {row['repetition']}" if row["repetition"] else ""
    value = "no value" if row["value"] is None else f"{row['value']:.4g}"
    yield bold(row["item_id"], f"{times}: {value}   --item {row['item_id']}")
    before = f"[{row['context_characters']:,} characters before it] " if row["context_characters"] else ""
    yield f"  Question: {before}{shorten(row['question'], WIDTH)}"
    if row["options"]:
        yield f"  Options: {_options(row['options'], row['question_type'])}"
    for text in (row["references"] or ())[:2]:
        yield f"  Right: {shorten(text, WIDTH)}"
    for answer in row["answers"][:MOST_PARTS] or [row]:
        yield from _answer(answer)
    if len(row["answers"]) > MOST_PARTS:
        yield f"  and {counted(len(row['answers']) - MOST_PARTS, 'more part')}: --item {row['item_id']} has all"
    if row["answers"]:
        yield from _scores(_of_no_part(row["scores"]))


def _answer(row: Row) -> Iterator[str]:
    """Show what was said, which scores it has, and what the judges said of it."""
    if "part" in row:
        yield f"  Part {row['part']}:"
    yield from _said(row)
    yield from _scores(row["scores"])
    for rating in row["ratings"]:
        given = "-" if rating["rating"] is None else f"{rating['rating']} on {rating['lowest']} to {rating['highest']}"
        yield f"  {rating['judge']} rates {rating['dimension']} {given} ({rating['parse_status']})"
    for reply in dict.fromkeys(rating["raw_reply"] for rating in row["ratings"]):
        yield f"  Reply of a judge: {shorten(reply or '(nothing)', WIDTH)}"


def _scores(scores: Iterable[Row]) -> Iterator[str]:
    for score in scores:
        value = "-" if score["value"] is None else f"{score['value']:.4g}"
        yield f"  {score['method']}.{score['metric']} {value} ({score['status']}): {shorten(score['why'], WIDTH)}"


def item_view(document: Row) -> Iterator[RenderableType]:
    """Show everything about one item; what belongs to one of several answers, with it alone."""
    asked = [
        {**each, "turns": None, "ratings": None, "scores": _of_no_part(each["scores"])} if each["answers"] else each
        for each in document["asked"]
    ]
    return detail_lines({**document, "asked": asked})


def _of_no_part(scores: Sequence[Row]) -> list[Row]:
    return [score for score in scores if not score["part"]]


def _said(row: Row) -> Iterator[str]:
    """Show the turns of a dialogue, a line each, and the reply where it is none."""
    lines = [(turn["speaker"], turn["text"]) for turn in row["turns"] or ()]
    yield from (f"  {speaker}: {shorten(text, WIDTH)}" for speaker, text in lines)
    if lines and row["reply"] == "\n".join(f"{speaker}: {text}" for speaker, text in lines):
        return
    whose = f" of the {row['failed_role']}" if row["failed_role"] not in (None, TESTED) else ""
    reply = f"call{whose} {row['call']}, {row['failure']}" if row["reply"] is None else shorten(row["reply"], WIDTH) or "(empty)"
    yield f"  Reply: {reply}" + (f" [{row['remark']}]" if row["remark"] else "")


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
