"""What surrounds a page about a run: where its links lead, its stylesheet, and the frame that all such pages have."""

from typing import NamedTuple

from schemas.printing import printable
from schemas.table import Cell
from tasks.reporting.figures.palette import COLOURS
from tasks.reporting.page import make_environment
from tasks.reporting.view.addresses import Links
from tasks.runs.past_run import PastRun

STYLESHEET = "view.css"
"""The file that holds `stylesheet()`."""


class Site(NamedTuple):
    """Where the pages of a run are shown.

    Attributes:
        links: from an address to what a link holds.
        stylesheet: where `stylesheet()` is found from a page.
        leaderboard: where the leaderboard of the benchmark is found; null = nowhere.
        report: where the report of the run is found; null = nowhere.
        answers_forms: whether pages may be asked for by a form, which a folder of files cannot answer.
    """

    links: Links
    stylesheet: str
    leaderboard: str | None = None
    report: str | None = None
    answers_forms: bool = False


def stylesheet() -> str:
    """Return the one stylesheet of all pages about runs: that of reports, and what only these pages have."""
    return make_environment().get_template("view/view.css").render(colours=COLOURS)


def render_page(template: str, run: PastRun, site: Site, crumbs: tuple[Cell, ...], title: str, **content: object) -> str:
    """Return a page; what cannot be seen in it is shown.

    Args:
        template: of its content, in the folder `view`.
        run: what it is about.
        site: where it is shown.
        crumbs: the places above it, from the leaderboard down, each with its number as a note.
        title: its heading.
        content: whatever else the template asks for.
    """
    page = make_environment(run.blueprint.ability_word).get_template(f"view/{template}.html.jinja")
    return printable(page.render(run=run, site=site, crumbs=crumbs, title=title, **content))
