"""Find the pages and files of runs that addresses name: by names of runs in the lakes, never by a path."""

import json
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from urllib.parse import quote

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from flows.service.first_page import LEADERBOARD, report_of
from flows.service.login import STYLES
from schemas.documents.rows import RowFilter, RowId
from schemas.errors import MoodflowError
from schemas.folders import Folder
from schemas.table import Cell
from tasks.lake.manifest import MANIFEST, resolve_run, run_folder, run_stamps
from tasks.lake.run_index import Stamp
from tasks.reporting.view.addresses import Address, PageKind, served
from tasks.reporting.view.pages import render
from tasks.reporting.view.row_pages import BESIDE, read_row
from tasks.reporting.view.site import Site
from tasks.runs.past_run import PastRun, reopen
from tasks.scoring.blueprints import load_blueprint

PARAMETERS: Mapping[PageKind, Collection[str]] = {
    "score": ("model", "setting", "ability", "task", "dataset"),
    "rows": RowFilter.model_fields,
    "row": (*RowId.model_fields, *BESIDE.values(), "format"),
    "unread": ("shape",),
    "compare": ("other",),
}
"""What the query of an address may have; of other kinds nothing."""


def find_file(lakes: Sequence[Folder], run: str, name: str) -> tuple[int, Folder]:
    """Return the number of the first lake that has this file of a run, and the file; HTTPException: there is none.

    What an address names is compared with what is there, never made a part of a path. Hidden files, and links that lead out of
    the lake, are not there. Starlette's static files know neither this rule nor object stores.
    """
    for number, lake in enumerate(lakes):
        if run not in run_stamps(lake):
            continue
        for file in run_folder(lake, run).iterdir():
            if file.name == name and not name.startswith(".") and file.is_file() and _is_inside(file, lake):
                return number, file
    raise HTTPException(404, f"there is no run {run}, or it has no {name}\nIt was deleted, or is in another lake.")


def _is_inside(path: Folder, folder: Folder) -> bool:
    if isinstance(path, Path) and isinstance(folder, Path):
        return path.resolve().is_relative_to(folder.resolve())
    return True  # an object store has no links


def find_run(lakes: Sequence[Folder], name: str) -> tuple[int, PastRun]:
    """Return the run of this very name, and the number of its lake; HTTPException: no lake has it within its folder."""
    number, _ = find_file(lakes, name, MANIFEST)
    return number, _open(lakes[number], name, run_stamps(lakes[number]).get(name))


@lru_cache(maxsize=8)
def _open(lake: Folder, run: str, stamp: Stamp | None) -> PastRun:  # noqa: ARG001  with another stamp it is read again
    return reopen(lake, run)


def view_page(lakes: Sequence[Folder], kind: PageKind, request: Request) -> Response:
    """Return a page about a run, or the document behind one."""
    number, run = find_run(lakes, request.path_params["run"])
    params = _read_query(kind, request.query_params.multi_items())
    for other in (text for name, text in params if name in {"other", "beside_run", "changed_since"}):
        find_run([run.lake.root], resolve_run(run.lake.root, other))
    if ("format", "json") in params:
        return Response(json.dumps(read_row(run, dict(params)).model_dump(mode="json")), media_type="application/json")
    site = Site(
        served,
        STYLES,
        _page_above(number, run.manifest.benchmark),
        report_of(run.name) if run.manifest.report else None,
        answers_forms=True,
    )
    return HTMLResponse(render(Address(kind, run.name, params), run, site))


@lru_cache(maxsize=32)
def _page_above(number: int, benchmark: str) -> Cell:
    """Return the leaderboard of a benchmark, or the page of all runs if it is not known here."""
    try:
        load_blueprint(benchmark)
    except MoodflowError:
        return Cell("All runs", href="/")
    return Cell("Leaderboard", href=f"/{LEADERBOARD}/{number}/{quote(benchmark, safe='')}")


def _read_query(kind: PageKind, pairs: Sequence[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """Return the parameters of a page, without those that are blank; HTTPException: it has others, or one twice."""
    allowed, names = PARAMETERS.get(kind, ()), [name for name, _ in pairs]
    if wrong := dict.fromkeys(name for name in names if name not in allowed or names.count(name) > 1):
        raise HTTPException(400, f"wrong parameters: {', '.join(wrong)}\nexpected, each once: {', '.join(allowed) or 'none'}")
    return tuple((name, text) for name, text in pairs if text)
