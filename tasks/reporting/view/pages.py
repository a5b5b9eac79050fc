"""The pages about a run: `render` reads what an address names and returns it as HTML, for a server and for files alike."""

from collections.abc import Callable, Mapping

from tasks.reporting.view.addresses import Address, PageKind
from tasks.reporting.view.finding_pages import render_compare, render_failed, render_flips, render_hard, render_unread
from tasks.reporting.view.row_pages import render_row, render_rows
from tasks.reporting.view.score_pages import render_map, render_run, render_score
from tasks.reporting.view.site import Page, Site
from tasks.runs.past_run import PastRun

PAGES: Mapping[PageKind, Callable[[Page], str]] = {
    "run": render_run,
    "score": render_score,
    "rows": render_rows,
    "row": render_row,
    "map": render_map,
    "unread": render_unread,
    "failed": render_failed,
    "hard": render_hard,
    "flips": render_flips,
    "compare": render_compare,
}


def render(address: Address, run: PastRun, site: Site) -> str:
    """Return the page of an address as HTML.

    UsageError: the address names what this run does not have; LakeError: a partition is gone or changed.
    """
    return PAGES[address.kind](Page(run, dict(address.params), site))
