"""Every `sh` block of the README, operations, judges and the how-to pages is executed in order, each page in its own folder.

The README's `make` commands are executed by CI itself.
"""

import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.docs.pages import DOWNLOAD, NOT_EXECUTED, ROOT, blocks, pages
from tests.docs.printed import SERVED, answer, with_runs
from tests.flows.command import ended
from tests.mirror import MIRROR, needs_mirror
from tests.model_server import ModelServer

PAGES = (
    *("README.md", "docs/how-to/run.md", "docs/operations.md"),
    *(
        f"docs/how-to/{name}.md"
        for name in (
            *("own-endpoint", "own-dataset", "own-benchmark", "own-prompts", "own-judge", "people", "build-cards", "ci"),
            *("score-of-zero", "view"),
        )
    ),
)
LONG = {f"docs/how-to/{name}.md" for name in ("run", "own-endpoint", "own-dataset", "own-prompts", "ci", "view")}
"""Pages of more than two runs, and pages whose run others make alike; tests/docs/test_options.py reads their commands, too."""

DOWNLOADING = ("README.md", "docs/how-to/run.md", "docs/judges.md")
"""Pages with blocks whose second word is DOWNLOAD."""

BY_MAKE = ("make demo", "make test")
EXIT_STATUS = {("docs/how-to/run.md", 20): 1, ("docs/how-to/own-benchmark.md", 1): 2, ("docs/how-to/people.md", 1): 1}
"""Commands, by page and number of the command from 1, that the page says end with another status than 0."""

Endings = dict[tuple[int, str], tuple[int, str]]
"""Exit status and error output of each command, by its number on the page and its line."""


def test_the_commands_of_make_are_executed_by_ci() -> None:
    ci = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    (program,) = re.findall(r"awk '([^']+)' README.md", ci)
    taken = subprocess.run(["awk", program, "README.md"], cwd=ROOT, check=True, capture_output=True, text=True)
    assert tuple(taken.stdout.splitlines()) == BY_MAKE
    assert "stranger make lint types" in ci
    assert "make test-real-files" in ci
    assert "\ncheck: lint types test\n" in makefile


def test_ci_examples_use_executed_commands() -> None:
    page = list(blocks(ROOT / "docs/how-to/ci.md"))
    executed = [shlex.split(line) for block in page if block.language == "sh" for line in block.body.splitlines()]
    jobs = [yaml.safe_load(block.body) for block in page if block.language == "yaml" and not block.word]
    for job in jobs:
        commands = re.findall(r"moodflow (?:run|journal) [^\"'\n]+", "\n".join(strings_of(job)))
        given = [shlex.split(re.sub(r"\$\w+", "commit-1", command)) for command in commands]
        assert len(given) == 3
        assert [command for command in given if command not in executed] == []


def strings_of(value: Any) -> Iterator[str]:
    """Yield every text in what YAML holds."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from strings_of(inner)


@pytest.mark.usefixtures("prefect_server", "small_moodbench")
@pytest.mark.parametrize("page", [pytest.param(page, marks=pytest.mark.long) if page in LONG else page for page in PAGES])
def test_commands_do_what_the_page_says(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MOODFLOW_MIRROR", raising=False)
    endings = run_page(page, tmp_path, monkeypatch, downloading=False)
    assert len(endings) >= {"README.md": 9, "docs/how-to/run.md": 15}.get(page, 2)
    if EXIT_STATUS.get((page, 1)) == 2:
        [(_, said), *_] = endings.values()
        assert "metric accuracy cannot score questionnaire items" in said


@needs_mirror
@pytest.mark.usefixtures("prefect_server")
@pytest.mark.parametrize("page", DOWNLOADING)
def test_commands_that_download_do_what_the_page_says(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The files come from the mirror, since tests have no network."""
    monkeypatch.setenv("MOODFLOW_MIRROR", str(MIRROR))
    assert len(run_page(page, tmp_path, monkeypatch, downloading=True)) >= 2


def test_only_these_pages_download() -> None:
    found = {
        page.relative_to(ROOT).as_posix()
        for page in pages()
        if any((block.language, block.word) == ("sh", DOWNLOAD) for block in blocks(page))
    }
    assert found == {*DOWNLOADING, "README.zh.md"}


def run_page(page: str, folder: Path, monkeypatch: pytest.MonkeyPatch, *, downloading: bool) -> Endings:
    """Run the commands of a page that download, or the others, in a folder with only the files that the page writes."""
    monkeypatch.chdir(folder)
    monkeypatch.setenv("MY_API_KEY", "not-a-real-key")
    number, endings, wanted = 0, {}, {}
    with ModelServer(answer) as server:
        for block in blocks(ROOT / page):
            body = block.body.replace(SERVED, server.base_url).replace("--sample 20", "--sample 2")
            if block.language == "sh" and block.word not in NOT_EXECUTED:
                for line in body.splitlines():
                    if not line.strip() or (page == "README.md" and line in BY_MAKE):
                        continue
                    if found := re.fullmatch(r"export (\w+)=(\S+)", line):
                        monkeypatch.setenv(*found.groups())
                        continue
                    number += 1
                    if downloading != (block.word == DOWNLOAD):
                        continue
                    program, *arguments = shlex.split(with_runs(line, folder / "parquet"))
                    assert program == "moodflow"
                    done = ended(*arguments)
                    endings[number, line] = (done.status, done.err if done.status else "")
                    wanted[number, line] = EXIT_STATUS.get((page, number), 0)
            elif block.word and block.language in {"yaml", "json", "csv"}:
                (folder / block.word).parent.mkdir(exist_ok=True)
                (folder / block.word).write_text(body, encoding="utf-8")
    assert {line: status for line, (status, _) in endings.items()} == wanted, endings
    return endings
