"""Items of one source row share a cluster, wherever they are made."""

import pytest

from schemas.context import ContextOptions
from tasks.datasets.building import list_samples
from tasks.datasets.catalogue import CATALOGUE
from tasks.sources.locating import Locator, choose_source
from tasks.sources.reading import read_dataset
from tests.mirror import MIRROR, needs_mirror
from tests.tasks.datasets.real_datasets import here, paths

LOCATOR = Locator(mirror=MIRROR)
LARGE = {"cmmlu", "agieval"}


READY = [
    pytest.param(spec.id, marks=pytest.mark.long if spec.id in LARGE else ())
    for spec in CATALOGUE.values()
    if not spec.ratings and all(map(LOCATOR.holds, choose_source(spec, LOCATOR).files))
]


@needs_mirror
@pytest.mark.parametrize("name", READY)
def test_items_of_one_row_share_cluster(name: str) -> None:
    rows: dict[str, set[str]] = {}
    spec = here(name, MIRROR)
    for sample in list_samples(spec, read_dataset(spec, paths(spec, MIRROR)), ContextOptions(), 0):
        rows.setdefault(sample.record.sha256, set()).add(sample.cluster or sample.item_id)
    if not name.startswith("long_mini_ec"):  # several needles, each asked about alone, in one text
        assert {len(clusters) for clusters in rows.values()} == {1}
