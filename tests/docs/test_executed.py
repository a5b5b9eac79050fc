"""Every `sh` block of operations and of the how-to pages is executed, in order, each page in a folder of its own."""

import re
import shlex
from pathlib import Path
from shutil import copytree

import pytest

from tasks.judging.rubrics import RUBRICS, load_rubric
from tests.docs.pages import NOT_EXECUTED, ROOT, blocks
from tests.flows.command import ended
from tests.flows.printed import SERVED, answer, with_runs
from tests.model_server import ModelServer

PAGES = (
    "docs/operations.md",
    *(f"docs/how-to/{name}.md" for name in ("own-endpoint", "own-dataset", "own-benchmark", "own-judge")),
)
WRONG_ON_PURPOSE = {("docs/how-to/own-benchmark.md", 1): 2}
"""Commands, by page and number of the command from 1, that the page says end with another status than 0."""


@pytest.mark.usefixtures("prefect_server", "small_moodbench")
@pytest.mark.parametrize("page", PAGES)
def test_commands_do_what_the_page_says(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rubrics = copytree(RUBRICS, tmp_path / "data" / "prompts" / "rubrics")
    monkeypatch.setattr(load_rubric, "__defaults__", (rubrics,))
    number, endings, wanted = 0, {}, {}
    with ModelServer(answer) as server:
        for block in blocks(ROOT / page):
            body = block.body.replace(SERVED, server.base_url)
            if block.language == "sh" and block.word not in NOT_EXECUTED:
                for line in body.splitlines():
                    if found := re.fullmatch(r"export (\w+)=(\S+)", line):
                        monkeypatch.setenv(*found.groups())
                        continue
                    number += 1
                    program, *arguments = shlex.split(with_runs(line, tmp_path / "parquet"))
                    assert program == "moodflow"
                    done = ended(*arguments)
                    endings[number, line] = (done.status, done.err if done.status else "")
                    wanted[number, line] = WRONG_ON_PURPOSE.get((page, number), 0)
            elif block.word and block.language in {"yaml", "json"}:
                (tmp_path / block.word).write_text(body, encoding="utf-8")
    assert {line: status for line, (status, _) in endings.items()} == wanted, endings
    assert number >= 2
    if WRONG_ON_PURPOSE.get((page, 1)):
        [(_, said), *_] = endings.values()
        assert "metric accuracy cannot score questionnaire items" in said
