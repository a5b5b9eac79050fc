"""Conversations that break a rule count as missing wherever their files came from; above a tenth of them stop their dataset."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from flows.planning.resolve import resolve
from flows.planning.score_jobs import find_broken_rows
from schemas.folders import DATA_FOLDER
from schemas.plan import Plan
from tasks.benchmarks.moodbench.datasets.safetybench import SAFETYBENCH
from tests.flows.annotating import MODELS, knowing
from tests.flows.command import Ended, assert_one_message, ended
from tests.flows.scripted_roles import layer
from tests.model_server import ModelServer
from tests.tasks.benchmarks.attunebench.datasets.conversations import varied, write_folder

SAMPLE200 = "github.com/Thoughtful-Lab/attunebench/Test Samples/Sample200"
PLACES: dict[str, Callable[[Path], tuple[str, str]]] = {
    "mirror": lambda folder: ("--mirror", str(folder / "mirror")),
    "folder": lambda folder: ("--set", f"folders.attunebench={folder / 'mirror' / SAMPLE200}"),
}
USUAL = ("folder", pytest.param("mirror", marks=pytest.mark.long))
RULE = "turns.annotations.pairwiseComparisons|twelve_comparisons"


def sixteen(folder: Path, broken: int) -> Path:
    """Sixteen files, the first of which compare eleven pairs of replies where twelve are to be; and those that do not, apart."""
    records: dict[str, Any] = {f"{number:02d}": varied(number) for number in range(1, 17)}
    good = write_folder(folder / "good", dict(list(records.items())[broken:]))
    for record in list(records.values())[:broken]:
        del record["turns"][0]["annotations"]["pairwiseComparisons"][5]
    write_folder(folder / "mirror" / SAMPLE200, records)
    return good


def run(folder: Path, benchmark: str | Path, place: str, reply: Callable[..., str], *more: str) -> tuple[Ended, int]:
    with ModelServer(reply) as server:
        model = ("--model", "oracle", "--base-url", server.base_url, "--lake", folder / "lake", "--set", "bootstrap=0")
        return ended("run", benchmark, *model, *PLACES[place](folder), *more), server.calls


@pytest.mark.parametrize("place", USUAL)
def test_one_rejected_conversation_of_sixteen_is_missing(tmp_path: Path, place: str) -> None:
    good = sixteen(tmp_path, 1)
    reply = knowing(MODELS["oracle"], good)
    done, _ = run(tmp_path, "attunebench", place, reply, "--json")
    sampled, _ = run(tmp_path, "attunebench", place, reply, "--sample", "4", "--json")
    told = ended("runs", "show", done.document["run"], "--lake", tmp_path / "lake")
    assert done.status == 1, done.err
    (row,), (gap,) = (done.document["models"], done.document["missing"])
    # 15 of 16 is 93.75 %: what is there is right, and there is no rank.
    assert (row["total"], row["n_scored"], row["n_total"], row["rank"]) == (pytest.approx(100), 15, 16, None)
    reason = f"has 1 row of 16 that breaks a rule and is left out: {RULE} (1: conversation_01.json)"
    assert (gap["dataset"], gap["rows"], gap["reason"]) == ("attunebench", 1, reason)
    assert "15 of 16" in told.out
    for said in (told.out, Path(done.document["report"]).read_text(encoding="utf-8")):
        assert reason in " ".join(said.split())
    manifest = json.loads(Path(done.document["manifest"]).read_text(encoding="utf-8"))
    assert manifest["missing"] == [gap]
    assert set(layer(tmp_path / "lake", "items_rejected")["source_file"]) == {"conversation_01.json"}
    # A sample that is full without the rejected one has a rank.
    (row,), (gap,) = (sampled.document["models"], sampled.document["missing"])
    assert (sampled.status, row["n_scored"], row["n_total"], row["rank"]) == (1, 4, 4, 1)
    assert gap["reason"] == reason


def beside_another(folder: Path) -> Path:
    """A blueprint of AttuneBench and of its bundled conversations."""
    blueprint = yaml.safe_load((DATA_FOLDER / "blueprints" / "attunebench.yaml").read_text(encoding="utf-8"))
    blueprint["abilities"][0]["tasks"][0]["datasets"].append("attunebench_mini")
    blueprint["datasets"]["attunebench_mini"] = {**blueprint["datasets"]["attunebench"], "title": "Bundled"}
    path = folder / "both.yaml"
    path.write_text(json.dumps({**blueprint, "name": "both"}))
    return path


@pytest.mark.parametrize("place", USUAL)
def test_fourteen_rejected_of_sixteen_stop_their_dataset(tmp_path: Path, place: str) -> None:
    sixteen(tmp_path, 14)
    done, calls = run(tmp_path, beside_another(tmp_path), place, knowing(MODELS["oracle"]), "--json")
    told = ended("runs", "show", done.document["run"], "--lake", tmp_path / "lake")
    assert done.status == 1, done.err
    # The four bundled conversations alone are asked: of three turns each, without a judge of drafts, 4 x 3 + 1 calls.
    assert calls == 52
    (row,), (gap,) = (done.document["models"], done.document["missing"])
    assert (row["rank"], row["coverage"]) == (None, 0.5)
    first = ", ".join(f"conversation_{number:02d}.json" for number in (1, 2, 3))
    reason = f"the files do not have the layout that the adapter expects: 14 rows of 16 break a rule, {RULE} (14: {first}, ...)"
    assert (gap["reason"], "rows" in gap) == (reason, False)
    for said in (told.out, Path(done.document["report"]).read_text(encoding="utf-8")):
        assert reason in " ".join(said.split())
    assert layer(tmp_path / "lake", "items_rejected").height == 14
    alone, calls = run(tmp_path, "attunebench", place, knowing(MODELS["oracle"]))
    assert calls == 0
    assert_one_message(alone, "no dataset of attunebench is available", "14 rows of 16 break a rule", RULE)


def test_datasets_check_names_rejected_conversations(tmp_path: Path) -> None:
    for broken, needs in {0: [], 1: ["has 1 row of 16 that breaks a rule"], 2: ["do not have the layout"]}.items():
        sixteen(tmp_path / str(broken), broken)
        done = ended("datasets", "check", "attunebench", "--mirror", tmp_path / str(broken) / "mirror", "--offline", "--json")
        (found,) = done.document["datasets"]
        assert (done.status, found["ready"], len(found["needs"])) == (int(broken > 0), not broken, len(needs))
        assert all(text in said for text, said in zip(needs, found["needs"], strict=True))
        assert found.get("good") == {0: 16, 1: 15, 2: None}[broken]


def test_rows_that_the_entry_states_are_not_missing(tmp_path: Path, mirror: Path) -> None:
    """Two of the 300 Chinese questions on privacy print an option twice, as their entry says."""
    (name,) = (spec.id for spec in SAFETYBENCH if spec.id.endswith("privacy_property"))
    command = ("build", "moodbench", "--datasets", name, "--mirror", mirror, "--lake", tmp_path)
    done = ended(*command, "--json")
    assert (done.status, done.document["missing"], done.document["partitions"][0]["rows"]) == (0, [], 298)
    plan = Plan.model_validate({"benchmark": "moodbench", "models": [], "datasets": [name], "mirror": mirror, "lake": tmp_path})
    (broken,) = find_broken_rows(resolve(plan))
    assert (broken.is_stated, broken.lacking) == (True, 0)
    assert broken.missing.reason.startswith("has 2 rows of 300 that break a rule and are left out: ")
