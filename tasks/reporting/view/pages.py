"""The pages about a run: `render` reads what an address names and returns it as HTML, for a server and for files alike."""

from collections.abc import Callable, Mapping

from schemas.documents.answered_item import ItemExplanation
from tasks.explain.rows import explain_item
from tasks.reporting.view.addresses import Address, PageKind
from tasks.reporting.view.site import Site, render_page
from tasks.runs.past_run import PastRun
from tasks.runs.run_tables import System

Params = Mapping[str, str]
Render = Callable[[PastRun, Params, Site], str]


def _not_yet(run: PastRun, params: Params, site: Site) -> str:
    return render_page("page", run, site, (), run.blueprint.title)


PAGES: dict[PageKind, Render] = {
    kind: _not_yet for kind in ("run", "score", "rows", "row", "unread", "failed", "hard", "flips", "map", "compare")
}


def render(address: Address, run: PastRun, site: Site) -> str:
    """Return the page of an address as HTML.

    Raises:
        UsageError: if the address names what this run does not have.
        LakeError: if a partition is gone or changed.
    """
    return PAGES[address.kind](run, dict(address.params), site)


def read_row(run: PastRun, params: Params) -> ItemExplanation:
    """Return the document behind a page `row`; errors are those of `render`."""
    return explain_item(run, params["dataset"], System(params["model"], params["setting"]), params["item_id"])
