"""Every dataset of the benchmarks, by name; the files of an entry, and the keys of the partitions that build makes of it.

Files of public repositories are pinned to their content. Lists of hashes are in data/pins, as sha256sum writes them.
"""

from collections.abc import Callable, Sequence
from functools import cache
from typing import NamedTuple

from schemas.benchmark import Rows
from schemas.context import ContextOptions
from schemas.dataset import DatasetSpec, PinnedFile
from schemas.errors import UsageError, suggest, unknown_name
from schemas.folders import DATA_FOLDER
from schemas.json_yaml import read_text, read_yaml
from schemas.lineage import PartitionKey
from schemas.tables.layers import gold_layers
from tasks.lake.partitions import partition_key


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


def find_items(name: str) -> DatasetSpec:
    """Return the catalogue entry of this name, of which models are asked; raise UsageError if it has ratings, or is none."""
    spec = find_dataset(name)
    if spec.ratings:
        what, expected = f"dataset {name} holds ratings by people, and no items to ask a model", "a dataset of items"
        raise UsageError(what, expected=expected, got=name, next_step=f"moodflow datasets check {name} shows what is in it")
    return spec


PINS = DATA_FOLDER / "pins"


def pinned_in(repository: str, revision: str) -> Callable[..., PinnedFile]:
    """Return a function from a path to a file of this repository at this revision; other fields by name.

    Its hash is the one given, null where none is known, else the one data/pins/files.sha256 has for its path in a mirror.
    """

    def pin(path: str, *given: str | None, **fields: str | None) -> PinnedFile:
        (sha256,) = given or (read_pins("files")[f"{repository}/{path}"],)
        return PinnedFile.model_validate(
            {"repository": repository, "revision": revision, "path": path, "sha256": sha256, **fields}
        )

    return pin


def pinned_list(name: str, pin: Callable[[str, str | None], PinnedFile]) -> tuple[PinnedFile, ...]:
    """Return the files that data/pins/NAME.sha256 lists, in its order."""
    return tuple(pin(path, sha256) for path, sha256 in read_pins(name).items())


@cache
def read_pins(name: str) -> dict[str, str]:
    """Read data/pins/NAME.sha256: hashes by path, in its order."""
    lines = (PINS / f"{name}.sha256").read_text(encoding="utf-8").splitlines()
    return {path: sha256 for sha256, path in (line.split(maxsplit=1) for line in lines)}


@cache
def _all_differences() -> dict[str, list[str]]:
    return dict(read_yaml(read_text(DATA_FOLDER / "differences.yaml")))


def read_differences(dataset: str) -> tuple[str, ...]:
    """Return where a dataset differs from its paper, as data/differences.yaml tells; nothing where it does not."""
    return tuple(_all_differences().get(dataset, ()))


ITEMS_VERSION = "3"
"""Bumped when sampling, validation or the items schema changes meaning."""

LAZY_ITEMS_VERSION = "1"
"""Bumped when lazy samples are drawn or recorded differently; how one is built is the dataset's evaluation version."""


class ItemsKeys(NamedTuple):
    """Where the sampled items of a dataset are, what is known of built contexts (null = there are none), and annotations."""

    items: PartitionKey
    contexts: PartitionKey | None
    annotations: tuple[PartitionKey, ...] = ()

    def all(self) -> tuple[PartitionKey, ...]:
        """Return all of them, items first."""
        return (self.items, *([self.contexts] if self.contexts else []), *self.annotations)


def items_keys(spec: DatasetSpec, source_sha256: Sequence[str], sample: int, seed: int, options: ContextOptions) -> ItemsKeys:
    """Return where the sampled items of a dataset are, by its entry, the hashes of its files, size and seed of the draw.

    Of the options the demand for long replies is left out: it changes how items are asked, not the items.
    """
    of_source = {"dataset_version": spec.evaluation_version, "source_sha256": list(source_sha256)}
    settings = {**of_source, "sample": sample, "seed": seed}
    if spec.sample_builder is not None:
        settings["contexts"] = options.model_dump(mode="json", exclude={"length_demand"})
        settings["long_items_version"] = LAZY_ITEMS_VERSION

    def key(layer: str) -> PartitionKey:
        return partition_key(layer, {"dataset": spec.id}, settings, parents=(), version=ITEMS_VERSION)

    annotations = tuple(key(layer) for layer in spec.annotation_layers)
    return ItemsKeys(key("items"), key("contexts") if spec.sample_builder is not None else None, annotations)
