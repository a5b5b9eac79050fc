"""The worked example of a metric of one's own, executed as the page has it, by commands outside the checkout."""

import json
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.docs.pages import ROOT, blocks
from tests.docs.printed import SERVED
from tests.flows.command import Ended
from tests.flows.served import ENTRY_POINT, LIMIT_S, clean_environment
from tests.model_server import ModelServer

PAGE = ROOT / "docs" / "how-to" / "own-metric.md"


def moodflow(folder: Path, *arguments: str, installed: bool = True) -> Ended:
    """Run a command in a folder, where the page's package is installed as far as its entry point goes, or is not."""
    path = f"{ROOT}:{folder / 'site'}" if installed else str(ROOT)
    done = subprocess.run(
        [sys.executable, "-P", "-c", ENTRY_POINT, *arguments],
        check=False,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        cwd=folder,
        env={**clean_environment(folder / "home"), "PYTHONPATH": path},
    )
    return Ended(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The files of the page; its package in a folder of packages."""
    files = {block.word: block.body for block in blocks(PAGE) if block.word}
    metadata = tmp_path / "site" / "brevity-1.0.dist-info"
    metadata.mkdir(parents=True)
    ((name, value),) = tomllib.loads(files.pop("pyproject.toml"))["project"]["entry-points"]["moodflow.benchmarks"].items()
    (metadata / "METADATA").write_text("Name: brevity\nVersion: 1.0\n", encoding="utf-8")
    (metadata / "entry_points.txt").write_text(f"[moodflow.benchmarks]\n{name} = {value}\n", encoding="utf-8")
    (tmp_path / "site" / "brevity.py").write_text(files.pop("brevity.py"), encoding="utf-8")
    for file, text in files.items():
        (tmp_path / file).write_text(text, encoding="utf-8")
    return tmp_path


def answer(messages: list[dict[str, str]]) -> str:
    """Fifteen words about the dog, thirty about the exam."""
    return " ".join(["kind"] * (15 if "dog" in messages[-1]["content"] else 30))


def test_the_page_from_run_to_verified_score(folder: Path) -> None:
    (command,) = (block.body.strip() for block in blocks(PAGE) if block.language == "sh")
    with ModelServer(answer) as server:
        _, *arguments = shlex.split(command.replace(SERVED, server.base_url))
        done = moodflow(folder, *arguments, "--json")
    assert done.status == 0, done.err
    # 1 - 5 / 20 and 1 - 10 / 20; their mean is 0.625.
    assert [(row["metric"], row["value"]) for row in done.document["raw_scores"]] == [("brevity", pytest.approx(0.625))]
    assert [row["total"] for row in done.document["models"]] == [pytest.approx(62.5)]
    report = (folder / done.document["report"]).read_text(encoding="utf-8")
    assert "Closeness of the length of an answer to 20 words" in report
    run = done.document["run"]
    assert moodflow(folder, "verify", run, "--json").status == 0
    explained = moodflow(folder, "explain", run, "--dataset", "short_answers", "--json").document
    assert "brevity" in json.dumps(explained)
    # Without the package the lake is read, and the blueprint is refused by the name of the metric.
    assert run in moodflow(folder, "runs", "list", "--json", installed=False).out
    refused = moodflow(folder, "score", "short.yaml", "--model", "my-model", "--base-url", SERVED, installed=False)
    assert refused.status == 2
    assert "brevity" in refused.err
