"""The pages that find what recurs among the rows of a run, and `compare`, which shows what changed since another run."""

from collections.abc import Iterable, Iterator
from itertools import groupby

from schemas.documents.comparison import SystemComparison
from schemas.documents.patterns import RowGroup
from schemas.documents.rows import RowFilter, RowId, RowStatus
from schemas.roles import JUDGE
from schemas.table import Cell, Column, Table, columns
from tasks.compare.runs import compare_runs
from tasks.models.http.failures import FAILURE_KINDS
from tasks.reporting.view.addresses import Address, row_address, rows_address
from tasks.reporting.view.score_pages import run_crumbs
from tasks.reporting.view.site import Params, Site, link, records_table, render_page
from tasks.rows.patterns import group_failed_calls, group_unread, items_all_fail, order_flips
from tasks.runs.past_run import PastRun
from tasks.runs.run_list import describe_runs
from tasks.runs.run_tables import System
from tasks.runs.sections import Block
from tasks.text.number_format import count, counted

MOST_FLIPS = 100
"""Items that a comparison lists for a system and direction; all are behind its link."""

NO_RATING = "no rating came. What to do: see that the judge's server answers, then run again."


def render_unread(run: PastRun, _: Params, site: Site) -> str:
    """Return the page of the replies that cannot be read, by their shape."""
    groups = group_unread(run)
    overview = records_table("Unread replies by shape", groups, name="shape", count="rows")
    blocks = [_group_block(run, site, group.shape, "", group, "unread") for group in groups]
    return _render(run, site, "Unread replies", [Block(tables=(overview,)), *blocks] if blocks else ())


def render_failed(run: PastRun, _: Params, site: Site) -> str:
    """Return the page of the failed calls, by the server's message."""
    blocks = []
    for group in group_failed_calls(run):
        kind = FAILURE_KINDS[group.failure] if group.failure else None
        what = f"{group.failure}: {kind.meaning}. What to do: {kind.remedy}." if kind else NO_RATING
        words = f"{group.asked_model} was asked, as {group.role}; {what}"
        status: RowStatus = "judge failed" if group.role == JUDGE else "call failed"
        blocks.append(_group_block(run, site, group.message, words, group, status))
    return _render(run, site, "Failed calls", blocks)


def render_hard(run: PastRun, _: Params, site: Site) -> str:
    """Return the page of the items that all systems fail."""
    heads = (*columns("name", "Item", "Right", "Most answered"), *columns("count", "Times", "Systems", "Unread"))
    blocks = []
    for dataset, items in groupby(items_all_fail(run), lambda item: item.dataset):
        rows = []
        for item in items:
            wrong = Cell(item.wrong, "is the gold right?" if item.gold_in_doubt else "")
            name = link(item.item_id, site, row_address(run.name, item))
            rows.append((name, item.gold, wrong, item.wrong_systems, item.systems, item.unread))
        title, words = run.blueprint.datasets[dataset].title, f"{counted(len(rows), 'item')} that every system fails."
        blocks.append(Block(title, words, (Table(heads, rows, "Items that all fail"),)))
    return _render(run, site, "Items that all models fail", blocks)


def render_flips(run: PastRun, _: Params, site: Site) -> str:
    """Return the page of the items whose order of options flips the answer."""
    heads = (Column("Item", "name"), *columns("code", "Letters chosen", "Options chosen, by their number in the item"))
    blocks = []
    for flips in order_flips(run):
        rows = []
        for item in flips.flipped:
            row = RowId(**flips.model_dump(exclude={"items", "flipped"}), item_id=item.item_id, repetition=item.repetitions[0])
            options = (None if option is None else str(option + 1) for option in item.options)
            chosen = (" ".join(each or "-" for each in names) for names in (item.letters, options))
            rows.append((link(item.item_id, site, row_address(run.name, row)), *chosen))
        title = f"{run.blueprint.datasets[flips.dataset].title}: {System(flips.model, flips.setting).label}"
        words = f"The answer flips in {len(rows)} of {counted(flips.items, 'item')} read in two orders or more."
        blocks.append(Block(title, words, (Table(heads, rows, "Items whose order decides"),)))
    once = Block(words="Every item was asked in one order of its options. To ask in others, run with --set permute=4.")
    return _render(run, site, "Answers that follow the order", blocks or [once])


def render_compare(run: PastRun, params: Params, site: Site) -> str:
    """Return the page of what changed since another run, or the runs to choose from; errors are those of `compare_runs`."""
    if other := params.get("other"):
        document = compare_runs(run.lake.root, (other, run.name), flips=0, bootstrap=0)
        blocks = [block for model in document.models for block in _compared(run, site, document.before, model)]
        return _render(run, site, f"Changes since {document.before}", [Block(warnings=document.warnings), *blocks])
    runs = [each.run for each in describe_runs(run.lake.root).runs if each.benchmark == run.manifest.benchmark]
    rows = [[link(name, site, Address("compare", run.name, (("other", name),)))] for name in runs if name != run.name]
    return _render(run, site, "Compare with", [Block(tables=(Table((Column("Run", "name"),), rows, "Runs"),))] if rows else ())


def _compared(run: PastRun, site: Site, other: str, model: SystemComparison) -> Iterator[Block]:
    before, after = (System(side.model, side.setting) for side in (model.before, model.after))
    rows = []
    for flip in model.flips:
        changed = RowFilter(dataset=flip.dataset, **after._asdict(), changed_since=other)
        name = link(flip.dataset, site, rows_address(run.name, changed))
        rows.append((name, flip.metric, flip.n_items, len(flip.fell), len(flip.rose)))
    heads = (*columns("name", "Dataset", "Metric"), *columns("count", "Items in both", "Right to wrong", "Wrong to right"))
    yield Block(after.label, "Of metrics with shares: items that fell and that rose.", (Table(heads, rows, "Flips"),))
    beside = {"beside_run": other, "beside": before.model, "beside_setting": before.setting}
    for title, direction in (("Right to wrong", "fell"), ("Wrong to right", "rose")):
        moved = dict.fromkeys((flip.dataset, item) for flip in model.flips for item in getattr(flip, direction))
        cells = []
        for dataset, item in [*moved][:MOST_FLIPS]:
            row = RowId(dataset=dataset, item_id=item, **after._asdict(), repetition=0)
            cells.append((link(item, site, row_address(run.name, row, **beside)), dataset))
        table = Table(columns("name", "Item", "Dataset"), cells, title)
        yield Block(f"{title}: {after.label} ({count(len(moved))})", tables=(table,), folds=True)


def _render(run: PastRun, site: Site, title: str, blocks: Iterable[Block]) -> str:
    shown = [*blocks] or [Block(words="There is nothing of this kind.")]
    return render_page("findings", run, site, crumbs=(*run_crumbs(run, site), Cell(title)), title=title, blocks=shown)


def _group_block(run: PastRun, site: Site, title: str, words: str, group: RowGroup, status: RowStatus) -> Block:
    rows = []
    for each in group.counts:
        wanted = RowFilter.model_validate({each.facet: each.value, "status": status})
        rows.append((each.facet, link(each.value, site, rows_address(run.name, wanted)), each.rows))
    where = Table((Column("Of"), Column("Name", "name"), Column("Rows", "count")), rows, "Where")
    examples = []
    for row in group.examples:
        name = link(row.item_id, site, row_address(run.name, row))
        examples.append((name, row.dataset, row.model, row.setting, row.reply))
    heads = (*columns("name", "Item", "Dataset", "Model", "Setting"), Column("Reply"))
    table = Table(heads, examples, "Examples").without_empty("Reply")
    return Block(f"{title} ({count(group.rows)})", words, (table, where))
