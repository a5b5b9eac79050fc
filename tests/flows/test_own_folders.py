"""Datasets of MoodBench from a folder of the user's: in the layout of their entry, with rows of our own wording."""

import json
from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from shutil import rmtree
from typing import Any

import polars as pl
import pytest

from flows.commands.lineage import name_sources
from schemas.dataset import LocalFile, PinnedFile
from schemas.folders import DATA_FOLDER
from schemas.lineage import DatasetNotice
from tasks.datasets.catalogue import CATALOGUE, find_dataset
from tasks.datasets.own_items import in_folder, local_dataset
from tasks.lake.manifest import notices
from tasks.sources.files import hash_names, name_source
from tests.flows.command import Ended, ask_all, assert_one_message, ended
from tests.flows.scripted_roles import layer
from tests.mirror import MIRROR, needs_mirror
from tests.model_server import ModelServer
from tests.tasks.lake.test_manifest import bare_manifest
from tests.tasks.runs.test_comparability import reasons, record

EXAMPLES = {name: json.loads((DATA_FOLDER / "examples" / f"{name}.json").read_bytes()) for name in
            ("stereoset", "ceval", "personafeedback", "longmemeval")}  # fmt: skip


def stereoset(folder: Path) -> None:
    put(folder / "dev.json", json.dumps(EXAMPLES["stereoset"]["data/dev.json"]))


def subjects() -> list[str]:
    return [name_source(file).partition("/")[0] for file in find_dataset("ceval").files]


def ceval(folder: Path) -> None:
    """Every subject has the one row, whose question names it."""
    for subject in subjects():
        row = EXAMPLES["ceval"]["accountant/val-00000-of-00001.parquet"]
        path = folder / subject / "val-00000-of-00001.parquet"
        path.parent.mkdir(parents=True)
        pl.DataFrame([{**row, "question": f"{subject} {row['question']}"}]).write_parquet(path)


def ceval_csv(folder: Path) -> None:
    for subject in subjects():
        row = EXAMPLES["ceval"]["val/accountant_val.csv"]
        path = folder / "val" / f"{subject}_val.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        pl.DataFrame([{**row, "question": f"{subject} {row['question']}"}]).write_csv(path)


def personafeedback(folder: Path) -> None:
    for number, (kind, level) in enumerate(
        (kind, level) for kind in ("general", "spedific") for level in ("easy", "medium", "hard")
    ):
        question = {**EXAMPLES["personafeedback"]["data/general/easy.jsonl"], "user_id": number + 1}
        put(folder / "data" / kind / f"{level}.jsonl", json.dumps(question))
    for user in range(1, 201):
        put(folder / "persona" / f"{user}.json", json.dumps(EXAMPLES["personafeedback"]["persona/1.json"]))


def longmemeval(folder: Path) -> None:
    put(folder / "longmemeval_oracle.json", json.dumps(EXAMPLES["longmemeval"]["longmemeval_oracle"]))


def put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


LAYOUTS = {"stereoset": stereoset, "ceval": ceval, "personafeedback": personafeedback, "longmemeval": longmemeval}
SHOWN = {
    "stereoset": (2, ("The plumber rang the bell.", "He left mud all over the hall.", "The librarian was parsley.")),
    "ceval": (52, ("accountant 下列哪一项属于流动资产？____", "B. 库存现金")),
    "personafeedback": (6, ("Name: Ida", "Career Information: boat builder", "Take your sketchbook down to the harbour.")),
    "longmemeval": (1, ("(Asked on 2023/05/20 (Sat) 10:00.) How many days after the move", "User: I adopted a cat today.")),
}
"""Items of each folder, and what the prompts have of them."""


POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:00\n"


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(lambda _messages: "B") as server:
        yield server


def options(server: ModelServer, lake: Path, name: str, folder: Path, *more: str) -> tuple[str | Path, ...]:
    url = server.base_url
    models = ("--model", "m", "--base-url", url, "--judge", "j", "--judge-base-url", url, "--datasets", name)
    return ("moodbench", *models, "--set", "bootstrap=0", "--set", f"folders.{name}={folder}", *more, "--lake", lake, "--json")


def run(server: ModelServer, lake: Path, name: str, folder: Path, *more: str) -> Ended:
    return ended("run", *options(server, lake, name, folder, *more))


def notice_of(name: str, folder: Path) -> DatasetNotice:
    (notice,) = notices([in_folder(find_dataset(name), folder)])
    return notice


WRITTEN = pytest.mark.parametrize(("name", "write"), [*LAYOUTS.items(), ("ceval", ceval_csv)])


@WRITTEN
def test_absent_dataset_is_asked_from_folder(tmp_path: Path, server: ModelServer, name: str, write: Any) -> None:
    write(tmp_path / "mine")
    done = ask_all(*options(server, tmp_path / "lake", name, tmp_path / "mine"))
    assert done.status in (0, 1), done.err
    items, texts = SHOWN[name]
    assert layer(tmp_path / "lake", "items").height == items
    said = "\n".join(message["content"] for body in server.bodies for message in body["messages"])
    assert [text for text in texts if text not in said] == []
    if write is ceval:
        assert layer(tmp_path / "lake", "items")["subset"].sort().to_list() == sorted(subjects())


@WRITTEN
def test_notice_names_files_with_their_hashes(tmp_path: Path, name: str, write: Any) -> None:
    write(tmp_path / "mine")
    sources = notice_of(name, tmp_path / "mine").sources
    if write is ceval:
        file = tmp_path / "mine" / "accountant" / "val-00000-of-00001.parquet"
        pinned = find_dataset("ceval").files[0]
        assert isinstance(pinned, PinnedFile)
        got = sha256(file.read_bytes()).hexdigest()
        differs = f"own files, hash differs from the pinned one: {pinned.path}, sha256 {got} in place of sha256 {pinned.sha256}"
        assert sources[0] == differs
    elif name == "stereoset":
        assert sources[0].startswith("own files, hash differs from the pinned one: data/dev.json, ")
    else:
        known = {"longmemeval": "1 record in place of 500", "ceval": "52 records in place of 1346"}
        assert {source.partition(":")[0] for source in sources} == {f"own files, {known.get(name, 'no hash is pinned')}"}
        files = [path for path in (tmp_path / "mine").rglob("*") if path.is_file()]
        hashes = sorted(sha256(path.read_bytes()).hexdigest() for path in files)
        assert sorted(source.rpartition(", sha256 ")[2] for source in sources) == hashes


@pytest.mark.parametrize(
    "name", ["personafeedback", *(pytest.param(name, marks=pytest.mark.long) for name in LAYOUTS if name != "personafeedback")]
)
def test_a_run_names_the_files_of_its_folder(tmp_path: Path, server: ModelServer, name: str) -> None:
    """In manifest, lineage and report. Of the layouts, that of PersonaFeedback has several files of one content."""
    LAYOUTS[name](tmp_path / "mine")
    done = run(server, tmp_path / "lake", name, tmp_path / "mine")
    sources = notice_of(name, tmp_path / "mine").sources
    (notice,) = json.loads((tmp_path / "lake" / "runs" / done.document["run"] / "manifest.json").read_bytes())["datasets"]
    assert tuple(notice["sources"]) == sources
    nodes = ended("lineage", done.document["run"], "--lake", tmp_path / "lake", "--json").document["nodes"]
    origins = [node["source"] for node in nodes if node["kind"] == "source"]
    assert {(origin["repository"], origin["note"]) for origin in origins} == {(None, sources[0].partition(":")[0])}
    # Files of one content are one node.
    told = {source.partition(": ")[2].partition(", ")[0] for source in sources}
    assert {origin["path"] for origin in origins} <= told
    report = "".join(path.read_text(encoding="utf-8") for path in (tmp_path / "lake" / "runs").rglob("*.html"))
    assert sources[0].partition(":")[0] in report


def test_a_run_is_verified_without_its_folder(tmp_path: Path, server: ModelServer) -> None:
    stereoset(tmp_path / "mine")
    done = run(server, tmp_path / "lake", "stereoset", tmp_path / "mine").document
    checked = ended("verify", done["run"], "--lake", tmp_path / "lake", "--json").document
    assert (checked["differences"], checked["notes"]) == ([], [])
    text = (tmp_path / "mine" / "dev.json").read_text(encoding="utf-8")
    put(tmp_path / "mine" / "dev.json", text.replace("parsley", "sorrel"))
    (changed,) = ended("verify", done["run"], "--lake", tmp_path / "lake", "--json").document["differences"]
    assert (changed["kind"], changed["where"]) == ("catalogue", "stereoset")
    rmtree(tmp_path / "mine")
    gone = ended("verify", done["run"], "--lake", tmp_path / "lake", "--json").document
    assert gone["differences"] == []
    assert gone["notes"] == [
        "dataset stereoset: whether its source changed could not be checked: stereoset cannot be read from this folder"
    ]


@pytest.mark.parametrize(
    ("name", "change", "parts"),
    [
        ("stereoset", {"dev.json": None}, ("stereoset cannot be read from this folder", "expected: data/dev.json")),
        ("personafeedback", {"persona/7.json": None}, ("expected: persona/7.json",)),
        ("personafeedback", {"data/general/easy.jsonl": None, "easy.jsonl": "{}"}, ("expected: data/general/easy.jsonl",)),
        ("ceval", {f"{subject}/val-00000-of-00001.parquet": None for subject in subjects()[:5]}, ("and 2 more",)),
        ("longmemeval", {"longmemeval_oracle.json": "{}"}, ("the file is not a list of records", "longmemeval_oracle.json")),
        ("longmemeval", {"longmemeval_oracle.json": '[{"question_id": 1}]'}, ("lacks required fields", "no question_type")),
        ("stereoset", {"dev.json": '{"data": {"intersentence": []}}'}, ("data/dev.json", "KeyError: 'intrasentence'")),
        ("stereoset", {"dev.json": POINTER}, ("data/dev.json is a Git LFS pointer",)),
        ("ceval", {"law/val-00000-of-00001.parquet": "text"}, ("cannot be read as Parquet", "law/val-")),
    ],
)  # fmt: skip
def test_a_wrong_folder_is_one_message(
    tmp_path: Path, server: ModelServer, name: str, change: dict[str, str | None], parts: tuple[str, ...]
) -> None:
    LAYOUTS[name](tmp_path / "mine")
    for file, text in change.items():
        if text is None:
            (tmp_path / "mine" / file).unlink()
        else:
            put(tmp_path / "mine" / file, text)
    assert_one_message(run(server, tmp_path / "lake", name, tmp_path / "mine"), *parts)
    assert server.calls == 0


def test_the_pinned_file_is_the_papers(tmp_path: Path) -> None:
    content = tmp_path / "pinned.csv"
    put(content, "question1,question2\n")
    spec = find_dataset("qqp")
    (file,) = spec.files
    assert isinstance(file, PinnedFile)
    pinned = replace(
        spec, files=(file.model_copy(update={"path": "data/pinned.csv", "sha256": sha256(content.read_bytes()).hexdigest()}),)
    )
    other = replace(spec, files=(file.model_copy(update={"path": "data/pinned.csv"}),))
    (same,), (differs,) = ([*notices([in_folder(each, tmp_path)])] for each in (pinned, other))
    assert same.sources == (f"own files with the pinned hash: {file.repository} at {file.revision}",)
    assert [in_folder(each, tmp_path).expected_rows for each in (pinned, other)] == [300, None]
    found = record("moodbench", {"qqp", "copa"}, noticed=(same, *notices([find_dataset("copa")])))
    (qqp, copa) = (next(each for each in found.datasets if each.dataset == name) for name in ("qqp", "copa"))
    assert [(each.likeness, each.text) for each in qqp.differences if each.respect == "source"] == [("same", same.sources[0])]
    assert (qqp.verdict, copa.verdict, "source" in reasons(found)) == ("close", "close", False)
    worse = record("moodbench", {"qqp", "copa"}, noticed=(differs, *notices([find_dataset("copa")])))
    (qqp,) = (each for each in worse.datasets if each.dataset == "qqp")
    assert qqp.verdict == "not comparable"
    assert f"in place of sha256 {file.sha256}" in next(each.text for each in qqp.differences if each.respect == "items")


@pytest.mark.parametrize("name", [*LAYOUTS])
def test_show_tells_files_fields_and_command(name: str) -> None:
    shown = ended("datasets", "show", name, "--json").document
    assert shown["own_folder"] == f"moodflow run BENCHMARK --datasets {name} --set folders.{name}=DIR"
    assert shown["example"] == EXAMPLES[name]
    files = [*shown["files"], *shown["other_sources"]]
    assert all(any(Path(path).name in file for file in files) for path in shown["example"] if path != "rows")
    assert shown["expected_rows"] == CATALOGUE[name].expected_rows


def test_files_of_ours_are_read_from_no_folder(tmp_path: Path, server: ModelServer) -> None:
    assert ended("datasets", "show", "mini_bias_detection", "--json").document["own_folder"] is None
    folder = tmp_path / "none"
    assert_one_message(
        run(server, tmp_path / "lake", "stereoset", folder), f"expected: data/dev.json\n  got: {folder}, which is not a folder"
    )


def test_notice_has_hash_of_own_items_and_folders(tmp_path: Path) -> None:
    put(tmp_path / "days.jsonl", "{}\n")
    put(tmp_path / "set" / "1.json", "{}")
    own = local_dataset("days", "Days", LocalFile(path=tmp_path / "days.jsonl"))
    folder = in_folder(find_dataset("attunebench"), tmp_path / "set")
    told = notices([own, folder])
    line, hashes = sha256(b"{}\n").hexdigest(), [sha256(b"{}").hexdigest()]
    assert told[0].sources == (f"own file days.jsonl, sha256 {line}",)
    assert told[1].sources == (f"own file set, sha256 {hash_names('1.json', *hashes)}",)
    (source,) = name_sources([bare_manifest(datasets=told)])("days", [line])
    assert (source.path, source.note) == ("days.jsonl", "a file of the user's own")


@needs_mirror
def test_the_pinned_file_gives_the_same_partition(tmp_path: Path) -> None:
    (file,) = find_dataset("copa").files
    assert isinstance(file, PinnedFile)
    folder = (MIRROR / file.repository / file.path).parent
    for more in (("--mirror", str(MIRROR)), ("--set", f"folders.copa={folder}")):
        built = ended("build", "moodbench", "--datasets", "copa", "--lake", tmp_path, *more)
        assert built.status == 0, built.err
    assert len([*tmp_path.glob("items/**/*.parquet")]) == 1


def test_other_rows_of_own_are_another_group(tmp_path: Path, server: ModelServer) -> None:
    """The same rows in another file are the same content, by which runs are grouped."""
    lake, text = tmp_path / "lake", json.dumps(EXAMPLES["longmemeval"]["longmemeval_oracle"])
    texts = {"one": text, "spaced": f"{text}\r\n", "two": text.replace("adopted a cat", "adopted a dog")}
    content = {}
    for name, written in texts.items():
        put(tmp_path / name / "longmemeval_oracle.json", written)
        (ref,) = ended("build", *options(server, lake, "longmemeval", tmp_path / name)).document["partitions"]
        content[name] = ref["content_sha256"]
    assert content["one"] == content["spaced"] != content["two"]
    runs = [
        run(server, lake, "longmemeval", tmp_path / name, "--set", "rank_incomplete=true").document["run"]
        for name in ("spaced", "two")
    ]
    named = [option for run in runs for option in ("--run", run)]
    board = ended("leaderboard", "moodbench", "--lake", lake, *named, "--json").document
    groups = {frozenset(group["runs"]): group["basis"] for group in board["groups"]}
    assert set(groups) == {frozenset({name}) for name in runs}
    assert {*groups[frozenset(runs[1:])]} == {"items"}


def test_unpinned_files_are_the_papers_if_whole() -> None:
    """The paper asks 300 of each; the run that is compared has 12 of each."""
    (persona,) = notices([find_dataset("personafeedback")])
    unpinned = persona.model_copy(
        update={
            "sources": tuple(f"own files, no hash is pinned: {name}.jsonl, sha256 {number}" for number, name in enumerate("ab"))
        }
    )
    few = persona.model_copy(update={"sources": ("own files, 1 record in place of 500: a.json, sha256 0",)})

    def differences(notice: DatasetNotice, sample: int) -> dict[str, tuple[str, str]]:
        datasets = record("moodbench", {notice.id}, noticed=(notice,), sample=sample).datasets
        found = next(entry for entry in datasets if entry.dataset == notice.id)
        return {each.respect: (each.likeness, each.text) for each in found.differences if each.respect != "differences"}

    ours = ("close", "own files, no hash is pinned: a.jsonl, sha256 0; own files, no hash is pinned: b.jsonl, sha256 1")
    assert differences(unpinned, 12) == {"source": ours, "sample": ("close", "12 items, in the paper up to 300")}
    lacking = "12 items, in the paper up to 300; no hash says that the files are theirs"
    assert differences(unpinned, 13) == {"source": ours, "items": ("not comparable", lacking)}
    assert differences(few, 12)["items"] == ("not comparable", f"not the paper's: {few.sources[0]}")
