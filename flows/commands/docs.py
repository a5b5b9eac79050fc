"""`moodflow docs` and `moodflow schema`: where the pages of the documentation are, and what `--json` prints."""

import webbrowser
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from flows.commands import options as opt
from flows.commands.console import CommandResult, print_json
from schemas.documents.document import DOCUMENTS, json_schema
from schemas.documents.serve import DocumentationPage
from schemas.errors import SourceMissingError, UsageError, suggest
from schemas.folders import DATA_FOLDER

ROOT = DATA_FOLDER.parent
"""The folder of a checkout, or that of the installed packages."""

SITES = (DATA_FOLDER / "site", ROOT / "build" / "site")
"""The site that a wheel brings, and the one that `make docs` builds in a checkout."""

OUTSIDE = {
    "README.md": "readme.md",
    "README.zh.md": "readme.zh.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "parquet/README.md": "the-lake.md",
    "benchmarks/README.md": "measurements.md",
    "data/bundled/README.md": "items.md",
}
"""Pages of the repository that lie outside docs/, and their places on the site."""

MADE_BY_SITE = "a page of the repository; make docs adds those that are made of the program"

Page = Annotated[str, typer.Argument(metavar="PAGE", help="a page, such as failures or own-dataset")]
Open = Annotated[bool, typer.Option("--open", help="open the page in a browser")]
Name = Annotated[str | None, typer.Argument(metavar="[NAME]", help="a document, such as 'runs list'")]

app = typer.Typer(add_completion=False)


@app.command()
def docs(page: Page = "index", open_: Open = False, as_json: opt.AsJson = False) -> None:
    """Print the path of a page of the documentation, which comes with the install."""
    site = find_site()
    pages = list_pages(site) if site else list_sources()
    name = find_page(page, list(pages), None if site else MADE_BY_SITE)
    if open_:
        webbrowser.open(pages[name].as_uri())
    document = DocumentationPage(page=name, file=str(pages[name]), pages=tuple(pages))
    CommandResult(0, document, [Text(document.file, no_wrap=True, overflow="ignore")]).finish(as_json=as_json)


@app.command()
def schema(name: Name = None) -> None:
    """Print the JSON schemas of the documents that --json prints.

    With a name, that schema is printed; without one, the names of all documents.
    """
    print_json(json_schema(name) if name else {"documents": sorted(DOCUMENTS)})


def find_site() -> Path | None:
    """Return the folder of the site that came with this install or was built in this checkout."""
    return next((site for site in SITES if (site / "index.html").is_file()), None)


def list_sources() -> dict[str, Path]:
    """Return the pages of a checkout, as Markdown, by name; SourceMissingError: this install is none."""
    if not (ROOT / "pyproject.toml").is_file():
        online = online_address()
        step = f"read {online}" if online else "run make wheel in a checkout of MoodFlow, and install the wheel that it writes"
        raise SourceMissingError("this install has no documentation", where=" and ".join(map(str, SITES)), next_step=step)
    return {name_of(Path(place)): ROOT / page for page, place in page_places().items()}


def page_places() -> dict[str, str]:
    """Return the pages of the repository and their places on the site, as POSIX paths."""
    inside = {page.relative_to(ROOT).as_posix(): page.relative_to(ROOT / "docs") for page in (ROOT / "docs").rglob("*.md")}
    places = {
        page: (place.parent / "index.md" if place.name == "README.md" else place).as_posix() for page, place in inside.items()
    }
    return OUTSIDE | dict(sorted(places.items()))


def online_address() -> str | None:
    """Return where the documentation is online, as pyproject.toml says it: `urls` with the key `Documentation`."""
    try:
        urls = metadata("moodflow").get_all("Project-URL", [])
    except PackageNotFoundError:
        return None
    return next((url.partition(", ")[2] for url in urls if url.startswith("Documentation, ")), None)


def list_pages(site: Path) -> dict[str, Path]:
    """Return the pages of a site by name."""
    return {name_of(twin.relative_to(site)): twin.with_suffix(".html") for twin in sorted(site.rglob("*.md"))}


def name_of(place: Path) -> str:
    """Return the name of a page: its place without suffix, or the folder of a first page."""
    return place.with_suffix("").as_posix().removesuffix("/index")


def find_page(name: str, pages: list[str], expected: str | None = None) -> str:
    """Return the page of a name, of which the last part suffices where only one page has it; else UsageError with `expected`."""
    alike = [page for page in pages if page.rpartition("/")[2] == name]
    if name in pages or len(alike) == 1:
        return name if name in pages else alike[0]
    step = f"name {' or '.join(alike)}" if alike else suggest(name, pages, "moodflow docs --json lists the pages")
    raise UsageError(f"there is no page {name}", where="moodflow docs", expected=expected, got=name, next_step=step)
