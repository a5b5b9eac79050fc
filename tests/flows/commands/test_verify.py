"""`moodflow verify`: passes on what a run left, and names whatever was changed since."""

import json
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

import polars as pl
import pytest
import yaml

from flows.commands.lake_files import verify_view
from schemas.dataset import DatasetSpec
from schemas.documents.lake import CheckedFiles, CheckedLayer, Verification
from schemas.lineage import CodeVersion, PartitionKey, by_name
from schemas.tables.layers import GENERAL, LAYERS
from tasks.datasets.catalogue import find_dataset
from tasks.lake.lake import Lake
from tasks.lake.manifest import read_code_version, read_manifest, write_manifest
from tasks.metrics.item_scores import score_items
from tasks.scoring.blueprints import BLUEPRINTS
from tasks.verify.drift import VERSION, present_parts
from tasks.verify.run import Findings, check_files, verify_run
from tests.flows.command import Ended, ended
from tests.flows.scripted import rating, replies_of
from tests.flows.scripted_roles import ScriptedServers, by_hash, scripted_servers
from tests.mirror import MIRROR, needs_mirror
from tests.model_server import ModelServer
from tests.rows import each_row

EC, MC4, QA = "long_mini_ec_finentity", "long_mini_mc4", "long_mini_qa"
WRITTEN = [layer.name for layer in GENERAL if layer.name != "simulation_faults" and layer.written_by != "certify"]
ASKED = {"items", "contexts", "chunks", "retrievals", "responses"}
"""Layers that asking and building write: they are hashed and not computed again."""

OWN = ("manifest.json", "report.md", "report.png", "report.html", "SHA256SUMS")
Place = Literal["first", "middle", "last"]
PLACES: tuple[Place, ...] = get_args(Place)

TEXTS, SUMMARIES, CAUSES = "mini_text_classification", "mini_summarization", "mini_emotion_cause_analysis"


@pytest.fixture(scope="module")
def players(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ScriptedServers]:
    with scripted_servers(tmp_path_factory.mktemp("verified") / "lake", judge=by_hash) as acting:
        yield acting


@pytest.fixture(scope="module")
def run(players: ScriptedServers) -> str:
    """Two settings, an item with a needle, an answer that is rated twice: every layer of a run in which nobody is played."""
    ran = players.run("--settings", "base,rag", "--datasets", f"{EC},{MC4}", "--set", "judge_repeat=2", "--set", "bootstrap=20")
    assert ran.document["missing"] == [], ran.err
    return str(ran.document["run"])


def test_every_layer_has_parents_and_version_of_row(players: ScriptedServers, run: str) -> None:
    lake = Lake(players.lake, read_code_version())
    partitions = read_manifest(players.lake, run).partitions
    known = by_name(partitions)
    assert {ref.layer for ref in partitions} == set(WRITTEN)
    parents = {ref.path: {known[parent].layer for parent in ref.parents} for ref in partitions}
    assert [ref.path for ref in partitions if not parents[ref.path] <= set(LAYERS[ref.layer].parents)] == []
    footers = [(ref, lake.read_footer(ref).settings) for ref in partitions]
    assert [ref.path for ref, settings in footers if present_parts(ref, settings, {})[VERSION] != settings[VERSION]] == []


@dataclass(frozen=True)
class Own:
    """A blueprint file of the user's own, and a run of it."""

    file: Path
    lake: Path
    run: str

    def edited(self, change: Callable[[dict[str, Any]], None]) -> bytes:
        blueprint = yaml.safe_load(self.file.read_text(encoding="utf-8"))
        change(blueprint)
        return yaml.safe_dump(blueprint, sort_keys=False, allow_unicode=True).encode()


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Own:
    """A model that knows all about texts and nothing about emotions, over three datasets, one of which is judged."""
    folder = tmp_path_factory.mktemp("own")
    file = Path(shutil.copy(BLUEPRINTS / "moodbench-mini.yaml", folder / "own.yaml"))
    known = {**replies_of((TEXTS, SUMMARIES), "gold"), **replies_of((CAUSES,), "wrong")}

    def reply(messages: list[dict[str, str]]) -> str:
        return known.get(messages[-1]["content"]) or rating("\n".join(message["content"] for message in messages), 5)

    with ModelServer(reply) as server:
        model = ("--model", "m", "--base-url", server.base_url, "--judge", "j", "--judge-base-url", server.base_url)
        chosen = ("--datasets", f"{TEXTS},{SUMMARIES},{CAUSES}", "--set", "bootstrap=20", "--lake", folder / "lake", "--json")
        ran = ended("run", file, *model, *chosen)
    return Own(file, folder / "lake", ran.document["run"])


def verified(lake: Path, run: str) -> Ended:
    return ended("verify", run, "--lake", lake, "--json")


@contextmanager
def changed(path: Path, content: bytes | None) -> Iterator[None]:
    before = path.read_bytes()
    path.unlink() if content is None else path.write_bytes(content)
    try:
        yield
    finally:
        path.write_bytes(before)


def flip(content: bytes, place: Place) -> bytes:
    at = {"first": 0, "middle": len(content) // 2, "last": len(content) - 1}[place]
    return content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :]


def test_an_untouched_run_is_verified(players: ScriptedServers, run: str) -> None:
    calls = players.calls
    content = {path: path.stat().st_mtime_ns for path in players.lake.rglob("*") if path.is_file()}
    document = verified(players.lake, run).document
    assert (document["run"], document["verified"], document["differences"]) == (run, True, [])
    # The manifest's partitions, the manifest, both reports and the seal.
    assert document["files"] == {"checked": len(read_manifest(players.lake, run).partitions) + 5, "differ": []}
    layers = {layer["layer"]: layer for layer in document["layers"]}
    assert list(layers) == WRITTEN
    assert {name for name, layer in layers.items() if not layer["recomputed"]} == ASKED
    assert layers["item_scores"]["partitions"] == 2 * 2
    assert [layers["totals"][name] for name in ("partitions", "rows", "differs")] == [1, 2, 0]
    shown = ended("verify", run, "--lake", players.lake)
    assert (shown.status, f"Run {run} is verified" in " ".join(shown.out.split())) == (0, True)
    for layer in WRITTEN:
        (line,) = (line for line in shown.out.splitlines() if line.split()[:1] == [layer])
        assert ("no" if layer in ASKED else "yes") in line.split()
    # No call was made, and nothing was written.
    assert players.calls == calls
    assert {path: path.stat().st_mtime_ns for path in players.lake.rglob("*") if path.is_file()} == content


def test_the_seal_is_one_that_sha256sum_reads(players: ScriptedServers, run: str) -> None:
    folder, command = players.lake / "runs" / run, ["sha256sum", "--check", "--strict", "SHA256SUMS"]
    checked = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    assert checked.stdout.splitlines() == [f"{name}: OK" for name in OWN[:-1]]
    with changed(folder / "report.md", b"another"):
        failed = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert (failed.returncode, "report.md: FAILED" in failed.stdout) == (1, True)


@pytest.mark.parametrize("layer", WRITTEN)
def test_one_changed_bit_of_any_layer_is_found(players: ScriptedServers, run: str, layer: str) -> None:
    manifest, lake = read_manifest(players.lake, run), Lake(players.lake, read_code_version())
    ref = [ref for ref in manifest.partitions if ref.layer == layer][-1]
    path = players.lake / ref.path
    for place in PLACES:
        findings = Findings()
        with changed(path, flip(path.read_bytes(), place)):
            footers = check_files(findings, manifest, lake)
        assert findings.damaged == {ref.path}, place
        assert ref.path not in footers, place
    if layer not in {"responses", "item_scores", "agreements"}:
        return  # the rest of verifying is the same for all, and takes its time
    with changed(path, flip(path.read_bytes(), "middle")):
        found = verify_run(players.lake, run)
    assert (found.verified, found.files.differ) == (False, (ref.path,))
    assert [checked.differs for checked in found.layers if checked.layer == layer] == [1]
    # It is not blamed on anything else.
    assert {(difference.kind, difference.where) for difference in found.differences} == {("file", ref.path)}


@pytest.mark.parametrize(("name", "gone"), [("manifest.json", False), ("report.html", True), ("SHA256SUMS", False)])
def test_verify_ends_with_1_and_names_the_file(players: ScriptedServers, run: str, name: str, *, gone: bool) -> None:
    path = players.lake / "runs" / run / name
    with changed(path, None if gone else flip(path.read_bytes(), "middle")):
        found = verified(players.lake, run)
    assert found.status == 1
    assert (found.document["verified"], found.document["files"]["differ"]) == (False, [f"runs/{run}/{name}"])
    # Without its manifest the rest of the run is unknown.
    assert bool(found.document["layers"]) == (name != "manifest.json")


def test_partitions_that_are_gone_are_all_named(players: ScriptedServers, run: str, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(players.lake, tmp_path / "copy"))
    shutil.rmtree(copy / "item_scores" / f"dataset={EC}")
    partitions = read_manifest(copy, run).partitions
    gone = sorted(ref.path for ref in partitions if ref.layer == "item_scores" and ref.key("dataset") == EC)
    found = verify_run(copy, run)
    assert found.files.differ == tuple(gone)
    # What rests on them is not computed, and not blamed; agreements rest on ratings alone.
    recomputed = {layer.layer: layer.recomputed for layer in found.layers}
    assert (recomputed["totals"], recomputed["agreements"]) == (False, True)
    shown = ended("verify", run, "--lake", copy)
    assert (shown.status, "First difference: file:" in " ".join(shown.out.split())) == (1, True)


def test_a_changed_weight_says_what_would_differ(own: Own) -> None:
    def weigh(blueprint: dict[str, Any]) -> None:
        next(ability for ability in blueprint["abilities"] if ability["id"] == "foundational")["weight"] = 3.0

    with changed(own.file, own.edited(weigh)):
        found, shown = verified(own.lake, own.run), ended("verify", own.run, "--lake", own.lake)
    assert found.status == shown.status == 1
    (difference,) = found.document["differences"]
    place = ("blueprint", "abilities[foundational].weight", "0.3", "3.0")
    assert tuple(difference[name] for name in ("kind", "where", "expected", "got")) == place
    # Texts 100, emotions 0, the other abilities missing: 0.3 * 100 / (0.3 + 0.4) before, 3.0 * 100 / (3.0 + 0.4) after.
    moved = {change["name"]: (change["before"], change["after"]) for change in found.document["would_differ"]}
    assert moved == dict.fromkeys(("total", "total_before_veto"), pytest.approx((300 / 7, 300 / 3.4)))
    # The run itself still follows from its replies and its own blueprint.
    assert all(layer["differs"] == 0 for layer in found.document["layers"])
    words = " ".join(shown.out.split())
    assert "First difference: blueprint: blueprint moodbench-mini: abilities[foundational].weight was 0.3, is 3.0" in words
    assert "m total: 42.86 -> 88.24" in words


def test_datasets_that_the_blueprint_lost_are_left_out(own: Own) -> None:
    def lose(blueprint: dict[str, Any]) -> None:
        del blueprint["datasets"][CAUSES]
        left = list(blueprint["abilities"])
        while left:
            ability = left.pop()
            left += ability.get("children", ())
            if tasks := ability.get("tasks"):
                ability["tasks"] = [task for task in tasks if task["datasets"] != [CAUSES]]

    with changed(own.file, own.edited(lose)):
        found = verify_run(own.lake, own.run)
    assert {difference.kind for difference in found.differences} == {"blueprint"}
    moved = {change.name: (change.before, change.after) for change in found.would_differ}
    assert moved["emotional"] == (0, None)
    assert moved["total_before_veto"][1] == pytest.approx(100)


def test_a_missing_blueprint_is_a_note(own: Own) -> None:
    with changed(own.file, None):
        found = verify_run(own.lake, own.run)
    assert found.verified
    assert any("whether the blueprint changed since could not be checked" in note for note in found.notes)


def test_a_changed_evaluation_version_names_layer_and_versions(own: Own, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tasks.verify.drift.METRICS_VERSION", "99")
    (difference,) = verify_run(own.lake, own.run).differences
    assert (difference.kind, difference.where, difference.got) == ("code", "item_scores.evaluation_version", "99")
    assert difference.message.endswith("is 99 (3 partitions)")


def test_changed_code_is_found_by_row_and_column(own: Own, monkeypatch: pytest.MonkeyPatch) -> None:
    def score_less(*given: Any) -> pl.DataFrame:
        scores = score_items(*given)
        return scores.with_columns(value=pl.when(pl.col("value") == 1).then(0.5).otherwise(pl.col("value")))

    monkeypatch.setattr("tasks.metrics.item_score_job.score_items", score_less)
    found = verify_run(own.lake, own.run)
    # No emotion was right, so those come out the same; scores follow from stored item scores and are not blamed.
    assert {difference.kind for difference in found.differences} == {"content"}
    assert {layer.layer for layer in found.layers if layer.differs} == {"item_scores"}
    texts = next(difference for difference in found.differences if TEXTS in difference.where)
    assert (texts.expected, texts.got, "item_id " in texts.message) == ("1.0", "0.5", True)
    assert ", column value: stored 1.0, recomputed 0.5" in texts.message
    moved = {change.name: (change.before, change.after) for change in found.would_differ}
    assert moved["foundational"] == (100, 50)


def test_code_that_fails_on_rows_is_a_difference(own: Own, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_given: Any) -> pl.DataFrame:
        raise KeyError("a column that was renamed")

    monkeypatch.setattr("tasks.metrics.item_score_job.score_items", fail)
    found = verify_run(own.lake, own.run)
    (difference,) = found.differences
    assert difference.kind == "code"
    assert "and 2 more of layer item_scores cannot be computed again by this code: KeyError" in difference.message
    assert not next(layer for layer in found.layers if layer.layer == "item_scores").recomputed


def test_a_changed_catalogue_names_the_dataset(own: Own, monkeypatch: pytest.MonkeyPatch) -> None:
    def renewed(name: str) -> DatasetSpec:
        spec = find_dataset(name)
        return replace(spec, evaluation_version="9.9") if name == TEXTS else spec

    monkeypatch.setattr("tasks.verify.drift.find_dataset", renewed)
    (difference,) = verify_run(own.lake, own.run).differences
    assert (difference.kind, difference.where, difference.got) == ("catalogue", TEXTS, "9.9")
    monkeypatch.setattr("tasks.verify.drift.find_dataset", find_dataset)
    monkeypatch.setattr("tasks.verify.drift.source_sha256", lambda *_given: ("0" * 64,))
    found = verify_run(own.lake, own.run)
    assert [(difference.kind, difference.where) for difference in found.differences] == [
        ("catalogue", name) for name in (TEXTS, SUMMARIES, CAUSES)
    ]
    assert "is 000000000000" in found.differences[0].message


def forged(own: Own, folder: Path, layer: str, dataset: str, **columns: pl.Expr) -> tuple[Verification, dict[str, str]]:
    """What is found, and messages by layer, where rows were changed and every hash was made to fit: footer, manifest and seal."""
    shutil.copytree(own.lake, folder)
    manifest, lake = read_manifest(folder, own.run), Lake(folder, read_code_version())
    (ref,) = (ref for ref in manifest.partitions if ref.layer == layer and ref.key("dataset") == dataset)
    rows = lake.read(ref, LAYERS[layer].schema).with_columns(**columns)
    settings = lake.read_footer(ref).settings
    (folder / ref.path).unlink()
    key = PartitionKey(layer=layer, place=ref.place, fingerprint=ref.fingerprint, settings=settings, parents=ref.parents)
    written = lake.write(key, rows, LAYERS[layer].schema)
    partitions = tuple(written if one == ref else one for one in manifest.partitions)
    files = {**manifest.files, ref.path: lake.file_sha256(written)}
    write_manifest(folder, manifest.model_copy(update={"partitions": partitions, "files": files}))
    found = verify_run(folder, own.run)
    return found, {difference.where.partition("/")[0]: difference.message for difference in found.differences}


def test_answers_that_do_not_follow_are_found(own: Own, tmp_path: Path) -> None:
    found, messages = forged(own, tmp_path / "text", "answers", CAUSES, text=pl.lit("Z"))
    # The scores are those of the replies, and no more those of the answers.
    assert {layer.layer for layer in found.layers if layer.differs} == {"answers", "item_scores"}
    assert "column text: stored 'Z', recomputed 'A'" in messages["answers"]
    _, messages = forged(own, tmp_path / "call", "answers", CAUSES, call_keys=pl.lit(["0" * 64]))
    assert "an answer refers to a call without a reply" in messages["answers"]


def test_ratings_that_do_not_follow_are_found(own: Own, tmp_path: Path) -> None:
    found, messages = forged(own, tmp_path / "lake", "judgements", SUMMARIES, rating=pl.lit(4, pl.Int64))
    assert {layer.layer for layer in found.layers if layer.differs} == {"judgements"}
    assert ", column rating: stored 4, recomputed 5" in messages["judgements"]
    # Scores name the ratings they were made from by content.
    assert messages.keys() == {"judgements", "item_scores", "dimension_scores"}


def test_another_commit_is_a_note_and_no_difference(own: Own, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tasks.verify.run.read_code_version", lambda: CodeVersion("99.0", "c0ffee"))
    found = verify_run(own.lake, own.run)
    assert found.verified
    assert any(note.startswith("package version:") and note.endswith("this is 99.0") for note in found.notes)
    assert any(note.startswith("git commit:") and note.endswith("this is c0ffee") for note in found.notes)


@needs_mirror
@pytest.mark.long
def test_the_reference_profile_is_computed_again(tmp_path: Path) -> None:
    with ModelServer(lambda _messages: "A") as server:
        asked = ("--model", "m", "--base-url", server.base_url, "--mirror", MIRROR, "--sample", "4", "--lake", tmp_path, "--json")
        ran = ended(
            "run", "moodbench", *asked, "--datasets", "ag_news,mmlu_pro", "--set", "profile=reference", "--set", "bootstrap=20"
        )
    found = verify_run(tmp_path, ran.document["run"])
    assert found.verified, found.differences
    assert {layer.layer for layer in found.layers if layer.recomputed} >= {"item_scores", "totals"}


@each_row(
    ("hashed", "recomputed", "said"),
    [
        (5, True, "5 files hashed, every layer after responses recomputed to the same content."),
        (0, True, "0 files hashed, every layer after responses recomputed to the same content; the notes say what could not"),
        (5, False, "5 files hashed, every layer after responses but setting_gains recomputed to the same content; the notes say"),
    ],
)
def test_the_verdict_claims_what_was_checked(hashed: int, recomputed: bool, said: str) -> None:
    layers = {"items": False, "responses": False, "totals": True, "setting_gains": recomputed}
    files = CheckedFiles(checked=hashed, differ=())
    checked = (CheckedLayer(layer=name, partitions=1, rows=1, recomputed=done, differs=0) for name, done in layers.items())
    nothing = dict.fromkeys(("differences", "would_differ", "notes"), ())
    found = Verification(run="r", verified=True, files=files, layers=tuple(checked), **nothing)
    assert f"Run r is verified: {said}" in str(verify_view(found)[-1])


def test_partition_without_hash_in_manifest_is_told(own: Own, tmp_path: Path) -> None:
    lake = Path(shutil.copytree(own.lake, tmp_path / "lake"))
    path = lake / "runs" / own.run / "manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    left = manifest["files"].popitem()[0]
    path.write_text(json.dumps(manifest), encoding="utf-8")
    (path.parent / "SHA256SUMS").unlink()
    assert [found.where for found in verify_run(lake, own.run).differences][:2] == [f"runs/{own.run}/SHA256SUMS", left]
