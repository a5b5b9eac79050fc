"""Every dataset of the benchmarks, by name."""

from schemas.benchmark import rows
from schemas.dataset import DatasetSpec
from schemas.errors import UsageError, suggest

CATALOGUE = rows("datasets", DatasetSpec)


def find_dataset(name: str) -> DatasetSpec:
    """Return the catalogue entry of this name; raise UsageError, with the nearest names, if there is none."""
    entries = {spec.id: spec for spec in CATALOGUE}
    if name in entries:
        return entries[name]
    step = suggest(name, entries, "moodflow datasets list shows them all", most=3)
    what, expected = f"there is no dataset {name} in the catalogue", f"one of {len(entries)} names"
    raise UsageError(what, expected=expected, got=name, next_step=step)
