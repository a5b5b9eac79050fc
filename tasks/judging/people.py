"""Ratings by people, kept as judgements: of the judge `people`, whose repetitions are the persons, sorted by name."""

from contextlib import suppress

import dataframely as dy
import polars as pl

from schemas.documents.run import PeopleCount
from schemas.errors import UsageError
from schemas.lineage import PartitionKey, PartitionRef
from schemas.roles import PEOPLE
from schemas.tables.responses import Judgements
from tasks.judging.rubrics import OwnRubrics, Rubric, load_rubric, ratings_of
from tasks.lake.lake import Lake
from tasks.lake.partitions import hash_settings, located, partition_key, place_of, relative
from tasks.solvers.answers import ANSWER

PEOPLE_VERSION = "1"
"""Bumped when a stored rating by a person comes to mean something else; none can be asked for again."""

RATING = [*ANSWER, "dimension", "rater"]


def people_key(answers: PartitionRef, rubric: Rubric) -> PartitionKey:
    """Return the key of the ratings by people of one partition of answers, by one rubric."""
    keys = {**dict(answers.place), "judge": PEOPLE, "rubric": rubric.id}
    settings = {"rater_kind": "human", "rubric_sha256": rubric.sha256}
    return partition_key("judgements", keys, settings, [answers.identity], PEOPLE_VERSION)


def find_people(lake: Lake, answers: PartitionRef, own: OwnRubrics) -> tuple[PartitionRef, ...]:
    """Find the newest ratings by people of one partition of answers, by every rubric that is still as they rated by it."""
    by_people = partition_key("judgements", {**dict(answers.place), "judge": PEOPLE}, {}, [], PEOPLE_VERSION)
    paths = (lake.root / place_of(by_people)).glob("rubric=*/*.parquet")
    stored = (located(relative(path, lake.root)) for path in paths)
    refs = []
    for name in sorted({ref.key("rubric") for ref in stored if ref}):
        with suppress(UsageError):  # another blueprint's own
            refs.append(lake.find_latest(people_key(answers, load_rubric(name, own))))
    return tuple(ref for ref in refs if ref)


def given_ratings(judgements: pl.DataFrame) -> pl.DataFrame:
    """Return RATING, and `rating`, of rows of judgements by people."""
    rater = pl.col("raw_reply").str.json_path_match("$.rater")
    return judgements.drop_nulls("rating").select(*ANSWER, "dimension", rater.alias("rater"), "rating")


def people_rows(answers: pl.DataFrame, rubric: Rubric, given: pl.DataFrame) -> dy.DataFrame[Judgements]:
    """Return the judgements of these answers: a row per rating (see `given_ratings`), and one where nobody rated a dimension."""
    scales = {dimension.name: ratings_of(rubric.scale_of(dimension)) for dimension in rubric.dimensions}
    ends = [(name, scale[0], scale[-1]) for name, scale in scales.items()]
    asked = answers.select(ANSWER).join(pl.DataFrame(ends, ["dimension", "lowest", "highest"], orient="row"), how="cross")
    rated, named = pl.col("rating").is_not_null(), pl.struct(RATING)
    rows = asked.join(given, on=RATING[:-1], how="left").with_columns(
        judge=pl.lit(PEOPLE),
        judge_repetition=pl.col("rater").rank("dense").cast(pl.Int64).fill_null(1) - 1,
        rubric=pl.lit(rubric.id),
        call_key=named.map_elements(lambda row: hash_settings([rubric.sha256, row]), return_dtype=pl.String),
        parse_status=pl.when(rated).then(pl.lit("parsed")).otherwise(pl.lit("failed")),
        raw_reply=pl.when(rated).then(pl.struct("rater", "rating").struct.json_encode()),
        error=pl.when(~rated).then(pl.lit("nobody rated it")),
    )
    return Judgements.cast(pl.concat([Judgements.create_empty(), rows.drop("rater")], how="diagonal_relaxed"))


def count_people(judgements: pl.DataFrame) -> tuple[PeopleCount, ...]:
    """Return who rated, of all rows by people of a run, and how many of the answers."""
    of, answer = ["dataset", "model", "setting", "rubric"], pl.struct("item_id", "repetition", "part")
    raters = pl.col("raw_reply").str.json_path_match("$.rater").drop_nulls().unique().sort()
    rated = answer.filter(pl.col("rating").is_not_null()).n_unique()
    counts = judgements.group_by(of).agg(raters=raters, n_answers=rated, n_total=answer.n_unique())
    return tuple(PeopleCount(**row) for row in counts.sort(of).iter_rows(named=True))
