"""Items of one source row share a cluster, wherever they are made; a dataset without such items is drawn and named as ever."""

from collections import Counter
from functools import cache

import pytest

from schemas.context import ContextOptions, Sample
from schemas.dataset import BundledFile, DatasetSpec, PinnedFile
from tasks.datasets.building import list_samples
from tasks.datasets.catalogue import CATALOGUE
from tasks.datasets.keys import items_keys
from tasks.sources.locating import Locator, choose_source
from tasks.sources.reading import read_dataset
from tests.mirror import MIRROR, needs_mirror
from tests.tasks.datasets.real_datasets import here, paths

LOCATOR = Locator(mirror=MIRROR)
OPTIONS = ContextOptions()
LARGE = {"cmmlu", "agieval"}


def is_here(spec: DatasetSpec) -> bool:
    files = choose_source(spec, LOCATOR).files
    return all(isinstance(file, BundledFile) or LOCATOR.holds(file) for file in files)


READY = [
    pytest.param(spec.id, marks=pytest.mark.long if spec.id in LARGE else ()) for spec in CATALOGUE.values() if is_here(spec)
]


@cache
def samples_of(name: str) -> tuple[Sample, ...]:
    spec = here(name, MIRROR)
    return tuple(list_samples(spec, read_dataset(spec, paths(spec, MIRROR)), OPTIONS, 0))


def cluster(sample: Sample) -> str:
    return sample.cluster or sample.item_id


@needs_mirror
@pytest.mark.parametrize("name", READY)
def test_items_of_one_row_share_cluster(name: str) -> None:
    samples, spec = samples_of(name), here(name, MIRROR)
    rows: dict[str, set[str]] = {}
    for sample in samples:
        rows.setdefault(sample.record.sha256, set()).add(cluster(sample))
    if not name.startswith("long_mini_ec"):  # several needles, each asked about alone, in one text
        assert {len(clusters) for clusters in rows.values()} == {1}
    shared = any(times > 1 for times in Counter(map(cluster, samples)).values())
    # Only where items share something does the draw differ from that of version 1.0. Contexts of EC-F became shorter.
    assert (spec.evaluation_version == "1.1") == (shared or name == "longemotion_ec_finentity")


KEYS = {
    "crows_pairs": "b148e1bed8d51c0c",
    "ag_news": "247437935a3f1844",
    "emobench3": "d6970737523cdd11",
    "longemotion_es": "ed1a279b4a07f12f",
}
"""How the fingerprints of 300 items, drawn by seed 0, began before clusters took turns."""


@pytest.mark.parametrize(("name", "expected"), KEYS.items())
def test_items_without_shared_sources_keep_their_key(name: str, expected: str) -> None:
    spec = next(spec for spec in CATALOGUE.values() if spec.id == name)
    hashes = [str(file.sha256) for file in spec.files if isinstance(file, PinnedFile)]
    assert items_keys(spec, hashes, 300, 0, OPTIONS).items.fingerprint.startswith(expected)
