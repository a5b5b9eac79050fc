"""Write the pages about a run into a folder: for a web server or a page host, or to be opened as they are."""

import re
from dataclasses import replace
from functools import partial
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import get_args

from schemas.documents.rows import RowFilter
from schemas.errors import UsageError
from tasks.lake.files import own_pages
from tasks.reporting.page import write_text
from tasks.reporting.view.addresses import Address, PageKind, row_address
from tasks.reporting.view.pages import render
from tasks.reporting.view.site import STYLESHEET, Site, stylesheet
from tasks.rows.index import open_rows
from tasks.rows.query import find_rows
from tasks.runs.past_run import PastRun
from tasks.text.number_format import count

INDEX = "index.html"
_OWN = re.compile(rf"{re.escape(INDEX)}|{re.escape(STYLESHEET)}|(?:{'|'.join(get_args(PageKind))})-[0-9a-f]{{16}}\.html")
LISTED = {"dataset", "model", "setting", "gate", "status"}
"""What pages of rows are written by; others have too many values."""

WRONG = [RowFilter(status=status, gate=gate) for gate in (True, False) for status in ("wrong", "unread")]
"""Which rows have a page of their own, those of the gate first."""


def write_view(run: PastRun, folder: Path, limit: int) -> Path:
    """Write the pages, each complete in itself but for the stylesheet, and return the first one.

    Pages that it wrote there before are replaced or removed, of whatever run; hidden files are left alone. `limit`: wrong and
    unread rows that have a page; a list of rows holds as many, so that it leads to all of them. UsageError: the folder holds
    other files, or is inside the lake. LakeError: a partition is gone or changed, or the disk refuses a file.
    """
    lake = run.lake.root
    if isinstance(lake, Path) and folder.resolve().is_relative_to(lake.resolve()):
        raise UsageError(
            "the pages cannot go into the lake", where=f"--to {folder}", got=str(lake), next_step="name another folder"
        )
    run, earlier = replace(run, names_lake=False), own_pages(folder, "--to", _OWN, STYLESHEET)
    found = [find_rows(run, open_rows(run), wanted, limit) for wanted in WRONG]
    shown = [*dict.fromkeys(row_address(run.name, row) for page in found for row in page.rows)][:limit]
    wrong = sum(page.matches or 0 for page in found[2:])
    note = f"{count(len(shown))} of {count(wrong)} wrong or unread rows are here; {run.command('view')} shows all."
    pages = {name_file(address): address for address in (Address("run", run.name), *shown)}
    waiting, rows = [INDEX], list(pages)[1:]

    def link(page: Address, address: Address) -> str | None:
        target = name_file(address)
        if target not in pages and page.kind not in {"rows", "row"} and _is_written(run, address):
            pages[target] = address
            waiting.append(target)
        return target if target in pages else None

    write_text(folder / STYLESHEET, stylesheet())
    # `waiting` grows by the pages that are linked to. Rows come last, so that the way up from them leads to all of these.
    for name in chain(waiting, rows):
        site = Site(partial(link, pages[name]), STYLESHEET, note=note, rows=limit)
        write_text(folder / name, render(pages[name], run, site))
    for name in earlier - {*pages, STYLESHEET}:
        (folder / name).unlink()
    return folder / INDEX


def name_file(address: Address) -> str:
    """Return the name of a page's file, whatever the order of its parameters."""
    mark = sha256(repr(sorted(address.params)).encode()).hexdigest()[:16]
    return INDEX if address.kind == "run" else f"{address.kind}-{mark}.html"


def _is_written(run: PastRun, address: Address) -> bool:
    params = dict(address.params)
    if address.run != run.name or address.kind in {"row", "compare"} or "shape" in params:
        return False
    return address.kind != "rows" or (params.keys() <= LISTED and params.get("status", "wrong") in {"wrong", "unread"})
