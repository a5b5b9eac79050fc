"""What surrounds a page about a run: where its links lead, its stylesheet, and the frame that all such pages have."""

from collections.abc import Iterable, Mapping, Sequence
from sys import maxsize
from typing import NamedTuple, cast

from schemas.documents.rows import RowFilter, RowId
from schemas.printing import printable
from schemas.table import Cell, Column, Kind, Table, Value
from tasks.lake.manifest import run_number
from tasks.reporting.content.evidence import make_excerpt
from tasks.reporting.page import render_template
from tasks.reporting.view.addresses import Address, Links, row_address, rows_address, score_address
from tasks.runs.past_run import PastRun
from tasks.runs.run_tables import System

STYLESHEET = "view.css"
"""The file that holds `stylesheet()`."""


class Site(NamedTuple):
    """Where the pages of a run are shown, and from there its stylesheet, the page above it and its report (null = nowhere).

    `answers_forms`: pages may be asked for by a form, which a folder of files cannot answer. `note`: stands at the end of each.
    `rows`: that a list shows at once.
    """

    links: Links
    stylesheet: str
    above: Cell | None = None
    report: str | None = None
    answers_forms: bool = False
    note: str = ""
    rows: int = 50


class Page(NamedTuple):
    """A page that is asked for: about which run, with which parameters, and where it is shown."""

    run: PastRun
    params: Mapping[str, str]
    site: Site

    @property
    def crumbs(self) -> tuple[Cell, ...]:
        """The places from above the run down to it."""
        return (*filter(None, [self.site.above]), self.link("Run", Address("run", self.run.name)))

    def link(self, words: Value, address: Address, note: str = "") -> Cell:
        """Return words that lead to a page, if there is one."""
        return Cell(words, note, href=self.site.links(address) or "")

    def link_row(self, words: str, row: RowId, note: str = "", **more: str) -> Cell:
        """Return words that lead to a row."""
        return self.link(words, row_address(self.run.name, row, **more), note)

    def link_rows(self, words: Value, wanted: RowFilter) -> Cell:
        """Return words that lead to the rows of a filter."""
        return self.link(words, rows_address(self.run.name, wanted))

    def link_score(self, words: Value, system: System, note: str = "", **place: str) -> Cell:
        """Return words that lead to a score of a system."""
        return self.link(words, score_address(self.run.name, *system, **place), note)

    def render(
        self, title: str, template: str = "page", crumbs: Sequence[Cell] = (), commands: Iterable[str] = (), **content: object
    ) -> str:
        """Return the page as HTML; what cannot be seen in it is shown.

        `template` is one of the folder `view`; the frame itself shows `sections`, no table folded for its length. `crumbs`: the
        way to the page, by default from its run. `commands` show the same on a terminal.
        """
        frame = {"run": self.run, "number": run_number(self.run.name), "site": self.site, "records_table": records_table}
        unfolded = {"most_rows": maxsize, "most_blocks": maxsize}
        way = {"title": title, "crumbs": crumbs or (*self.crumbs, Cell(title)), "commands": commands}
        word = self.run.blueprint.ability_word
        return printable(render_template(f"view/{template}.html.jinja", word, **frame | unfolded | content | way))


def stylesheet() -> str:
    """Return the one stylesheet of all pages about runs: that of reports, and what only these pages have."""
    return render_template("view/view.css")


def records_table(title: str, records: Sequence[object], **fields: str) -> Table:
    """Return a table with a row per record; `fields`: its columns by their kind, those left out that are empty in all rows."""
    names = [(cast("Kind", kind), name) for kind, listed in fields.items() for name in listed.split()]
    heads = tuple(Column(name.replace("_", " ").capitalize(), kind) for kind, name in names)
    rows = [[_short(getattr(record, name)) for _, name in names] for record in records]
    return Table(heads, rows, title).without_empty(*(head.title for head in heads))


def _short(value: Value) -> Value:
    return make_excerpt(value, 0).short if isinstance(value, str) else value
