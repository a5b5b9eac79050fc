"""The pages `rows` and `row`: what was asked and answered, as a list that can be narrowed, and one of them whole."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from typing import Any, get_args

from schemas.documents.answered_item import AskedOnce, ItemExplanation
from schemas.documents.rows import RowEntry, RowFilter, RowId, RowOrder, RowsPage
from schemas.errors import unknown_name
from schemas.table import Cell, Column, Table, Value, columns
from tasks.explain.rows import explain_item, find_dataset_of
from tasks.explain.totals import BlueprintPath, Selection, choose_systems, find_place
from tasks.reporting.content.evidence import DialogueLine, dialogue_lines, make_excerpt, make_needle_excerpt
from tasks.reporting.view.addresses import row_address, rows_address
from tasks.reporting.view.score_pages import place_crumbs, run_crumbs
from tasks.reporting.view.site import MOST_TEXT, SHOWN_TEXT, Params, Site, link, render_page
from tasks.rows.index import open_rows
from tasks.rows.query import find_rows, read_filter
from tasks.runs.past_run import PastRun, reopen
from tasks.runs.run_tables import System
from tasks.solvers.registry import setting_title
from tasks.text.number_format import count
from tasks.text.replies import read_object

MOST_COMPARED = 4_000_000
"""Characters of a chunk times those of a needle, up to which a part of the needle is looked for in the chunk."""


def render_rows(run: PastRun, params: Params, site: Site) -> str:
    """Return the page of the rows that a filter asks for."""
    wanted = read_filter(params.items())
    page = find_rows(run, open_rows(run), wanted, site.rows)
    crumbs = run_crumbs(run, site)
    if wanted.model and wanted.setting:
        named = [(name, value) for name in ("dataset", "task", "ability") if (value := getattr(wanted, name))]
        place = find_place(run.blueprint, replace(Selection(), **dict(named[:1])))
        crumbs = place_crumbs(run, site, System(wanted.model, wanted.setting), place)
    first, following = (wanted.model_copy(update={"after": key}) for key in (None, page.next))
    return render_page(
        "rows",
        run,
        site,
        crumbs=(*crumbs, Cell("Rows", "" if page.matches is None else count(page.matches))),
        title="Rows",
        page=page,
        wanted=wanted.model_dump(),
        action=site.links(rows_address(run.name, RowFilter())),
        table=_rows_table(run, site, page.rows),
        choices=_choices(run, page),
        chips=[*_chips(run, site, wanted)],
        first_page=site.links(rows_address(run.name, first)) if wanted.after else None,
        next_page=site.links(rows_address(run.name, following)) if page.next else None,
    )


def _rows_table(run: PastRun, site: Site, rows: Sequence[RowEntry]) -> Table:
    heads = (Column("Item", "name"), Column("Status", "verdict"), *columns("score", "Score", "Rating", digits=1))
    cells = [
        (
            link(row.item_id, site, row_address(run.name, row), _words(run, "dataset", row.dataset)),
            *(row.status, row.score, row.rating),
            *(text and Cell(text, language=row.language) for text in (row.question, row.reply, row.read_as, row.gold)),
            *(row.model, setting_title(row.setting)),
        )
        for row in rows
    ]
    texts = columns("text", "Question", "Reply", "Read as", "Right")
    table = Table((*heads, *texts, *columns("name", "Model", "Setting")), cells, "Rows")
    return table.without_empty("Rating", "Read as", "Right")


def _choices(run: PastRun, page: RowsPage) -> dict[str, list[tuple[str, str]]]:
    """Return what each field of the form offers, with how many rows that gives where they are counted."""
    choices: dict[str, list[tuple[str, str]]] = {}
    for each in page.counts:
        choices.setdefault(each.facet, []).append((each.value, f"{_words(run, each.facet, each.value)} ({count(each.rows)})"))
    choices["ability"] = [
        (node.id, f"{'· ' * (tier - 1)}{node.title}") for tier, node in run.blueprint.nodes() if node.dataset_ids
    ]
    choices["task"] = [(task.id, task.title) for _, task in run.blueprint.tasks()]
    return choices | {"order": [(order, order) for order in get_args(RowOrder)]}


def _words(run: PastRun, field: str, value: str) -> str:
    if field == "dataset" and value in run.blueprint.datasets:
        return run.blueprint.datasets[value].title
    return setting_title(value) if field == "setting" else value


def _chips(run: PastRun, site: Site, wanted: RowFilter) -> Iterator[Cell]:
    """Yield each part of the filter with the page without it."""
    for name, value in wanted.model_dump(exclude_defaults=True, exclude={"after", "order", "descending"}).items():
        without = wanted.model_copy(update={name: RowFilter.model_fields[name].default, "after": None})
        words = "" if value is True else f": {_words(run, name, str(value))}"
        yield link(f"{name.replace('_', ' ')}{words}", site, rows_address(run.name, without))


def read_row(run: PastRun, params: Params) -> ItemExplanation:
    """Return the document behind a page `row`, of the one time that it names; UsageError: the run has no such row."""
    row = _row_id(params)
    (system,) = choose_systems(run, Selection(model=row.model, setting=row.setting))
    find_dataset_of(run, row.item_id, [find_place(run.blueprint, Selection(dataset=row.dataset)).dataset or ""])
    document = explain_item(run, row.dataset, system, row.item_id)
    asked = {str(each.repetition): each for each in document.asked}
    if str(row.repetition) not in asked:
        raise unknown_name("repetition", str(row.repetition), asked, f"item {row.item_id}", document.above)
    return document.model_copy(update={"asked": (asked[str(row.repetition)],)})


def _row_id(params: Params) -> RowId:
    return RowId.model_validate({name: text for name, text in params.items() if name in RowId.model_fields})


def _status(run: PastRun, row: RowId) -> str:
    index = open_rows(run)
    own = index.rows.filter(**row.model_dump()).select("status").collect()
    return str(own.item())


BESIDE = {"model": "beside", "setting": "beside_setting", "run": "beside_run"}
"""Parameters of the page of a row that name another model, setting or run, which the same item is shown of beside it."""


def render_row(run: PastRun, params: Params, site: Site) -> str:
    """Return the page of a row, beside it the same item of another model, setting or run where one is named."""
    document, row = read_row(run, params), _row_id(params)
    shown, beside = [(run, document)], {name: params[field] for name, field in BESIDE.items() if params.get(field)}
    if beside:
        other = reopen(run.lake.root, beside["run"]) if "run" in beside else run
        shown.append((other, read_row(other, {**params, **beside})))
    item: Any = document.item
    system, context = System(row.model, row.setting), document.context
    listed = RowFilter(dataset=row.dataset, model=row.model, setting=row.setting)
    crumbs = place_crumbs(run, site, system, BlueprintPath(dataset=row.dataset))
    return render_page(
        "row",
        run,
        site,
        crumbs=(*crumbs, link("Rows", site, rows_address(run.name, listed)), Cell(row.item_id)),
        title=row.item_id,
        document=document,
        row=row,
        shown=shown,
        needle=make_needle_excerpt(item.context, context.model_dump()) if context and item.context else None,
        others={
            name: dict.fromkeys(each) for name, each in zip(("model", "setting"), zip(*run.systems, strict=True), strict=True)
        },
        params=dict.fromkeys(BESIDE.values(), "") | dict(params),
        status=_status(run, row),
        as_json=site.links(row_address(run.name, row, format="json")) if site.answers_forms else None,
        command=run.command("explain", "--dataset", row.dataset, "--item", row.item_id, *run.options(system)),
        beside_fields=BESIDE,
        excerpt_of=lambda text: make_excerpt(text, MOST_TEXT, SHOWN_TEXT),
        **{function.__name__: function for function in (dialogue_of, mark_needle, read_turns)},
    )


def dialogue_of(asked: AskedOnce) -> Iterator[DialogueLine]:
    """Yield the lines of a dialogue with the faults at each."""
    turns, faults = ([each.model_dump() for each in rows] for rows in (asked.turns or (), asked.faults))
    return dialogue_lines(turns, faults, MOST_TEXT, SHOWN_TEXT)


def mark_needle(text: str, needle: str | None) -> tuple[str, str, str]:
    """Split a text before and after the longest part of the needle that it has; all of it comes first if it has none."""
    start, size = (text.find(needle), len(needle)) if needle else (-1, 0)
    if needle and start < 0 and len(text) * len(needle) <= MOST_COMPARED:
        start, _, size = SequenceMatcher(None, text, needle, autojunk=False).find_longest_match()
    return (text, "", "") if start < 0 else (text[:start], text[start : start + size], text[start + size :])


def read_turns(document: ItemExplanation, asked: AskedOnce) -> Iterator[tuple[Any, ...]]:
    """Yield the turns of an item with several answers, then what is about no turn.

    Each has a title, its first call, what people noted (gold with a `number` is of that turn) and what the model answered.
    """
    calls: Any = asked.calls
    parts: dict[str, list[tuple[str, str | None]]] = {}
    for answer in asked.answers:
        turn, what = answer.part.rsplit(" ", 1) if answer.part.startswith("turn ") else ("", answer.part)
        parts.setdefault(turn, []).append((what, answer.reply))
    for turn in sorted(parts, key=lambda turn: (not turn, len(turn), turn)):
        rows = (
            row.columns for row in document.gold if (f"turn {row.columns['number']}" if "number" in row.columns else "") == turn
        )
        noted = [_field(name, value) for row in rows for name, value in row.items() if name != "number"]
        inferred = [pair for part in parts[turn] for pair in _fields(*part)]
        call = next((call for call in calls if turn and str(call.step).startswith(f"{turn} ")), None)
        noted_and_inferred = (
            Table((Column(head, "name"), Column("Value")), rows, f"{turn or 'whole'}: {head}")
            for head, rows in (("Noted by people", [pair for pair in noted if pair[1]]), ("Inferred by the model", inferred))
        )
        yield turn.capitalize() or "As a whole", call, *noted_and_inferred


def _fields(part: str, reply: str | None) -> Iterator[tuple[Value, Value]]:
    """Yield the fields of a reply that is JSON; any other as it is."""
    fields = read_object(reply)
    yield from (_field(name, value, part) for name, value in (fields or {}).items())
    if not fields:
        yield part, reply and make_excerpt(reply, 0).short


def _field(name: str, value: object, part: str = "") -> tuple[Value, Value]:
    return Cell(name.replace("_", " "), part), make_excerpt(_plain(value), 0, SHOWN_TEXT).short


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
