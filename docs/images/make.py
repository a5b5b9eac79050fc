"""Make the pictures of README and docs from runs of scripted models: `make pictures`.

Only dates and hashes in a picture change between two times of making it. Pages are photographed in Chromium, which is Debian's
or the one named by MOODFLOW_CHROMIUM.
"""

import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from secrets import token_urlsafe
from tempfile import TemporaryDirectory

from playwright.sync_api import Page, sync_playwright

from docs.generate.scripted_run import name_models, run_models
from tasks.reporting.view.addresses import Address, PageKind, served

IN_A_ROW = name_models((95, 85, 75, 60, 30))
OF_TUTORIAL = {"my-model": 75}
FIGURES = {"report.png": "headline"}
"""Files next to this one, with the name of the figure that each shows."""

WEAKEST = ("dataset", "mini_eq_test")
ONE_ROW = (WEAKEST, ("item_id", "eq_test-003"), ("model", "my-model"), ("setting", "base"), ("repetition", "0"))
VIEWED: Mapping[str, tuple[PageKind, tuple[tuple[str, str], ...]]] = {
    "tutorial-rows.png": ("rows", (WEAKEST, ("status", "wrong"))),
    "tutorial-row.png": ("row", ONE_ROW),
}
"""Files next to this one, with the page of `moodflow view` that each shows."""

CHROMIUM = os.environ.get("MOODFLOW_CHROMIUM") or shutil.which("chromium") or "/usr/bin/chromium"
WIDTH, HEIGHT = 1000, 800
MOST_BYTES = 150_000


def main() -> None:
    """Run the models, then write each picture over the one that is there."""
    with TemporaryDirectory() as folder:
        draw_figures(Path(folder) / "row")
        photograph_tutorial(Path(folder) / "tutorial")


def draw_figures(folder: Path) -> None:
    """Write the figures of a run of several models."""
    folder.mkdir()
    command = run_models(folder, IN_A_ROW)
    for name, figure in FIGURES.items():
        command(["figure", "latest", "--name", figure, "--to", str(picture(name)), "--lake", str(folder / "lake")])
        check_size(name)


def photograph_tutorial(folder: Path) -> None:
    """Write the pictures of the tutorial: pages about a run of one model."""
    folder.mkdir()
    run_models(folder, OF_TUTORIAL)
    from flows.runtime.local_server import listen  # noqa: PLC0415  reads the variable
    from flows.service.report_server import serve_reports  # noqa: PLC0415

    (report,) = (folder / "lake").glob("runs/*/report.html")
    run, token = report.parent.name, token_urlsafe()
    with (
        opened_browser() as page,
        listen("127.0.0.1", 0, "--port") as listening,
        serve_reports(listening, [folder / "lake"], token) as origin,
    ):
        pages = {"tutorial-report.png": f"/{run}/report.html"}
        pages |= {name: served(Address(kind, run, params)) for name, (kind, params) in VIEWED.items()}
        page.goto(f"{origin}/?token={token}")
        for name, path in pages.items():
            page.goto(origin + path)
            page.screenshot(path=picture(name))
            check_size(name)


@contextmanager
def opened_browser() -> Iterator[Page]:
    """Open Chromium, in light colours."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light")
        browser.close()


def picture(name: str) -> Path:
    """Return the file of a picture."""
    return Path(__file__).parent / name


def check_size(name: str) -> None:
    """Refuse a picture that makes every clone of the repository much larger."""
    if (size := picture(name).stat().st_size) > MOST_BYTES:
        raise SystemExit(f"{picture(name)} has {size:,} bytes, more than {MOST_BYTES:,}")


if __name__ == "__main__":
    main()
