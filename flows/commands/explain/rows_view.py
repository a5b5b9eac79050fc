"""Show on a terminal the rows behind a score: questions, replies and how they were read; and one row whole."""

from collections.abc import Iterator, Sequence
from typing import Any

from rich.markup import escape

from schemas.usage import TESTED
from tasks.analysis.explain_rows import statuses
from tasks.analysis.number_format import counted, shorten

ROWS = 10
"""Shown without --worst."""

WIDTH = 300
MOST_OPTIONS = 8
LONGEST = 4000
"""Characters of one text of a row that is shown whole; the JSON document has all of it."""

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
    found = ", ".join(f"{count} {status}" for status, count in statuses([metric]).items())
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
        yield escape(f"  Options: {_options(row['options'], row['question_type'], MOST_OPTIONS)}")
    for text in (row["references"] or ())[:2]:
        yield escape(f"  Right: {shorten(text, WIDTH)}")
    whose = f" of the {row['failed_role']}" if row["failed_role"] not in (None, TESTED) else ""
    reply = f"call{whose} {row['call']}, {row['failure']}" if row["reply"] is None else shorten(row["reply"], WIDTH) or "(empty)"
    yield escape(f"  Reply: {reply}" + (f" [{row['remark']}]" if row["remark"] else ""))
    yield from _scores(row)


def _scores(row: Row) -> Iterator[str]:
    for score in row["scores"]:
        value = "-" if score["value"] is None else f"{score['value']:.4g}"
        yield escape(f"  {score['method']}.{score['metric']} {value} ({score['status']}): {shorten(score['why'], WIDTH)}")
    yield from _ratings(row["ratings"])


def _ratings(ratings: Sequence[Row]) -> Iterator[str]:
    """Show what each judge gave, all dimensions of one of its replies together."""
    replies: dict[tuple[str, int, str | None], list[Row]] = {}
    for rating in ratings:
        replies.setdefault((rating["judge"], rating["judge_repetition"] or 0, rating["raw_reply"]), []).append(rating)
    for (judge, times, reply), rows in replies.items():
        scales = {_scale(row) for row in rows}
        shared = scales.pop() if len(scales) == 1 else ""
        given = ", ".join(f"{row['dimension']} {_or_dash(row['rating'])}{'' if shared else _scale(row)}" for row in rows)
        again = f", time {times + 1}" if times else ""
        yield escape(f"  {judge}{again} rates{shared}: {given} ({', '.join(sorted({row['parse_status'] for row in rows}))})")
        yield escape(f"    its reply: {shorten(reply or '(nothing)', WIDTH)}")


def _scale(rating: Row) -> str:
    return "" if rating["lowest"] is None else f" on {rating['lowest']} to {rating['highest']}"


def _options(options: Sequence[Row], kind: str, most: int | None = None) -> str:
    """Return the options as shown; of more than `most` only those that are right or chosen."""
    told = [option for option in options if option["gold"] or option["chosen"]]
    shown = told if most and len(options) > most else options
    rest = [f"and {len(options) - len(shown)} more"] if len(shown) < len(options) else []
    return "; ".join([*(_option(option, kind) for option in shown), *rest])


def _option(option: Row, kind: str) -> str:
    names = {"odd_one_out": f"{option['index']}. ", "label_choice": ""}  # these are answered by number and by label
    marks = [word for word, is_so in (("right", option["gold"]), ("chosen", option["chosen"])) if is_so]
    marks += [f"{option['points']:g} points"] if option.get("points") is not None else []
    text = names.get(kind, f"{option['letter']}. ") + shorten(option["text"], 80)
    return text + (f" [{', '.join(marks)}]" if marks else "")


def item_view(document: Row) -> Iterator[str]:
    """Show one row whole."""
    item = document["item"]
    yield f"[bold]{escape(item['item_id'])}[/bold] of {item['dataset']}: {item['question_type']}, {item['language']}"
    source = item["source"]
    yield escape(f"Source: {source['source_file']}, row {source['source_row']}, sha256 of the row {source['source_row_sha256']}")
    if document["withheld"]:
        yield escape(f"Texts are left out: the run is redacted and their licence is {document['withheld']}")
    for name in ("context", "question"):
        if item[name]:
            yield from _text(name.capitalize(), item[name])
    for text in item["references"] or ():
        yield from _text("Right", text)
    if needle := (document["context"] or {}).get("needle"):
        yield from _text(f"Needle, at {document['context']['depth_percent']} % of the text", needle)
    for asked in document["asked"]:
        yield ""
        yield from _asked(asked, item["question_type"])
    yield ""
    yield from (
        escape(f"Stored: {ref['layer']} {ref['file']} (content sha256 {ref['content_sha256'][:12]})")
        for ref in document["stored"]
    )


def _asked(asked: Row, kind: str) -> Iterator[str]:
    order = "" if asked["option_order"] is None else f", options in the order {asked['option_order']}"
    yield f"[bold]Asked, repetition {asked['repetition']}[/bold]{order}"
    if asked["options"]:
        yield escape(f"  Options as shown: {_options(asked['options'], kind)}")
    for chunk in asked["chunks"]:
        needle = ", holds the needle" if chunk["holds_needle"] else ""
        yield escape(
            f"  Retrieved, query {chunk['query_number']}, rank {chunk['rank'] + 1}{needle}: {shorten(chunk['text'], WIDTH)}"
        )
    for call in asked["calls"]:
        yield from _call(call)
    yield from _scores(asked)


def _call(call: Row) -> Iterator[str]:
    whose = "" if call["role"] == TESTED else f", by the {call['role']} {call['asked_model']}"
    yield escape(f"  Call {call['turn']}, {call['step']}{whose}, key {call['call_key']}")
    for message in call["messages"] or ():
        yield from _text(f"  Sent as {message['role']}", message["content"])
    yield escape(f"  Proof: {proof_line(call['proof'], call['messages_sha256'])}")
    if call["reasoning"]:
        yield from _text("  Reasoning", call["reasoning"])
    if call["reply"] is None:
        yield escape(f"  No reply: {call['failure']}, {call['error']}")
    else:
        yield from _text("  Reply", call["reply"] or "(empty)")
    tokens = f"{_or_dash(call['prompt_tokens'])} prompt and {_or_dash(call['completion_tokens'])} reply tokens"
    attempts = counted(call["attempts"], "attempt")
    by = f", answered by {call['answered_by']}" if call["answered_by"] else ""
    yield escape(f"  {tokens}, {call['latency_s']:.2f} s, {attempts}, finish reason {_or_dash(call['finish_reason'])}{by}")
    if call["left_out_characters"]:
        yield f"  {call['left_out_characters']:,} characters of the context were left out so that it fits the model"


def proof_line(proof: Row, sha256: str) -> str:
    """Describe what is proven of the messages, in a sentence."""
    hashed = "the messages have the stored hash" if proof["hash_holds"] else "the messages do NOT have the stored hash"
    rebuilt = {
        "same": "built once more from the item they have it too",
        "different": "built once more from the item they are DIFFERENT",
        "not rebuilt": f"not built once more: {proof['why']}",
    }[proof["rebuilt"]]
    journal = {
        "same": "the journal's call has the same messages and the key its content gives",
        "different": "the journal's call has OTHER messages (--json shows them)",
        "no such call": "the journal has no such call",
        "no journal": "there is no journal here to look into",
    }[proof["journal"]]
    return f"{hashed} {sha256[:12]}; {rebuilt}; {journal}"


def _text(name: str, text: str) -> Iterator[str]:
    if len(text) > LONGEST:
        cut = len(text) - LONGEST
        text = f"{text[: LONGEST // 2]}\n[... {cut:,} characters, --json has them ...]\n{text[-LONGEST // 2 :]}"
    indented = text.replace("\n", "\n    ")
    yield escape(f"{name}: {indented}")


def _or_dash(value: Any) -> str:
    return "-" if value is None else str(value)
