"""Find ratings by people by the name of their source: a dataset of the catalogue, a file, or a run that people rated."""

from collections.abc import Iterator
from pathlib import Path

import polars as pl

from schemas.errors import UsageError, suggest
from schemas.lineage import PartitionRef
from schemas.tables.items import Items
from schemas.tables.responses import Answers, Judgements
from tasks.certificates.joining import UNIT_ID
from tasks.datasets.catalogue import CATALOGUE
from tasks.judging.answers import judged_answers
from tasks.judging.people import find_people, given_ratings
from tasks.judging.rubrics import load_rubric, ratings_of
from tasks.lake.lake import Lake
from tasks.lake.manifest import list_runs
from tasks.lake.partitions import hash_settings
from tasks.ratings.reading import FORMATS, READING_VERSION, RatedSource, keep_good, read_entry, read_human_ratings
from tasks.runs.past_run import PastRun, reopen
from tasks.runs.run_tables import System
from tasks.solvers.answers import ANSWER, ITEM
from tasks.sources.locating import Locator


def find_ratings(source: str, locator: Locator, lake: Lake) -> RatedSource:
    """Read ratings by people, with the texts that they rated where these are known.

    `source`: the name of a dataset of ratings, a file that ends in .csv, .jsonl or .parquet, or the name of a run. UsageError:
    there is no such source, or nobody rated the run; SourceError: the files cannot be had or read.
    """
    path, named = Path(source), [name for name, entry in CATALOGUE.items() if entry.ratings]
    if path.suffix in FORMATS or path.is_file():
        return read_human_ratings(path)
    if source in named:
        return read_entry(CATALOGUE[source], locator)
    if source in list_runs(lake.root) or source == "latest":
        return _read_run(reopen(lake.root, source))
    raise UsageError(
        f"there are no ratings by people of the name {source}",
        where="--ratings",
        expected=f"a file .csv, .jsonl or .parquet, a run of the lake, or one of {', '.join(named)}",
        got=f"{source}, a dataset of items to ask" if source in CATALOGUE else source,
        next_step=suggest(source, [*named, *list_runs(lake.root)], "moodflow datasets list shows the datasets", most=3),
    )


def _read_run(run: PastRun) -> RatedSource:
    own = run.blueprint.own_rubrics
    pairs = [(answers, ref) for answers in run.partitions("answers") for ref in find_people(run.lake, answers, own)]
    tables = [table for answers, ref in pairs for table in _rated_answers(run, answers, ref)]
    if not tables:
        raise UsageError(
            "no person rated answers of the run",
            where=f"run {run.name}",
            expected="ratings that were imported from a sheet",
            got="none by a rubric that is as it was",
            next_step=f"moodflow judges sheet {run.name} writes a sheet to fill in",
        )
    sha256 = hash_settings([READING_VERSION, *(ref.content_sha256 for _, ref in pairs)])
    return keep_good(run.name, pl.concat(tables), sha256)


def _rated_answers(run: PastRun, answers: PartitionRef, people: PartitionRef) -> Iterator[pl.DataFrame]:
    """Yield the rows of one partition of answers that people rated by one rubric."""
    rubric = load_rubric(people.key("rubric"), run.blueprint.own_rubrics)
    items = Items.cast(run.read("items", dataset=answers.key("dataset")))
    said = judged_answers(run.lake.read(answers, Answers), items, rubric).select(*ANSWER, "turns", text="answer")
    given = given_ratings(run.lake.read(people, Judgements))
    scales = {dimension.name: [*ratings_of(rubric.scale_of(dimension))] for dimension in rubric.dimensions}
    again = pl.when(pl.col("repetition") > 0).then(pl.format(", repetition {}", "repetition")).otherwise(pl.lit(""))
    rows = given.join(said, on=ANSWER).join(items.select(*ITEM, "cluster", "context", "question", "language"), on=ITEM)
    if not rows.is_empty():
        yield rows.with_columns(
            source="dataset",
            unit_id=UNIT_ID + again,
            cluster_id="cluster",
            system=pl.lit(System(answers.key("model"), answers.key("setting")).label),
            rater_kind=pl.lit("crowd"),
            scale=pl.col("dimension").replace_strict(scales, return_dtype=pl.List(pl.Int64)),
            dialogue=pl.col("turns").is_not_null(),
        )
