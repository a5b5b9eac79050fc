"""`moodflow gc`: lists, asks, removes, and leaves every run verified."""

import os
import shutil
import subprocess
import sys
import time
from contextlib import ExitStack
from io import StringIO
from pathlib import Path

import pytest

from tasks.lake.unused import hold
from tasks.verify.run import verify_run
from tests.flows.command import Ended, ended
from tests.flows.scripted import policy
from tests.model_server import ModelServer

KEPT, OTHER = "mini_text_classification", "mini_text_matching"
DAYS_NS = 3 * 86_400 * 1_000_000_000


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A lake with a run, and with what is left of asking about another dataset, three days old: its folder and the run's name."""
    lake = tmp_path_factory.mktemp("made") / "lake"
    with ModelServer(policy((KEPT, OTHER), "gold")) as server:
        model = ("--model", "m", "--base-url", server.base_url, "--set", "bootstrap=0", "--lake", lake, "--json")
        run = ended("run", "moodbench-mini", *model, "--datasets", KEPT).document["run"]
        for stage in ("build", "infer"):
            assert ended(stage, "moodbench-mini", *model, "--datasets", OTHER).status == 0
    long_ago = time.time_ns() - DAYS_NS
    for path in lake.rglob("*"):
        os.utime(path, ns=(long_ago, long_ago))
    return lake, run


@pytest.fixture
def lake(made: tuple[Path, str], tmp_path: Path) -> Path:
    return Path(shutil.copytree(made[0], tmp_path / "lake"))


def partitions(lake: Path) -> set[str]:
    return {path.relative_to(lake).as_posix() for path in lake.rglob("*.parquet")}


def gc(lake: Path, *more: str) -> Ended:
    return ended("gc", "--lake", lake, *more)


def test_gc_removes_only_unlisted_files(lake: Path, made: tuple[Path, str]) -> None:
    before = partitions(lake)
    listed = gc(lake, "--dry-run", "--json")
    assert listed.status == 0, listed.err
    found = listed.document
    going = {entry["path"] for entry in found["partitions"]}
    assert partitions(lake) == before
    # All of it is three days old.
    young = gc(lake, "--yes", "--older-than", "73", "--json").document
    assert (young["partitions"], young["removed"], partitions(lake)) == ([], False, before)
    assert young["younger"] >= len(going)
    assert {path.rpartition("/")[0] for path in going} == {
        f"items/dataset={OTHER}",
        f"answers/dataset={OTHER}/model=m/setting=base",
        f"responses/dataset={OTHER}/model=m/setting=base",
    }
    assert found["bytes"] == sum((lake / path).stat().st_size for path in going)
    assert (found["runs"], found["removed"], found["temporary"]) == (1, False, [])
    done = gc(lake, "--yes", "--json")
    assert (done.status, done.document["removed"]) == (0, True)
    assert {entry["path"] for entry in done.document["partitions"]} == going
    assert partitions(lake) == before - going
    assert not (lake / "items" / f"dataset={OTHER}").exists()
    assert (lake / "journal" / "replies.sqlite").is_file()
    assert verify_run(lake, made[1]).verified
    again = gc(lake, "--yes", "--json").document
    assert (again["partitions"], again["folders"], again["removed"]) == ([], [], False)


def test_without_a_terminal_it_needs_to_be_told(lake: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", StringIO(""))
    before = partitions(lake)
    for more in ((), ("--json",)):
        refused = gc(lake, *more)
        assert refused.status == 2
        assert "there is no terminal to ask" in refused.err
        assert "--yes" in refused.err
    assert partitions(lake) == before


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("answer", "removed"), [("y\n", True), ("n\n", False), ("\n", False)])
def test_a_terminal_is_asked(lake: Path, monkeypatch: pytest.MonkeyPatch, answer: str, removed: bool) -> None:
    monkeypatch.setattr("sys.stdin", Terminal(answer))
    before = partitions(lake)
    asked = gc(lake)
    assert asked.status == 0, asked.err
    words = " ".join(asked.out.split())
    # Listed with sizes before the question.
    assert words.index("partitions, ") < words.index("Remove them?")
    assert "kB" in words
    assert (partitions(lake) < before) == removed
    assert ("files and" in words and "freed" in words) if removed else "Nothing was removed." in words


def test_a_manifest_that_cannot_be_read_stops_it(lake: Path, made: tuple[Path, str]) -> None:
    (lake / "runs" / made[1] / "manifest.json").write_text("{")
    before = partitions(lake)
    refused = gc(lake, "--yes")
    assert refused.status == 2
    assert f"manifest of a run cannot be read\n  where: {lake / 'runs' / made[1] / 'manifest.json'}" in refused.err
    assert partitions(lake) == before


def test_wrong_hours_and_missing_lakes_are_refused(lake: Path, tmp_path: Path) -> None:
    assert [gc(lake, "--yes", "--older-than", hours).status for hours in ("-1", "soon")] == [2, 2]
    refused = gc(tmp_path / "nowhere", "--yes")
    assert (refused.status, "there is no lake" in refused.err) == (2, True)
    assert not (tmp_path / "nowhere").exists()


def test_nothing_goes_while_a_run_is_going_on(lake: Path, made: tuple[Path, str]) -> None:
    # The only run that lists the items which the new one takes up is forgotten.
    shutil.rmtree(lake / "runs" / made[1])
    before, collected, answer = partitions(lake), list[Ended](), policy((KEPT,), "gold")

    def collect(messages: list[dict[str, str]]) -> str:
        if not collected:
            code = "from flows.cli import main; main()"
            options = ["gc", "--older-than", "0", "--yes", "--lake", str(lake), "--json"]
            process = subprocess.run([sys.executable, "-c", code, *options], capture_output=True, text=True, check=False)
            collected.append(Ended(process.returncode, process.stdout, process.stderr))
            assert partitions(lake) >= before
        return answer(messages)

    with ModelServer(collect) as server:
        model = ("--model", "other", "--base-url", server.base_url, "--set", "bootstrap=0", "--lake", lake, "--json")
        run = ended("run", "moodbench-mini", *model, "--datasets", KEPT, "--concurrency", "1")
    assert run.status == 0, run.err
    (during,) = collected
    assert during.status == 0, during.err
    assert (during.document["in_use"], during.document["removed"], during.document["partitions"]) == (True, False, [])
    assert during.document["younger"] >= len(before)
    assert verify_run(lake, run.document["run"]).verified
    # It has ended: what it does not list goes now.
    after = gc(lake, "--older-than", "0", "--yes", "--json").document
    assert (after["in_use"], after["removed"]) == (False, True)
    assert {f"answers/dataset={KEPT}/model=m/setting=base"} <= {entry["path"].rpartition("/")[0] for entry in after["partitions"]}
    assert verify_run(lake, run.document["run"]).verified


def test_a_run_begun_meanwhile_keeps_everything(lake: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = partitions(lake)
    with ExitStack() as begun:

        class Slow(Terminal):
            def readline(self, *limit: int) -> str:  # type: ignore[override]
                begun.enter_context(hold(lake))
                return super().readline(*limit)

        monkeypatch.setattr("sys.stdin", Slow("y\n"))
        asked = gc(lake)
    assert (asked.status, partitions(lake)) == (0, before)
    assert "Nothing was removed" in asked.out
