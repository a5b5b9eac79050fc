"""Prompts and rubrics of a plan's folder: sent in place of ours over HTTP, part of the keys by content, kept in the manifest."""

import json
from collections.abc import Iterator
from pathlib import Path
from shutil import copytree, rmtree
from typing import Any

import pytest
import yaml

from schemas.json_yaml import read_yaml
from tasks.solvers.prompts import PROMPTS
from tests.flows.command import Ended, ask_all, assert_one_message, ended
from tests.flows.scripted_roles import layer
from tests.model_server import ModelServer

MARK = 'In the words of their paper, {"of": "JSON"}: '
CHOICE = ("moodbench-mini", "mini_text_matching")
WORDING = {"paper": "MoodBench", "source": "their/code at 1a2b3c4", "files": ["single_choice.yaml"]}


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(lambda _messages: "B") as server:
        yield server


def write(folder: Path, **files: Any) -> Path:
    """Write files; a name has `__` for a slash."""
    for name, content in files.items():
        path = folder / f"{name.replace('__', '/')}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(yaml.safe_dump(content, allow_unicode=True), encoding="utf-8")
    return folder


def marked(file: str, *text: str, mark: str = MARK) -> Any:
    """A file of ours with a mark before one of its texts, in every language if it has several."""
    content = read_yaml((PROMPTS / f"{file}.yaml").read_text(encoding="utf-8"))
    *path, last = text
    for language in ("en", "zh"):
        part = content
        for name in (step.replace("LANGUAGE", language) for step in path):
            part = part[name]
        name = last.replace("LANGUAGE", language)
        part[name] = mark + part[name].removeprefix(mark)
    return content


def options(server: ModelServer, lake: Path, benchmark: str, dataset: str, *more: str | Path) -> tuple[str | Path, ...]:
    url = server.base_url
    models = ("--model", "m", "--base-url", url, "--datasets", dataset, "--sample", "1", "--set", "bootstrap=0")
    return (benchmark, *models, "--lake", lake, "--json", *more)


def run(server: ModelServer, lake: Path, benchmark: str, dataset: str, *more: str | Path) -> Ended:
    return ended("run", *options(server, lake, benchmark, dataset, *more))


@pytest.mark.parametrize(
    ("command", "texts", "roles"),
    [
        # The variation below sends it, too.
        pytest.param(CHOICE, {"single_choice": ("LANGUAGE", "instruction")}, (), marks=pytest.mark.long),
        (("longemotion-mini", "long_mini_qa"), {"longemotion/qa": ("LANGUAGE", "system")}, ()),
        (
            ("esc-eval-mini", "esc_eval_mini_en"),
            {"role_play/seeker": ("LANGUAGE", "greeting"), "rubrics/esc_eval": ("instruction", "LANGUAGE")},
            ("seeker", "judge"),
        ),
        (("attunebench-mini", "attunebench_mini"), {"annotate/calls": ("system",)}, ()),
    ],
)
def test_each_kind_of_text_is_sent(
    tmp_path: Path, server: ModelServer, command: tuple[str, str], texts: dict[str, tuple[str, ...]], roles: tuple[str, ...]
) -> None:
    marks = {file: f"{MARK}{file}: " for file in texts}
    folder = write(tmp_path / "theirs", **{file: marked(file, *text, mark=marks[file]) for file, text in texts.items()})
    helpers = [part for role in roles for part in ("--role", f"{role}={role}@{server.base_url}")]
    done = ask_all(*options(server, tmp_path / "lake", *command, "--set", f"prompts={folder}", *helpers))
    assert done.status in (0, 1), done.err
    said = [message["content"] for body in server.bodies for message in body["messages"]]
    assert [file for file, mark in marks.items() if 1 not in {text.count(mark) for text in said}] == []


def partitions(lake: Path) -> set[Path]:
    return set(lake.glob("responses/**/*.parquet"))


def test_partition_is_that_of_the_text(tmp_path: Path, server: ModelServer) -> None:
    lake, folder = tmp_path / "lake", write(tmp_path / "theirs", single_choice=marked("single_choice", "LANGUAGE", "instruction"))
    copy = copytree(folder, tmp_path / "copy")

    def sent(*more: str) -> int:
        calls: int = ask_all(*options(server, lake, *CHOICE, *more)).document["calls"]["sent"]
        return calls

    # One item, asked in our words and in theirs.
    assert [sent(), sent("--set", f"prompts={folder}"), sent("--set", f"prompts={copy}")] == [1, 1, 0]
    assert len(partitions(lake)) == 2
    write(copy, single_choice=marked("single_choice", "LANGUAGE", "instruction", mark="Otherwise: "))
    assert sent("--set", f"prompts={copy}") == 1
    assert len(partitions(lake)) == 3
    assert layer(lake, "responses").height == 3


@pytest.mark.long
def test_a_past_run_needs_no_folder(tmp_path: Path, server: ModelServer) -> None:
    lake, text = tmp_path / "lake", marked("single_choice", "LANGUAGE", "instruction")
    folder = write(tmp_path / "theirs", single_choice=text, wording=WORDING)
    done = run(server, lake, *CHOICE, "--set", f"prompts={folder}").document
    assert ended("verify", done["run"], "--lake", lake, "--json").document["differences"] == []
    rmtree(folder)
    checked = ended("verify", done["run"], "--lake", lake, "--json").document
    assert (checked["files"]["differ"], checked["differences"]) == ([], [])
    assert {layer["differs"] for layer in checked["layers"]} == {0}
    assert any("whether the blueprint changed since could not be checked" in note for note in checked["notes"])
    (item,) = layer(lake, "items")["item_id"]
    explained = ended("explain", done["run"], "--lake", lake, "--dataset", CHOICE[1], "--item", item)
    assert MARK in explained.out, explained.err
    assert (
        "prompts are those of their/code at 1a2b3c4, as their folder states" in ended("explain", done["run"], "--lake", lake).out
    )


@pytest.mark.long
def test_statement_of_source_sets_no_run_apart(tmp_path: Path, server: ModelServer) -> None:
    folder, runs = tmp_path / "theirs", []
    write(folder, single_choice=marked("single_choice", "LANGUAGE", "instruction"))
    for statement in ({}, {"wording": WORDING}, {"wording": {**WORDING, "source": "the same at 4d5e6f7"}}):
        done = run(server, tmp_path / "lake", *CHOICE, "--set", f"prompts={write(folder, **statement)}")
        runs.append(done.document["run"])
    assert server.calls == 1
    named = [option for run in runs for option in ("--run", run)]
    board = ended("leaderboard", CHOICE[0], "--lake", tmp_path / "lake", *named, "--json").document
    assert [(sorted(group["runs"]), group["basis"]) for group in board["groups"]] == [(sorted(runs), {})]
    compared = ended("compare", *runs[1:], "--lake", tmp_path / "lake", "--json").document
    assert compared["warnings"] == []
    assert [change["what"] for change in compared["differences"]] == ["blueprint.wording.source"]
    assert ended("verify", runs[2], "--lake", tmp_path / "lake", "--json").document["differences"] == []


@pytest.mark.long
def test_folder_of_plan_counts_before_blueprints(tmp_path: Path, server: ModelServer) -> None:
    text = ("single_choice", "LANGUAGE", "instruction")
    write(
        tmp_path / "beside",
        single_choice=marked(*text, mark="Of the blueprint: "),
        ordered_recall=marked("ordered_recall", *text[1:]),
    )
    blueprint = {"extends": CHOICE[0], "name": "worded", "prompts": "beside"}
    (tmp_path / "worded.yaml").write_text(yaml.safe_dump(blueprint), encoding="utf-8")
    folder = write(tmp_path / "theirs", single_choice=marked(*text))
    done = run(server, tmp_path / "lake", str(tmp_path / "worded.yaml"), CHOICE[1], "--set", f"prompts={folder}")
    assert done.status == 0, done.err
    assert [MARK in body["messages"][0]["content"] for body in server.bodies] == [True]
    run(server, tmp_path / "lake", str(tmp_path / "worded.yaml"), "mini_sequence_order_recall", "--set", f"prompts={folder}")
    assert MARK in server.bodies[-1]["messages"][0]["content"]


@pytest.mark.parametrize(
    ("files", "parts"),
    [
        ({"single_choise": {}}, ("there is no prompt single_choise", "did you mean single_choice", "role_play/seeker")),
        ({"role_cards__cards": {}}, ("there is no prompt role_cards/cards",)),
        ({"rubrics__esc_evil": {}}, ("there is no rubric esc_evil", "did you mean esc_eval")),
        ({"rubrics__answer": {"id": "answer"}}, ("a rubric file breaks a rule", "answer.yaml among your own rubrics")),
        (
            {"rubrics__answer": marked("rubrics/answer", "instruction", "LANGUAGE", mark="See {question}. ")},
            ("a rubric file breaks a rule", "instruction.en", "{question}"),
        ),
        (
            {"single_choice": marked("single_choice", "LANGUAGE", "question", mark="{question.__class__} ")},
            ("the prompt files cannot be used", "single_choice.yaml", "single_choice.en.question", "{question.__class__}"),
        ),
        ({"wording": WORDING}, ("wording.yaml lists single_choice.yaml, which is not in the folder",)),
        (
            {
                "wording": WORDING,
                "single_choice": marked("single_choice", "LANGUAGE", "instruction", mark="  ") | {"version": "9"},
            },
            ("wording.yaml: single_choice.yaml has the words that ship with MoodFlow, not the paper's",),
        ),
        (
            {
                "wording": {**WORDING, "paper": "ESC-Eval", "files": ["rubrics/esc_eval"]},
                "rubrics__esc_eval": read_yaml((PROMPTS / "rubrics" / "esc_eval.yaml").read_text(encoding="utf-8")),
            },
            ("wording.yaml: rubrics/esc_eval.yaml has the words that ship with MoodFlow",),
        ),
        ({"wording": {**WORDING, "paper": "Moodbench"}}, ("wording.yaml: paper is one of MoodBench", "not Moodbench")),
        ({"wording": {"paper": "MoodBench", "files": ["a"]}}, ("a folder of prompts or rubrics cannot be read", "source")),
        ({}, ("a folder of prompts or rubrics cannot be read", "it has no YAML files")),
    ],
)
def test_a_faulty_folder_is_one_message(
    tmp_path: Path, server: ModelServer, files: dict[str, Any], parts: tuple[str, ...]
) -> None:
    folder = write(tmp_path / "theirs", **files)
    folder.mkdir(exist_ok=True)
    assert_one_message(run(server, tmp_path / "lake", *CHOICE, "--set", f"prompts={folder}"), *parts)
    assert server.calls == 0


def test_a_file_that_is_no_yaml_is_named(tmp_path: Path, server: ModelServer) -> None:
    file = write(tmp_path / "theirs", single_choice={}, open_ended={}) / "single_choice.yaml"
    file.write_text("en: [", encoding="utf-8")
    done = run(server, tmp_path / "lake", *CHOICE, "--set", f"prompts={file.parent}")
    assert_one_message(done, "a folder of prompts or rubrics cannot be read", f"where: {file}\n")


def test_prompts_can_be_varied(tmp_path: Path, server: ModelServer) -> None:
    folder = write(tmp_path / "theirs", single_choice=marked("single_choice", "LANGUAGE", "instruction"))
    done = run(server, tmp_path / "lake", *CHOICE, "--vary", f"prompts={folder},null")
    assert done.status == 0, done.err
    assert [MARK in body["messages"][0]["content"] for body in server.bodies] == [True, False]
    assert len(done.document["comparisons"]) == 1
    names = [run["run"] for run in (done.document, *done.document["more"])]
    manifests = [json.loads((tmp_path / "lake" / "runs" / name / "manifest.json").read_bytes()) for name in names]
    assert ["prompts" in manifest["plan"] for manifest in manifests] == [True, False]
    # The name says the plan, and no folder.
    assert len({name.rsplit("-", 1)[1] for name in names}) == 1
    same = write(tmp_path / "ours", single_choice=marked("single_choice", "LANGUAGE", "instruction", mark=""))
    refused = run(server, tmp_path / "lake", *CHOICE, "--vary", f"prompts={same},null")
    assert_one_message(refused, "varying prompts has no effect on this plan")
