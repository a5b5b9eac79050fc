"""Items of one source row share a cluster, wherever they are made."""

import pytest

from schemas.context import ContextOptions
from tasks.datasets.building import list_samples
from tasks.datasets.catalogue import CATALOGUE
from tasks.sources.reading import read_dataset
from tests.mirror import IS_GIVEN, MIRROR, is_here, needs_mirror
from tests.tasks.datasets.real_datasets import here, paths

LARGE = {"cmmlu", "agieval"}


READY = [
    pytest.param(spec.id, marks=pytest.mark.long if spec.id in LARGE else ())
    for spec in CATALOGUE.values()
    if not spec.ratings and (not IS_GIVEN or is_here(spec))
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
