"""Ask a judge about the texts that people rated, as rated and as changed by checks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from hashlib import sha256
from typing import Any

import dataframely as dy
import polars as pl

from schemas.chat import ChatRequest, ModelEntry
from schemas.errors import UsageError
from schemas.lineage import PartitionKey
from schemas.tables.ratings import UNIT, CertificateRatings, HumanRatings, RatedTexts
from schemas.worker_pool import Job, RunJobs
from tasks.certificates.joining import COUNTS_AS_PERSON, MEAN
from tasks.certificates.perturbations import Ask, asked_rubric, load_perturbations, plan_asks
from tasks.judging.executor import JUDGEMENTS_VERSION, Judge, judge_settings
from tasks.judging.rubrics import Dimension, Rubric, place_of, ratings_of
from tasks.lake.partitions import hash_settings, partition_key
from tasks.models.journal.journal import cut_prompts
from tasks.ratings.reading import RatedSource
from tasks.solvers.forecast import UnsentCalls

TURN, NOT_GIVEN, NO_TEXT, OTHER_TEXT = "of a turn", "not given", "of no text", "of another text"
NOT_ASKED, NOT_DRAWN = "of a dimension that the rubric does not have", "of a text that was not drawn"


@dataclass(frozen=True)
class CertifyJob:
    """What a judge is asked about a source, and the ratings by people that its own are compared with."""

    judge: ModelEntry
    rubric: Rubric
    source: RatedSource
    """Its texts are those that are asked about, its ratings those that are used."""
    asks: tuple[Ask, ...]
    checks: tuple[str, ...]
    applicable: tuple[str, ...]
    """Checks with a limit that the texts allow, tried or not."""
    left_out: Mapping[str, int]
    seed: int

    @property
    def title(self) -> str:
        """Return who is certified, and on what."""
        return f"{self.judge.name} with {self.rubric.id} on {self.source.name}"

    @property
    def place(self) -> dict[str, str]:
        """Return the folders of its partitions."""
        return {"source": self.source.name, "judge": self.judge.name, "rubric": self.rubric.id}

    @cached_property
    def key(self) -> PartitionKey:
        """Return the key of the judge's ratings: the texts themselves count, not only what they were made by."""
        settings = {**judge_settings(self.judge, self.rubric.sha256), "asks_sha256": hash_settings(self.asks)}
        return partition_key("certificate_ratings", self.place, settings, [], JUDGEMENTS_VERSION)

    @cached_property
    def calls(self) -> list[tuple[Ask, tuple[Dimension, ...]]]:
        """Return what is asked for in each call; calls for dimensions that people did not rate are not made."""
        idle = {*self.rubric.names} - {*self.source.ratings["dimension"]}
        calls = ((ask, each) for ask in self.asks for each in asked_rubric(ask, self.rubric).calls(ask.repetition))
        return [(ask, dimensions) for ask, dimensions in calls if {dimension.name for dimension in dimensions} - idle]


def usable_source(source: RatedSource, rubric: Rubric, sample: int | None, seed: int) -> tuple[RatedSource, dict[str, int]]:
    """Return a source with the ratings that can be compared with a judge's, their texts, and ratings left out by reason.

    A rating whose hash is not that of the text is of a text that the judge would not see. `sample`: texts drawn by the hash of
    seed and name; null = all.

    Raises:
        UsageError: no dimension in common, or a scale of another length.
    """
    source = _of_one_name(source)
    names = {*source.ratings["dimension"]} & {*rubric.names}
    if not names:
        raise UsageError(
            "rubric and ratings have no dimension in common",
            where="--rubric, --ratings",
            expected=f"one of {', '.join(source.ratings['dimension'].unique().sort())}",
            got=f"rubric {rubric.id}: {', '.join(rubric.names)}",
            next_step="give the rubric's dimensions the names that the ratings have",
        )
    order = pl.concat_str(UNIT, separator="\0").map_elements(
        lambda name: sha256(f"{seed}\0{name}".encode()).hexdigest(), return_dtype=pl.String
    )
    ratings = source.ratings.with_columns(pl.col("system").fill_null(""))
    known = source.texts.select(*UNIT, shown="text_sha256")
    drawn = source.texts.join(ratings.filter(pl.col("dimension").is_in(names)), on=UNIT, how="semi").sort(order)[:sample]
    rules = {
        NOT_GIVEN: pl.col("rating").is_not_null(),
        TURN: pl.col("turn").is_null(),
        NOT_ASKED: pl.col("dimension").is_in(names),
        MEAN: COUNTS_AS_PERSON,
        NO_TEXT: pl.col("shown").is_not_null(),
        OTHER_TEXT: pl.col("text_sha256").is_null() | (pl.col("text_sha256") == pl.col("shown")),
        NOT_DRAWN: pl.col("drawn").is_not_null(),
    }
    rows = ratings.join(known, on=UNIT, how="left").join(drawn.select(*UNIT, drawn=True), on=UNIT, how="left")
    left_out = dict[str, int]()
    for reason, rule in rules.items():
        kept = rows.filter(rule)
        left_out |= {reason: rows.height - kept.height} if kept.height < rows.height else {}
        rows = kept
    used = rows.select(ratings.columns)
    if used.is_empty():
        raise UsageError(
            "no rating is of a text that a judge can be asked about",
            where="--ratings",
            expected="texts, and ratings whose text_sha256 is theirs or empty",
            got=", ".join(f"{count} {reason}" for reason, count in left_out.items()),
            next_step="moodflow docs judges says what such a file holds",
        )
    _require_scales(used, rubric)
    texts = RatedTexts.validate(drawn.join(used, on=UNIT, how="semi").sort(UNIT))
    return source._replace(ratings=HumanRatings.validate(used), texts=texts), left_out


def _of_one_name(source: RatedSource) -> RatedSource:
    """Return a source whose rows have its name; of several datasets, as of a run, units have the dataset's in front of theirs."""
    names = pl.lit(source.name).alias("source")
    if source.ratings["source"].n_unique() == 1:
        ratings, texts = (frame.with_columns(names) for frame in (source.ratings, source.texts))
    else:
        columns = [*(pl.concat_str("source", name, separator="/").alias(name) for name in ("unit_id", "cluster_id")), names]
        ratings, texts = (frame.with_columns(columns) for frame in (source.ratings, source.texts))
    return source._replace(ratings=HumanRatings.validate(ratings), texts=RatedTexts.validate(texts))


def _require_scales(ratings: pl.DataFrame, rubric: Rubric) -> None:
    lengths = {dimension.name: len(ratings_of(rubric.scale_of(dimension))) for dimension in rubric.dimensions}
    for name, scale in ratings.select("dimension", "scale").unique("dimension").sort("dimension").iter_rows():
        if len(scale) != lengths[name]:
            raise UsageError(
                f"rubric and people rate {name} on scales of different lengths",
                where=f"--rubric {rubric.id}",
                expected=f"{len(scale)} ratings: {', '.join(f'{value:g}' for value in scale)}",
                got=f"{lengths[name]} ratings",
                next_step="write a rubric whose scale has as many ratings as people's; they are matched in order",
            )


def applicable_checks(texts: dy.DataFrame[RatedTexts], rubric: Rubric, seed: int, sample: int) -> tuple[str, ...]:
    """Return the checks with a limit that need nothing but a text, and those for which the texts have what they need."""
    checks = load_perturbations().checks
    possible = {ask.perturbation for ask in plan_asks(texts, rubric, tuple(checks), seed, sample)}
    possible |= {"dimension_order"} if rubric.ask == "together" and len(rubric.names) > 1 else set()
    return tuple(name for name, check in checks.items() if check.limits and (name in possible or not check.needs))


def item_of(text: Mapping[str, Any]) -> dict[str, Any]:
    """Return a rated text's row as the item that it answers, as a judge is shown it."""
    shown = {name: text[name] for name in ("language", "context", "question")}
    named = {"dataset": text["source"], "item_id": text["unit_id"], "question_type": "open_ended"}
    return {**named, **shown, "references": [], "options": []}


async def ask_judge(job: CertifyJob, judge: Judge, run_jobs: RunJobs) -> dy.DataFrame[CertificateRatings]:
    """Ask for all ratings of a job, the longest texts first.

    Returns:
        One row per asked text and dimension. A reply that cannot be read is asked for again as in a run; a failed call is
        `failed`. Neither has a rating.
    """
    texts, columns = job.source.texts.to_dicts(), CertificateRatings.column_names()

    async def rate(ask: Ask, dimensions: tuple[Dimension, ...]) -> list[dict[str, object]]:
        text, rubric = texts[ask.unit], asked_rubric(ask, job.rubric)
        asked = {"perturbation": ask.perturbation, "variant": ask.variant, "repetition": ask.repetition}
        rated = await replace(judge, rubric=rubric).rate(item_of(text), ask.content, dimensions, ask.repetition)
        places = ({"place": place_of(rubric, str(row["dimension"]), ask.repetition)} for row in rated)
        rows = ({**row, **text, **asked, **place} for row, place in zip(rated, places, strict=True))
        return [{name: row[name] for name in columns} for row in rows]

    jobs = [Job(len(str(ask.content)), partial(rate, ask, dimensions)) for ask, dimensions in job.calls]
    rows = [row for rated in await run_jobs(jobs) for row in rated]
    lost, cut = {"parse_status": "failed", "rating": None, "raw_reply": None}, cut_prompts([judge.chat])
    rows = [{**row, **lost, "error": cut[row["call_key"]]} if row["call_key"] in cut else row for row in rows]
    frame = pl.DataFrame(rows, schema=CertificateRatings.create_empty().schema)
    return CertificateRatings.validate(frame.sort(CertificateRatings.primary_key()))


async def plan_calls(job: CertifyJob) -> list[ChatRequest]:
    """Return the first call for each of a job's ratings; what unreadable replies cost again is not known here."""
    planned = UnsentCalls()
    await ask_judge(job, Judge(job.judge, job.rubric, planned), one_by_one)
    return planned


async def one_by_one(jobs: Sequence[Job]) -> list[Any]:
    """Do jobs in their order."""
    return [await job.do() for job in jobs]
