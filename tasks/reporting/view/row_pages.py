"""The pages `rows` and `row`: what was asked and answered, as a list that can be narrowed, and one of them whole."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, get_args

from schemas.documents.answered_item import AskedOnce, ItemExplanation
from schemas.documents.rows import RowEntry, RowFilter, RowId, RowOrder, RowsPage
from schemas.errors import unknown_name
from schemas.table import Cell, Column, Part, Table, Value, columns
from tasks.explain.rows import explain_item, find_dataset_of
from tasks.explain.totals import BlueprintPath, Selection, choose_systems, find_place
from tasks.reporting.content.evidence import DialogueLine, dialogue_lines, make_excerpt, make_needle_excerpt
from tasks.reporting.view.addresses import row_address
from tasks.reporting.view.score_pages import place_crumbs
from tasks.reporting.view.site import Page
from tasks.rows.index import open_rows
from tasks.rows.query import find_rows, read_filter
from tasks.runs.past_run import PastRun, reopen
from tasks.runs.run_tables import System
from tasks.solvers.registry import setting_title
from tasks.text.number_format import count
from tasks.text.replies import read_object

MOST_TEXT, SHOWN_TEXT = 20_000, 1_500
"""Characters of a text that a page holds; its width before it is folded."""


def render_rows(page: Page) -> str:
    """Return the page of the rows that a filter asks for."""
    run, wanted = page.run, read_filter(page.params.items())
    found = find_rows(run, open_rows(run), wanted, page.site.rows)
    crumbs = page.crumbs
    if wanted.model and wanted.setting:
        named = [(name, value) for name in ("dataset", "task", "ability") if (value := getattr(wanted, name))]
        place = find_place(run.blueprint, replace(Selection(), **dict(named[:1])))
        crumbs = place_crumbs(page, System(wanted.model, wanted.setting), place)
    chips = []  # each part of the filter leads to the page without it
    for name, value in wanted.model_dump(exclude_defaults=True, exclude={"after", "order", "descending"}).items():
        without = wanted.model_copy(update={name: RowFilter.model_fields[name].default, "after": None})
        words = "" if value is True else f": {_words(run, name, str(value))}"
        chips.append(page.link_rows(f"{name.replace('_', ' ')}{words}", without))
    ways = (("First page", wanted.after, None), ("Next page", found.next, found.next))
    return page.render(
        "Rows",
        "rows",
        crumbs=(*crumbs, Cell("Rows", "" if found.matches is None else count(found.matches))),
        found=found,
        wanted=wanted.model_dump(),
        action=page.link_rows("", RowFilter()).href,
        table=_rows_table(page, found.rows),
        choices=_choices(run, found),
        chips=chips,
        ways=[page.link_rows(words, wanted.model_copy(update={"after": key})) for words, is_there, key in ways if is_there],
    )


def _rows_table(page: Page, rows: Sequence[RowEntry]) -> Table:
    """Return the rows; what a reply was read as is said where it says more, and judges read a reply as it is."""
    heads = (*columns("name", "Item", "Model", "Setting"), Column("Status", "verdict"))
    cells = []
    for row in rows:
        is_same = row.read_as in (None, row.reply) or row.rating is not None
        reply = row.reply and Cell(row.reply, "" if is_same else f"read as {row.read_as}", language=row.language)
        question, gold = (text and Cell(text, language=row.language) for text in (row.question, row.gold))
        item = page.link_row(row.item_id, row, _words(page.run, "dataset", row.dataset))
        about = (item, row.model, setting_title(row.setting), row.status)
        cells.append((*about, row.score, row.rating, row.faults, question, reply, gold))
    texts = (Column("Faults", "count"), *columns("text", "Question", "Reply", "Right"))
    table = Table((*heads, *columns("score", "Score", "Rating", digits=1), *texts), cells, "Rows")
    return table.without_empty("Rating", "Faults", "Right")


def _choices(run: PastRun, found: RowsPage) -> dict[str, list[tuple[str, str]]]:
    """Return what each field of the form offers, with how many rows that gives where they are counted."""
    choices: dict[str, list[tuple[str, str]]] = {}
    for each in found.counts:
        choices.setdefault(each.facet, []).append((each.value, f"{_words(run, each.facet, each.value)} ({count(each.rows)})"))
    choices["ability"] = [
        (node.id, f"{'· ' * (tier - 1)}{node.title}") for tier, node in run.blueprint.nodes() if node.dataset_ids
    ]
    choices["task"] = [(task.id, task.title) for _, task in run.blueprint.tasks()]
    return choices | {"order": [(order, order) for order in get_args(RowOrder)[1:]]}


def _words(run: PastRun, field: str, value: str) -> str:
    if field == "dataset" and value in run.blueprint.datasets:
        return run.blueprint.datasets[value].title
    return setting_title(value) if field == "setting" else value


def read_row(run: PastRun, params: Mapping[str, str]) -> ItemExplanation:
    """Return the document behind a page `row`, of the one time that it names; UsageError: the run has no such row."""
    row = _row_id(params)
    (system,) = choose_systems(run, Selection(model=row.model, setting=row.setting))
    find_dataset_of(run, row.item_id, [find_place(run.blueprint, Selection(dataset=row.dataset)).dataset or ""])
    document = explain_item(run, row.dataset, system, row.item_id)
    asked = {str(each.repetition): each for each in document.asked}
    if str(row.repetition) not in asked:
        raise unknown_name("repetition", str(row.repetition), asked, f"item {row.item_id}", document.above)
    return document.model_copy(update={"asked": (asked[str(row.repetition)],)})


def _row_id(params: Mapping[str, str]) -> RowId:
    return RowId.model_validate({name: text for name, text in params.items() if name in RowId.model_fields})


BESIDE = {"model": "beside", "setting": "beside_setting", "run": "beside_run"}
"""Parameters of the page of a row that name another model, setting or run, whose answer to the same item is shown next to it."""


def render_row(page: Page) -> str:
    """Return the page of a row, and next to it the same item of another model, setting or run where one is named."""
    run, params = page.run, dict(page.params)
    document, row = read_row(run, params), _row_id(params)
    shown, beside = [(run, document)], {name: params[field] for name, field in BESIDE.items() if params.get(field)}
    if beside:
        other = reopen(run.lake.root, beside["run"]) if "run" in beside else run
        shown.append((other, read_row(other, params | beside)))
    item: Any = document.item
    system, context = System(row.model, row.setting), document.context
    listed = RowFilter(dataset=row.dataset, model=row.model, setting=row.setting)
    crumbs = place_crumbs(page, system, BlueprintPath(dataset=row.dataset))
    return page.render(
        row.item_id,
        "row",
        crumbs=(*crumbs, page.link_rows("Rows", listed), Cell(row.item_id)),
        commands=[run.command("explain", "--dataset", row.dataset, "--item", row.item_id, *run.options(system))],
        document=document,
        row=row,
        shown=shown,
        needle=make_needle_excerpt(item.context, context.model_dump()) if context and item.context else None,
        others={
            name: dict.fromkeys(own for each in run.systems if (own := getattr(each, name)) != params[name])
            for name in System._fields
        },
        params=dict.fromkeys(BESIDE.values(), "") | params,
        **open_rows(run).rows.filter(**row.model_dump()).select("status", "faults").collect().row(0, named=True),
        as_json=page.site.links(row_address(run.name, row, format="json")) if page.site.answers_forms else None,
        beside_fields=BESIDE,
        excerpt_of=lambda text: make_excerpt(text, MOST_TEXT, SHOWN_TEXT),
        **{function.__name__: function for function in (dialogue_of, mark_needle, rating_table, read_turns, split_at_quotes)},
    )


def dialogue_of(asked: AskedOnce) -> Iterator[DialogueLine]:
    """Yield the lines of a dialogue with the faults at each."""
    turns, faults = ([each.model_dump() for each in rows] for rows in (asked.turns or (), asked.faults))
    return dialogue_lines(turns, faults, MOST_TEXT, SHOWN_TEXT)


def rating_table(asked: AskedOnce) -> Table:
    """Return the ratings, each of the highest of its scale; how one was read is said where it is no plain number."""
    is_repeated = any(rating.judge_repetition for rating in asked.ratings)
    rows = []
    for rating in asked.ratings:
        given = None if rating.rating is None else Part(rating.rating, rating.highest)
        read = "" if rating.parse_status == "parsed" else rating.parse_status
        about = (rating.part, rating.dimension.replace("_", " "), rating.judge)
        rows.append((*about, rating.judge_repetition + 1 if is_repeated else None, given, read))
    heads = (*columns("name", "Part", "Dimension", "Judge"), Column("Time", "count"), Column("Rating", "part"), Column("Read"))
    return Table(heads, rows, "Ratings").without_empty("Part", "Time", "Read")


def split_at_quotes(text: str, quotes: Sequence[str]) -> list[str]:
    """Split a text at the quotes that it has; each odd part is one. They may differ from it in white space."""
    patterns = [r"\s+".join(map(re.escape, quote.split())) for quote in sorted(quotes, key=len, reverse=True) if quote.strip()]
    return re.split(f"({'|'.join(patterns)})", text) if patterns else [text]


def mark_needle(text: str, needle: str | None) -> tuple[str, str, str]:
    """Split a chunk before and after what it has of a needle: all of it, or the part that a cut left at one of its ends.

    All of the text comes first if it has nothing of the needle.
    """
    if not needle:
        return text, "", ""
    if needle in text:
        return text.partition(needle)
    if text in needle:
        return "", text, ""
    for size in range(min(len(text), len(needle)), 0, -1):
        if text.endswith(needle[:size]):
            return text[:-size], text[-size:], ""
        if text.startswith(needle[-size:]):
            return "", text[:size], text[size:]
    return text, "", ""


def read_turns(document: ItemExplanation, asked: AskedOnce) -> Iterator[tuple[Any, ...]]:
    """Yield the turns of an item with several answers, then what is about no turn.

    Each has a title, its first call, what people noted (gold with a `number` is of that turn) and what the model answered.
    """
    calls: Any = asked.calls
    noted: dict[str, list[tuple[Value, Value]]] = {}
    for row in document.gold:
        turn = f"turn {row.columns['number']}" if "number" in row.columns else ""
        stated = {name: value for name, value in row.columns.items() if name != "number" and value not in (None, "", [], {})}
        noted.setdefault(turn, []).extend(_fields(stated))
    inferred: dict[str, list[tuple[Value, Value]]] = {}
    for answer in asked.answers:
        turn, what = answer.part.rsplit(" ", 1) if answer.part.startswith("turn ") else ("", answer.part)
        fields = read_object(answer.reply)
        inferred.setdefault(turn, []).extend(_fields(fields, what) if fields else _fields({what: answer.reply}))
    for turn in sorted(inferred, key=lambda turn: (not turn, len(turn), turn)):
        call = next((call for call in calls if turn and str(call.step).startswith(f"{turn} ")), None)
        sides = (("Noted by people", noted.get(turn, [])), ("Inferred by the model", inferred[turn]))
        tables = (Table((Column(head, "name"), Column("Value")), rows, f"{turn or 'whole'}: {head}") for head, rows in sides)
        yield turn.capitalize() or "As a whole", call, *tables


def _fields(fields: Mapping[str, Any], part: str = "") -> Iterator[tuple[Value, Value]]:
    for name, value in fields.items():
        yield Cell(name.replace("_", " "), part), make_excerpt(_plain(value), 0, SHOWN_TEXT).short


def _plain(value: Any, depth: int = 5) -> str:
    """Return a value of JSON in words: entries after each other, the texts and numbers of one side by side."""
    if not depth:
        return "..."
    if isinstance(value, dict):
        words = {name: _plain(each, depth - 1) for name, each in value.items()}
        is_entry = {"name", "question", "emotion"} & words.keys()
        return " ".join(words.values()) if is_entry else "; ".join(f"{name} {each}" for name, each in words.items())
    if isinstance(value, list | tuple):
        return "; ".join(_plain(each, depth - 1) for each in value)
    return "" if value is None else str(value)
