"""The pages that find what recurs among the rows of a run, and `compare`, which shows what changed since another run."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from schemas.documents.comparison import SystemComparison
from schemas.documents.rows import RowFilter, RowGroup, RowId, RowStatus
from schemas.errors import unknown_name
from schemas.roles import JUDGE
from schemas.table import Cell, Column, Table, columns
from schemas.usage import TESTED
from tasks.compare.runs import compare_runs
from tasks.models.http.failures import FAILURE_KINDS
from tasks.reporting.view.addresses import Address
from tasks.reporting.view.site import Page
from tasks.rows.patterns import MOST_EXAMPLES, group_failed_calls, group_unread, items_all_fail, order_flips
from tasks.runs.run_list import describe_runs
from tasks.runs.run_tables import System
from tasks.runs.sections import Block
from tasks.text.number_format import count, counted, moment

MOST_OF_SHAPE = 500
"""Rows that the page of one shape of unread replies lists."""

MOST_FLIPS = 100
"""Items that a comparison lists for a system; all are behind its links."""

NO_RATING = "no rating came that can be read. What to do: see that the judge answers, and what, in the rows below."


def render_unread(page: Page) -> str:
    """Return the page of the replies that cannot be read, by their shape."""
    run, shape = page.run, page.params.get("shape")
    # A folder of files has no page of a shape: there, all is on this one.
    groups = group_unread(run, MOST_OF_SHAPE if shape or not page.site.answers_forms else MOST_EXAMPLES)
    if shape:
        chosen = [group for group in groups if group.shape == shape]
        if not chosen:
            raise unknown_name("shape", shape, (group.shape for group in groups), "unread replies", "look at all unread replies")
        back = page.link("All unread replies", Address("unread", run.name))
        return _render(page, f"Unread replies: {shape}", [_group_block(page, "Rows", "", chosen[0]), Block(links=(back,))])
    rows = [(each.shape, page.link(each.rows, Address("unread", run.name, (("shape", each.shape),)))) for each in groups]
    overview = Table((Column("Shape", "name"), Column("Rows", "count")), rows, "Unread replies by shape")
    blocks = [_group_block(page, group.shape, "", group) for group in groups]
    return _render(page, "Unread replies", [Block(tables=(overview,)), *blocks] if blocks else (), "Every reply could be read.")


def render_failed(page: Page) -> str:
    """Return the page of the failed calls, by the server's message."""
    blocks = []
    for group in group_failed_calls(page.run):
        kind = FAILURE_KINDS[group.failure] if group.failure else None
        what = f"{group.failure}: {kind.meaning}. What to do: {kind.remedy}." if kind else NO_RATING
        words = f"{group.asked_model} was asked{'' if group.role == TESTED else f', as {group.role}'}; {what}"
        status: RowStatus = "judge failed" if group.role == JUDGE else "call failed"
        blocks.append(_group_block(page, group.message, words, group, status))
    return _render(page, "Failed calls", blocks, "No call failed.")


def render_hard(page: Page) -> str:
    """Return the page of the items that all systems fail."""
    heads = (*columns("name", "Item", "Right", "Most answered"), *columns("count", "Times", "Systems", "Unread"))
    blocks = []
    for dataset, items in groupby(items_all_fail(page.run), lambda item: item.dataset):
        rows = []
        for item in items:
            wrong = Cell(item.wrong, "is the answer key right?" if item.gold_in_doubt else "")
            rows.append((page.link_row(item.item_id, item), item.gold, wrong, item.wrong_systems, item.systems, item.unread))
        title, words = page.run.blueprint.datasets[dataset].title, f"{counted(len(rows), 'item')} that every system fails."
        blocks.append(Block(title, words, (Table(heads, rows, "Items that all fail"),)))
    return _render(page, "Items that all models fail", blocks, "No item of two systems or more was failed by all.")


def render_flips(page: Page) -> str:
    """Return the page of the items whose order of options flips the answer."""
    heads = (Column("Item", "name"), *columns("code", "Letters chosen", "Options chosen, by their number in the item"))
    blocks = []
    for flips in order_flips(page.run):
        rows = []
        for item in flips.flipped:
            row = RowId(**flips.model_dump(exclude={"items", "flipped"}), item_id=item.item_id, repetition=item.repetitions[0])
            options = (None if option is None else str(option + 1) for option in item.options)
            letters, numbers = (" ".join(each or "-" for each in names) for names in (item.letters, options))
            rows.append((page.link_row(item.item_id, row), letters, numbers))
        title = f"{page.run.blueprint.datasets[flips.dataset].title}: {System(flips.model, flips.setting).label}"
        words = f"The answer flips in {len(rows)} of {counted(flips.items, 'item')} read in two orders or more."
        blocks.append(Block(title, words, (Table(heads, rows, "Items whose order decides"),) if rows else ()))
    none = "No item was read in two orders of its options. To ask in others, run with --set permute=4."
    return _render(page, "Answers that follow the order", blocks, none)


def render_compare(page: Page) -> str:
    """Return the page of what changed since another run, or the runs to choose from; errors are those of `compare_runs`."""
    run = page.run
    if other := page.params.get("other"):
        document = compare_runs(run.lake.root, (other, run.name), flips=0)
        blocks = [block for model in document.models for block in _compared(page, document.before, model)]
        return _render(page, f"Changes since {document.before}", [Block(warnings=document.warnings), *blocks])
    links = []
    for each in describe_runs(run.lake.root).runs:
        if each.benchmark == run.manifest.benchmark and each.run != run.name:
            name = each.run if each.number is None else f"#{each.number}"
            words = f"{name}, {moment(each.started_at)}: {', '.join(each.models)}"
            links.append(page.link(words, Address("compare", run.name, (("other", each.run),))))
    none = "This lake holds no other run of this benchmark."
    return _render(page, "Compare with", [Block(links=tuple(links))] if links else (), none)


def _compared(page: Page, other: str, model: SystemComparison) -> Iterator[Block]:
    before, after = (System(side.model, side.setting) for side in (model.before, model.after))
    rows = []
    for flip in model.flips:
        changed = RowFilter(dataset=flip.dataset, **after._asdict(), changed_since=other)
        name = page.link_rows(flip.dataset, changed)
        rows.append((name, flip.metric, flip.n_items, len(flip.fell), len(flip.rose)))
    heads = (*columns("name", "Dataset", "Metric"), *columns("count", "Items in both", "Right to wrong", "Wrong to right"))
    yield Block(after.label, "Of metrics with shares: items that fell and that rose.", (Table(heads, rows, "Flips"),))
    beside = {"beside_run": other, "beside": before.model, "beside_setting": before.setting}
    moved: dict[tuple[str, str, str], Cell] = {}
    for flip in model.flips:
        for change, items in (("right to wrong", flip.fell), ("wrong to right", flip.rose)):
            for item in items:
                row = RowId(dataset=flip.dataset, item_id=item, **after._asdict(), repetition=0)
                moved[item, flip.dataset, change] = page.link_row(item, row, **beside)
    cells = [(link, dataset, change) for (_, dataset, change), link in [*moved.items()][:MOST_FLIPS]]
    if cells:
        table = Table(columns("name", "Item", "Dataset", "Change"), cells, "Items that changed")
        yield Block(f"Items that changed ({count(len(moved))})", tables=(table,), folds=True)


def _render(page: Page, title: str, blocks: Sequence[Block], none: str = "") -> str:
    return page.render(title, sections=[("found", "What was found", blocks or [Block(words=none)])])


def _group_block(page: Page, title: str, words: str, group: RowGroup, status: RowStatus | None = None) -> Block:
    """Return the block of a group; names lead to all their rows of a status, if one is given."""
    rows = []
    for each in group.counts:
        wanted = RowFilter.model_validate({each.facet: each.value, "status": status})
        rows.append((each.facet, page.link_rows(each.value, wanted) if status else each.value, each.rows))
    where = Table((Column("Of"), Column("Name", "name"), Column("Rows", "count")), rows, "Where")
    examples = [(page.link_row(row.item_id, row), row.dataset, row.model, row.setting, row.reply) for row in group.examples]
    heads = (*columns("name", "Item", "Dataset", "Model", "Setting"), Column("Reply"))
    table = Table(heads, examples, "Examples").without_empty("Reply")
    shown = f"{count(len(examples))} of " if len(examples) < group.rows else ""
    return Block(f"{title} ({shown}{count(group.rows)})", words, (table, where))
