"""Counts per dataset are those of the data dictionary, wherever the source is the copy in the MoodBench repository."""

import json
from pathlib import Path

import pytest

from schemas.dataset import DatasetSpec, PinnedFile
from tasks.datasets.building import build_items
from tasks.datasets.catalogue import CATALOGUE
from tasks.datasets.pinned_files import MOODBENCH_REPOSITORY
from tasks.sources.choosing import choose_source
from tasks.sources.locating import Locator
from tests.mirror import MIRROR, needs_mirror

DICTIONARY = MIRROR.parent / "design" / "moodbench-datasets.json"

ITEMS = {
    "cnewsum": 300,  # the dictionary counts six files, train and dev among them; the test split is one of them
    "semeval2018_task1": 3300,  # eleven judgements of each of 300 tweets
}
"""Items where the dictionary counts something else."""


def stated_rows() -> dict[str, int]:
    if not DICTIONARY.is_file():
        pytest.skip(f"no data dictionary at {DICTIONARY}")
    entries = json.loads(DICTIONARY.read_text(encoding="utf-8"))
    return {entry["id"]: entry["rows"] for entry in entries}


def from_moodbench(mirror: Path) -> list[DatasetSpec]:
    chosen = [
        choose_source(spec, Locator(mirror=mirror))
        for spec in CATALOGUE
        if not spec.sample_builder and not spec.id.startswith("mini_")
    ]
    here = [spec for spec in chosen if all(Locator(mirror=mirror).holds(file) for file in spec.files)]
    return [
        spec
        for spec in here
        if {file.repository for file in spec.files if isinstance(file, PinnedFile)} == {MOODBENCH_REPOSITORY}
    ]


@needs_mirror
def test_items_are_as_many_as_the_dictionary_says() -> None:
    stated, locator = stated_rows(), Locator(mirror=MIRROR)
    counted = {
        spec.id: build_items(spec, [locator.locate(file) for file in spec.files], None, 0).n_read
        for spec in from_moodbench(MIRROR)
    }
    assert len(counted) >= 40
    assert counted == {name: ITEMS.get(name, stated[name]) for name in counted}
