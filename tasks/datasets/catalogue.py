"""Every dataset of the benchmarks, by name."""

from schemas.benchmark import Rows
from schemas.dataset import DatasetSpec
from schemas.errors import UsageError, suggest, unknown_name
from schemas.tables.layers import gold_layers


def _require_gold_layers(spec: DatasetSpec) -> None:
    """Raise UsageError if an entry has rows for a layer that no benchmark adds."""
    if unknown := set(spec.annotation_layers) - set(gold_layers()):
        step = "add it to the layers of the benchmark"
        raise unknown_name("layer of gold", min(unknown), gold_layers(), f"dataset {spec.id}", step)


CATALOGUE = Rows("datasets", DatasetSpec, "id", _require_gold_layers)


def find_dataset(name: str) -> DatasetSpec:
    """Return the catalogue entry of this name; raise UsageError, with the nearest names, if there is none."""
    if name in CATALOGUE:
        return CATALOGUE[name]
    step = suggest(name, CATALOGUE, "moodflow datasets list shows them all", most=3)
    what, expected = f"there is no dataset {name} in the catalogue", f"one of {len(CATALOGUE)} names"
    raise UsageError(what, expected=expected, got=name, next_step=step)
