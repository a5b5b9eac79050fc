"""The worked example of a metric of one's own, executed as the page has it, from installed wheels outside the checkout."""

import json
import shlex
from pathlib import Path

import pytest

from tests.docs.pages import ROOT, blocks
from tests.docs.printed import SERVED
from tests.installed import install_page
from tests.model_server import ModelServer

PAGE = ROOT / "docs" / "how-to" / "own-metric.md"


def answer(messages: list[dict[str, str]]) -> str:
    """Fifteen words about the dog, thirty about the exam."""
    return " ".join(["kind"] * (15 if "dog" in messages[-1]["content"] else 30))


@pytest.mark.long
def test_own_metric_from_run_to_verification(tmp_path: Path, moodflow_site: Path) -> None:
    install = install_page(PAGE, tmp_path, moodflow_site)
    before = install.installed_files()
    (command,) = (block.body.strip() for block in blocks(PAGE) if block.language == "sh")
    with ModelServer(answer) as server:
        _, *arguments = shlex.split(command.replace(SERVED, server.base_url))
        done = install.run(*arguments, "--json")
    assert done.status == 0, done.err
    # 1 - 5 / 20 and 1 - 10 / 20; their mean is 0.625.
    assert [(row["metric"], row["value"]) for row in done.document["raw_scores"]] == [("brevity", pytest.approx(0.625))]
    assert [row["total"] for row in done.document["models"]] == [pytest.approx(62.5)]
    report = (install.folder / done.document["report"]).read_text(encoding="utf-8")
    assert "Closeness of the length of an answer to 20 words" in report
    run = done.document["run"]
    assert install.run("verify", run, "--json").status == 0
    explained = install.run("explain", run, "--dataset", "short_answers", "--json").document
    assert "brevity" in json.dumps(explained)
    # Without the package the lake is read, and the blueprint is refused by the name of the metric.
    assert run in install.run("runs", "list", "--json", with_package=False).out
    refused = install.run("score", "short.yaml", "--model", "my-model", "--base-url", SERVED, with_package=False)
    assert refused.status == 2
    assert "brevity" in refused.err
    assert install.installed_files() == before
