"""Check that a dataset is what its catalogue entry says, and which scores it allows."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import dataframely as dy
import polars as pl

from schemas.blueprint import Blueprint, MethodSpec
from schemas.dataset import DatasetSpec, PinnedFile
from schemas.errors import SourceError
from schemas.tables.items import Items
from tasks.analysis.dataset_check.content import Content, describe_content
from tasks.analysis.dataset_check.replies import PERFECT, imagined_answers
from tasks.datasets.building import build_of_records
from tasks.metrics.item_scores import score_items
from tasks.scoring.benchmark import ScoreSettings, score_benchmark
from tasks.sources.locating import Locator, choose_source, needs
from tasks.sources.reading import read_dataset

NO_INTERVALS = ScoreSettings(bootstrap=0)


@dataclass(frozen=True)
class Reachable:
    """Scores on 0-100 as the blueprint weighs the dataset's metrics.

    `ceiling` is null where only a judge decides; `constant` maps each letter to the score of always answering with it, and is
    empty where nothing is asked by letter.
    """

    ceiling: float | None
    constant: dict[str, float]


def reachable_scores(items: dy.DataFrame[Items], blueprint: Blueprint) -> Reachable:
    """Score imagined models on all good items of a dataset of the blueprint, by its methods that need no judge."""
    (dataset,) = items["dataset"].unique()
    methods = [method for method in blueprint.datasets[dataset].methods if not method.judged]
    if not methods:
        return Reachable(None, {})
    scores = _dataset_scores(items, methods, blueprint)
    ceiling = scores.pop(PERFECT)
    return Reachable(ceiling, scores)


def _dataset_scores(items: dy.DataFrame[Items], methods: Sequence[MethodSpec], blueprint: Blueprint) -> dict[str, float]:
    answers = imagined_answers(items)
    scored = pl.concat([score_items(items, answers, None, method) for method in methods])
    tables = score_benchmark(scored.lazy(), blueprint, NO_INTERVALS)
    (dataset,) = items["dataset"].unique()
    rows = tables.dataset.filter(pl.col("dataset") == dataset).select("model", "score_0_100")
    letters_first = sorted(rows.iter_rows(), key=lambda row: (len(row[0]), row[0]))
    return {model: score for model, score in letters_first if score is not None}


@dataclass(frozen=True)
class DatasetCheck:
    """What was found of one dataset.

    `ready`: its files are here and are the pinned ones, and every record was read. If it is not, `needs` says what is missing or
    wrong, and the rest is null.
    """

    spec: DatasetSpec
    needs: tuple[str, ...] = ()
    rows_read: int | None = None
    content: Content | None = None
    reachable: Reachable | None = None

    @property
    def ready(self) -> bool:
        """Whether the dataset can be used here."""
        return not self.needs

    @property
    def sources(self) -> list[str]:
        """Repository and revision of its files."""
        files = [file for file in self.spec.files if isinstance(file, PinnedFile)]
        return list(dict.fromkeys(f"{file.repository} at {file.revision}" for file in files)) or ["data/bundled"]

    @property
    def pinned(self) -> bool:
        """Whether the content of every file is pinned by its hash."""
        return all(file.sha256 or file.md5 for file in self.spec.files if isinstance(file, PinnedFile))


def check_dataset(spec: DatasetSpec, blueprint: Blueprint | None, locator: Locator) -> DatasetCheck:
    """Find or fetch the files, verify, read and validate them, and score imagined models on the items.

    Of a dataset with long contexts, all items are built, with the usual options and seed 0.

    Args:
        spec: the catalogue entry.
        blueprint: names the methods that score it; null = no blueprint has it, and nothing is scored.
        locator: where files may be.
    """
    chosen = choose_source(spec, locator)
    try:
        paths = [locator.locate(file) for file in chosen.files]
        return _check_files(chosen, blueprint, paths)
    except SourceError as error:
        # The files may all be here and say something else than the entry does.
        return DatasetCheck(chosen, needs=needs(spec, locator) or (str(error),))


def _check_files(spec: DatasetSpec, blueprint: Blueprint | None, paths: list[Path]) -> DatasetCheck:
    records = read_dataset(spec, paths)
    built = build_of_records(spec, records, None, 0)
    return DatasetCheck(
        spec,
        rows_read=len(records),
        content=describe_content(built.items, built.rejected),
        reachable=Reachable(None, {}) if blueprint is None else reachable_scores(built.items, blueprint),
    )
