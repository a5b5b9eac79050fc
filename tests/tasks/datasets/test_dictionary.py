"""Counts per dataset are those of the data dictionary, wherever the source is the copy in the MoodBench repository."""

import json

import pytest

from schemas.dataset import PinnedFile
from tasks.datasets.catalogue import MOODBENCH
from tasks.datasets.pinned_files import MOODBENCH_REPOSITORY
from tasks.sources.choosing import needs
from tasks.sources.locating import Locator
from tests.mirror import MIRROR, needs_mirror
from tests.tasks.datasets.real_datasets import build, here

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


def released() -> list[str]:
    """Names of datasets all of whose files are MoodBench's own copies, and are here."""
    names = [spec.id for spec in MOODBENCH if not needs(spec, Locator(mirror=MIRROR))]
    files = {name: {file.repository for file in here(name, MIRROR).files if isinstance(file, PinnedFile)} for name in names}
    return [name for name in names if files[name] == {MOODBENCH_REPOSITORY}]


@needs_mirror
def test_items_are_as_many_as_the_dictionary_says() -> None:
    stated = stated_rows()
    counted = {name: (built := build(name, MIRROR)).items.height + built.rejected.height for name in released()}
    assert len(counted) >= 40
    assert counted == {name: ITEMS.get(name, stated[name]) for name in counted}
