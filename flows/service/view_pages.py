"""Answer requests for pages about runs: the run is looked up among those of the lakes, parameters are read by their rules."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Literal
from urllib.parse import parse_qsl, quote

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from flows.service.first_page import LEADERBOARD, report_of
from flows.service.login import STATIC
from flows.service.run_files import is_inside
from schemas.base import Frozen
from schemas.documents.rows import RowFilter, RowId
from schemas.errors import UsageError, summarize
from schemas.folders import Folder
from tasks.lake.manifest import MANIFEST, resolve_run, run_folder, run_stamps
from tasks.lake.run_index import Stamp
from tasks.reporting.view.addresses import Address, PageKind, served
from tasks.reporting.view.pages import read_row, render
from tasks.reporting.view.site import STYLESHEET, Site
from tasks.runs.past_run import PastRun, reopen


class ScoreQuery(Frozen):
    """Which score; nothing = the total of each system."""

    model: str | None = None
    setting: str | None = None
    ability: str | None = None
    task: str | None = None
    dataset: str | None = None


class RowQuery(RowId):
    """Which row, next to which other, and whether as the document of `moodflow explain --item`."""

    beside: str | None = None
    beside_setting: str | None = None
    beside_run: str | None = None
    format: Literal["json"] | None = None


class CompareQuery(Frozen):
    """Which other run; none = those there are to choose from."""

    other: str | None = None


QUERIES: Mapping[PageKind, type[Frozen]] = {
    **dict.fromkeys(("run", "unread", "failed", "hard", "flips", "map"), Frozen),
    "score": ScoreQuery,
    "rows": RowFilter,
    "row": RowQuery,
    "compare": CompareQuery,
}
"""What the address of each kind of page may have in its query."""

OTHER_RUNS = ("other", "beside_run", "changed_since")
"""Parameters that name a run of the same lake."""


def read_query(kind: PageKind, query: bytes) -> tuple[tuple[str, str], ...]:
    """Return the parameters of a page, without those that are blank; UsageError: it has others, or one breaks its rule."""
    rules = QUERIES[kind]
    try:
        pairs = parse_qsl(query.decode("ascii"), keep_blank_values=True, errors="strict")
        names = Counter(name for name, _ in pairs)
        if doubled := [name for name, times in names.items() if times > 1]:
            raise ValueError(f"{', '.join(doubled)} more than once")
        if unknown := names.keys() - rules.model_fields.keys():
            raise ValueError(f"unknown: {', '.join(sorted(unknown))}")
        params = tuple((name, text) for name, text in pairs if text)
        rules.model_validate(dict(params))
    except ValueError as error:  # ValidationError is one, and so is text that is not UTF-8
        raise UsageError(
            "the query of this address cannot be read",
            where=f"page {kind}",
            expected=f"each at most once: {', '.join(rules.model_fields) or 'nothing'}",
            got=summarize(error),
            next_step="go back and follow the link again, or correct the address",
        ) from error
    return params


@lru_cache(maxsize=8)
def _open(lake: Folder, run: str, stamp: Stamp) -> PastRun:  # noqa: ARG001  with another stamp it is read again
    return reopen(lake, run)


def find_run(lakes: Sequence[Folder], name: str) -> tuple[int, PastRun]:
    """Return the run of this very name, and the number of its lake; HTTPException: no lake has it within its folder."""
    for number, lake in enumerate(lakes):
        stamp = run_stamps(lake).get(name)
        if stamp and is_inside(run_folder(lake, name) / MANIFEST, lake):
            return number, _open(lake, name, stamp)
    raise HTTPException(404, f"there is no run {name}\nIt was deleted, or is in another lake.")


def view_page(lakes: Sequence[Folder], request: Request) -> Response:
    """Return a page about a run, or the document behind one."""
    kind = next((kind for kind in QUERIES if kind == request.path_params["kind"]), None)
    if kind is None:
        raise HTTPException(404, f"a run has no page {request.path_params['kind']}\nIt has: {', '.join(QUERIES)}.")
    number, run = find_run(lakes, request.path_params["run"])
    params = read_query(kind, request.scope["query_string"])
    for other in (text for name, text in params if name in OTHER_RUNS):
        find_run([run.lake.root], resolve_run(run.lake.root, other))
    if ("format", "json") in params:
        return Response(json.dumps(read_row(run, dict(params)).model_dump(mode="json")), media_type="application/json")
    board = f"/{LEADERBOARD}/{number}/{quote(run.manifest.benchmark, safe='')}"
    report = report_of(run.name) if run.manifest.report else None
    site = Site(served, f"{STATIC}{STYLESHEET}", leaderboard=board, report=report, answers_forms=True)
    return HTMLResponse(render(Address(kind, run.name, params), run, site))
