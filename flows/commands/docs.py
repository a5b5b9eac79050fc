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

SITES = (DATA_FOLDER / "site", DATA_FOLDER.parent / "build" / "site")
"""The site that a wheel brings, and the one that `make docs` builds in a checkout."""

Page = Annotated[str, typer.Argument(metavar="PAGE", help="a page, such as failures or own-dataset")]
Open = Annotated[bool, typer.Option("--open", help="open the page in a browser")]
Name = Annotated[str | None, typer.Argument(metavar="[NAME]", help="a document, such as 'runs list'")]

app = typer.Typer(add_completion=False)


@app.command()
def docs(page: Page = "index", open_: Open = False, as_json: opt.AsJson = False) -> None:
    """Print the path of a page of the documentation, which comes with the install."""
    pages = list_pages(find_site(page))
    name = find_page(page, list(pages))
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


def find_site(page: str) -> Path:
    """Return the folder of the site that came with this install; SourceMissingError: there is none to read the page in."""
    site = next((site for site in SITES if (site / "index.html").is_file()), None)
    if site is None:
        online = online_address()
        sources = [file for file in (DATA_FOLDER.parent / "docs").rglob("*.md") if file.stem == Path(page).name]
        step = f"read {online}" if online else "run make docs in a checkout of MoodFlow, or install a wheel built after it"
        step = f"read {min(sources)}, or run make docs" if sources else step
        raise SourceMissingError("this install has no documentation", where=" and ".join(map(str, SITES)), next_step=step)
    return site


def online_address() -> str | None:
    """Return where the documentation is online, as pyproject.toml says it: `urls` with the key `Documentation`."""
    try:
        urls = metadata("moodflow").get_all("Project-URL", [])
    except PackageNotFoundError:
        return None
    return next((url.partition(", ")[2] for url in urls if url.startswith("Documentation, ")), None)


def list_pages(site: Path) -> dict[str, Path]:
    """Return the pages of a site by name: the place without suffix, or the folder of a first page."""
    twins = sorted(site.rglob("*.md"))
    return {twin.relative_to(site).with_suffix("").as_posix().removesuffix("/index"): twin.with_suffix(".html") for twin in twins}


def find_page(name: str, pages: list[str]) -> str:
    """Return the page of a name, of which the last part suffices where only one page has it."""
    alike = [page for page in pages if page.rpartition("/")[2] == name]
    if name in pages or len(alike) == 1:
        return name if name in pages else alike[0]
    step = f"name {' or '.join(alike)}" if alike else suggest(name, pages, "moodflow docs --json lists the pages")
    raise UsageError(f"there is no page {name}", where="moodflow docs", got=name, next_step=step)
