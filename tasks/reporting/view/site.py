"""What surrounds a page about a run: where its links lead, its stylesheet, and the frame that all such pages have."""

from collections.abc import Mapping, Sequence
from sys import maxsize
from typing import NamedTuple, cast

from schemas.printing import printable
from schemas.table import Cell, Column, Kind, Table, Value
from tasks.reporting.content.evidence import make_excerpt
from tasks.reporting.figures.palette import COLOURS
from tasks.reporting.page import make_environment
from tasks.reporting.view.addresses import Address, Links
from tasks.runs.past_run import PastRun
from tasks.runs.sections import Section

STYLESHEET = "view.css"
"""The file that holds `stylesheet()`."""

Params = Mapping[str, str]


MOST_TEXT, SHOWN_TEXT = 20_000, 1_500
"""Characters of a text that a page holds; its width before it is folded."""


class Site(NamedTuple):
    """Where the pages of a run are shown.

    Attributes:
        links: from an address to what a link holds.
        stylesheet: where `stylesheet()` is found from a page.
        leaderboard: where the leaderboard of the benchmark is found; null = nowhere.
        report: where the report of the run is found; null = nowhere.
        answers_forms: whether pages may be asked for by a form, which a folder of files cannot answer.
        note: what stands at the end of each page.
        rows: that a list shows at once.
    """

    links: Links
    stylesheet: str
    leaderboard: str | None = None
    report: str | None = None
    answers_forms: bool = False
    note: str = ""
    rows: int = 50


def stylesheet() -> str:
    """Return the one stylesheet of all pages about runs: that of reports, and what only these pages have."""
    return make_environment().get_template("view/view.css").render(colours=COLOURS)


def link(words: str, site: Site, address: Address, note: str = "") -> Cell:
    """Return words that lead to a page, if there is one."""
    return Cell(words, note, href=site.links(address) or "")


def records_table(title: str, records: Sequence[object], **fields: str) -> Table:
    """Return a table with a row per record; `fields`: its columns by their kind, those left out that are empty in all rows."""
    names = [(cast("Kind", kind), name) for kind, listed in fields.items() for name in listed.split()]
    heads = tuple(Column(name.replace("_", " ").capitalize(), kind) for kind, name in names)
    rows = [[_short(getattr(record, name)) for _, name in names] for record in records]
    return Table(heads, rows, title).without_empty(*(head.title for head in heads))


def _short(value: Value) -> Value:
    return make_excerpt(value, 0).short if isinstance(value, str) else value


def render_page(template: str, run: PastRun, site: Site, *, crumbs: Sequence[Cell], title: str, **content: object) -> str:
    """Return a page; what cannot be seen in it is shown.

    Args:
        template: of its content, in the folder `view`.
        run: what it is about.
        site: where it is shown.
        crumbs: the places from the leaderboard down to the page itself.
        title: its heading.
        content: whatever else the template asks for.
    """
    page = make_environment(run.blueprint.ability_word).get_template(f"view/{template}.html.jinja")
    return printable(page.render(run=run, site=site, crumbs=crumbs, title=title, records_table=records_table, **content))


def render_sections(run: PastRun, site: Site, *, crumbs: Sequence[Cell], title: str, sections: Sequence[Section]) -> str:
    """Return a page of tables and words; none of its tables is folded for its length."""
    return render_page(
        "sections", run, site, crumbs=crumbs, title=title, sections=sections, most_rows=maxsize, most_blocks=maxsize
    )
