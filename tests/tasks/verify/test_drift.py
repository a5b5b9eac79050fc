"""What changed since a run: places of its blueprint, and the sources of its datasets."""

from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from schemas.blueprint import MetricSpec
from schemas.dataset import DatasetSpec, LocalFile
from schemas.errors import LakeError
from schemas.lineage import CodeVersion, Footer
from tasks.datasets.own_items import local_dataset
from tasks.lake.lake import Lake
from tasks.lake.manifest import notices
from tasks.verify.drift import blueprint_differences, check_catalogue, code_differences
from tasks.verify.recompute import StoredRun
from tests.tasks.lake.test_manifest import bare_manifest
from tests.tasks.rows import partition
from tests.tasks.scoring.samples import ability, blueprint, measured, task

DESIGN = blueprint(ability("able", task("d")))


def test_a_changed_place_is_shown_to_60_characters() -> None:
    # In quotes the titles have 60 and 61 characters.
    whole, longer = "x" * 58, "x" * 59
    before, after = (DESIGN.model_copy(update={"title": title}) for title in (whole, longer))
    (found,) = blueprint_differences(before, after)
    assert (found.where, found.expected, found.got) == ("title", f'"{whole}"', f'"{longer}"')
    assert found.message == f'blueprint tiny: title was "{whole}", is "{longer}...'
    (added,) = blueprint_differences(DESIGN, DESIGN.model_copy(update={"gate": None, "name": "other"}))
    assert added.message == 'blueprint tiny: name was "tiny", is "other"'


def test_another_version_of_the_code_is_told() -> None:
    ref = partition("items")
    settings = {"evaluation_version": "0", "long_items_version": "0", "seed": 0}
    footer = Footer(partition=ref, settings=settings, package_version="1", git_commit=None)
    told = {found.where: (found.expected, found.message) for found in code_differences({"d": footer, "e": footer}, {})}
    assert told.keys() == {"items.evaluation_version", "items.long_items_version"}
    was, message = told["items.long_items_version"]
    assert (was, message.endswith("(2 partitions)")) == ("0", True)
    assert message.startswith("layer items: version of long items was 0, is ")


def changed(
    built: tuple[str, Sequence[str]], source: Path | None, used: DatasetSpec | None = None
) -> tuple[list[str], list[str]]:
    """Messages and notes on dataset d, whose items were built from this version and these hashes.

    `source`: the user's file. `used`: the source that the manifest names.
    """
    own = measured(MetricSpec(metric="accuracy")).model_copy(update={"source": LocalFile(path=source) if source else None})
    design = blueprint(ability("able", task("d")), datasets={"d": own})
    settings = {"dataset_version": built[0], "source_sha256": list(built[1])}
    refs = partition("items"), partition("answers")
    footers = {ref.layer: Footer(partition=ref, settings=settings, package_version="1", git_commit=None) for ref in refs}
    differences, notes = check_catalogue(bare_manifest(datasets=notices([used] if used else [])), design, footers)
    return [difference.message for difference in differences], notes


def test_a_source_that_changed_is_told(tmp_path: Path) -> None:
    file = tmp_path / "d.jsonl"
    file.write_text("{}\n", encoding="utf-8")
    now, old = sha256(b"{}\n").hexdigest(), "0" * 64
    assert changed(("1.0", [now]), file) == ([], [])
    assert changed(("1.0", [old]), file) == ([f"dataset d: source sha256 was 000000000000, is {now[:12]}"], [])
    assert changed(("0.9", [now]), file) == (["dataset d: evaluation version was 0.9, is 1.0"], [])
    assert changed(("1.0", [now, old]), file) == (["dataset d: source has other files"], [])
    (gone,), notes = changed(("1.0", [now]), None)
    assert (gone.startswith("dataset d is gone: "), notes) == (True, [])
    differences, (note,) = changed(("1.0", [now]), tmp_path / "nowhere.jsonl")
    assert (differences, note.startswith("dataset d: whether its source changed could not be checked: ")) == ([], True)


def test_another_source_that_is_not_here_proves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "d.jsonl"
    file.write_text("{}\n", encoding="utf-8")
    here, absent = (local_dataset("d", "D", LocalFile(path=path)) for path in (file, tmp_path / "nowhere.jsonl"))
    with_other: DatasetSpec = replace(absent, alternative=here)
    monkeypatch.setattr("tasks.verify.drift.find_dataset", lambda _name: with_other)
    assert changed(("1.0", [sha256(b"{}\n").hexdigest()]), None) == ([], [])
    # The items may be those of the one that is not here.
    differences, (note,) = changed(("1.0", ["0" * 64]), None)
    assert (differences, "could not be checked" in note) == ([], True)
    # Where both are here, what was used is compared.
    other = tmp_path / "other.jsonl"
    other.write_text("{}", encoding="utf-8")
    both = replace(local_dataset("d", "D", LocalFile(path=other)), alternative=here)
    monkeypatch.setattr("tasks.verify.drift.find_dataset", lambda _name: both)
    for used, content in ((both, b"{}"), (here, b"{}\n")):
        told = f"dataset d: source sha256 was 000000000000, is {sha256(content).hexdigest()[:12]}"
        assert changed(("1.0", ["0" * 64]), None, used) == ([told], [])


def test_an_input_that_is_not_listed_is_told(tmp_path: Path) -> None:
    first, second = partition("items"), partition("items", "2", (("dataset", "e"),)).model_copy(update={"path": "items/e"})
    child = partition("answers", "3").model_copy(update={"parents": (second.identity, first.identity)})
    listed = StoredRun(bare_manifest(partitions=(first, second, child)), DESIGN, Lake(tmp_path, CodeVersion("1", None)), {})
    assert listed.parents(child) == (first, second)
    left = replace(listed, manifest=bare_manifest(partitions=(first, child)))
    with pytest.raises(LakeError, match="depends on one that is not in the manifest") as caught:
        left.parents(child)
    assert (caught.value.where, caught.value.got) == ("answers/d", "none of fingerprint 222222222222")
