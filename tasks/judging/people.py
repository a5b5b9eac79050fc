"""Ratings by people, kept as judgements: of the judge `people`, whose repetitions are the persons, sorted by name."""

import json
from contextlib import suppress
from typing import Any

import dataframely as dy
import polars as pl

from schemas.documents.run import PeopleCount
from schemas.errors import UsageError
from schemas.lineage import PartitionKey, PartitionRef
from schemas.roles import PEOPLE
from schemas.tables.responses import Judgements
from tasks.judging.rubrics import OwnRubrics, Rubric, load_rubric, ratings_of
from tasks.lake.lake import Lake
from tasks.lake.partitions import canonical_json, hash_settings, located, partition_key, place_of, relative
from tasks.solvers.answers import ANSWER

PEOPLE_VERSION = "1"
"""Bumped when a stored rating by a person comes to mean something else; none can be asked for again."""

UNRATED = "nobody rated it"

Given = dict[tuple[Any, ...], int]
"""Ratings by the answer (values of ANSWER), the dimension and the person's name."""


def people_key(answers: PartitionRef, rubric: Rubric) -> PartitionKey:
    """Return the key of the ratings by people of one partition of answers, by one rubric."""
    keys = {**dict(answers.place), "judge": PEOPLE, "rubric": rubric.id}
    settings = {"rater_kind": "human", "rubric_sha256": rubric.sha256}
    return partition_key("judgements", keys, settings, [answers.identity], PEOPLE_VERSION)


def find_people(lake: Lake, answers: PartitionRef, own: OwnRubrics) -> tuple[PartitionRef, ...]:
    """Find the newest ratings by people of one partition of answers, by every rubric that is known as it was rated by."""
    keys = {**dict(answers.place), "judge": PEOPLE}
    folder = lake.root / place_of(partition_key("judgements", keys, {}, [], PEOPLE_VERSION))
    stored = (located(relative(path, lake.root)) for path in folder.glob("rubric=*/*.parquet"))
    refs = []
    for name in sorted({ref.key("rubric") for ref in stored if ref}):
        with suppress(UsageError):  # another blueprint's own
            refs.append(lake.find_latest(people_key(answers, load_rubric(name, own))))
    return tuple(ref for ref in refs if ref)


def given_ratings(judgements: pl.DataFrame) -> Given:
    """Return the ratings that rows by people hold."""
    rows = judgements.drop_nulls("rating").select(*ANSWER, "dimension", "raw_reply", "rating").iter_rows()
    return {(*said, json.loads(reply)["rater"]): rating for *said, reply, rating in rows}


def people_rows(answers: pl.DataFrame, rubric: Rubric, given: Given) -> dy.DataFrame[Judgements]:
    """Return the rows of judgements of these answers: one per rating, and one without where nobody rated a dimension."""
    ratings: dict[tuple[Any, ...], list[tuple[str | None, int | None]]] = {}
    for (*rated, rater), rating in given.items():
        ratings.setdefault(tuple(rated), []).append((rater, rating))
    numbers = {rater: number for number, rater in enumerate(sorted({rater for *_, rater in given}))}
    rows = []
    for answer in answers.select(ANSWER).iter_rows():
        for dimension in rubric.dimensions:
            scale = ratings_of(rubric.scale_of(dimension))
            for rater, rating in ratings.get((*answer, dimension.name), [(None, None)]):
                row = {
                    "judge": PEOPLE,
                    "judge_repetition": numbers.get(rater or "", 0),
                    "rubric": rubric.id,
                    "dimension": dimension.name,
                    "lowest": scale[0],
                    "highest": scale[-1],
                    "rating": rating,
                    "call_key": hash_settings([rubric.sha256, *answer, dimension.name, rater]),
                    "parse_status": "parsed" if rater else "failed",
                    "raw_reply": canonical_json({"rater": rater, "rating": rating}) if rater else None,
                    "error": None if rater else UNRATED,
                }
                rows.append({**dict(zip(ANSWER, answer, strict=True)), **row})
    return Judgements.validate(pl.DataFrame(rows, schema=Judgements.create_empty().schema).sort(Judgements.primary_key()))


def count_people(judgements: pl.DataFrame) -> tuple[PeopleCount, ...]:
    """Return who rated, of all rows by people of a run, and how many of the answers."""
    of = ["dataset", "model", "setting", "rubric"]
    rated, rater = pl.col("rating").is_not_null(), pl.col("raw_reply").str.json_path_match("$.rater")
    answer = pl.struct("item_id", "repetition", "part")
    counts = judgements.group_by(of).agg(
        raters=rater.drop_nulls().unique().sort(), n_answers=answer.filter(rated).n_unique(), n_total=answer.n_unique()
    )
    return tuple(PeopleCount(**row) for row in counts.sort(of).iter_rows(named=True))
