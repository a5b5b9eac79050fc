"""Every dataset of the benchmarks, by name."""

from schemas.benchmark import Rows
from schemas.dataset import DatasetSpec
from schemas.errors import UsageError, suggest

CATALOGUE = Rows("datasets", DatasetSpec, "id")


def find_dataset(name: str) -> DatasetSpec:
    """Return the catalogue entry of this name; raise UsageError, with the nearest names, if there is none."""
    if name in CATALOGUE:
        return CATALOGUE[name]
    step = suggest(name, CATALOGUE, "moodflow datasets list shows them all", most=3)
    what, expected = f"there is no dataset {name} in the catalogue", f"one of {len(CATALOGUE)} names"
    raise UsageError(what, expected=expected, got=name, next_step=step)
