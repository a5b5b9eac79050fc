"""Ask a judge about the texts that people rated, as rated and as changed by checks."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from hashlib import sha256

import dataframely as dy
import polars as pl

from schemas.chat import ChatRequest, ModelEntry
from schemas.errors import UsageError
from schemas.lineage import PartitionKey
from schemas.tables.ratings import UNIT, CertificateRatings, HumanRatings, RatedTexts
from schemas.worker_pool import Job, RunJobs
from tasks.certificates.checks import compares_families
from tasks.certificates.joining import COUNTS_AS_PERSON, MEAN
from tasks.certificates.perturbations import Ask, asked_rubric, load_perturbations, plan_asks
from tasks.judging.executor import JUDGEMENTS_VERSION, Judge, judge_settings
from tasks.judging.rubrics import Dimension, Rubric, place_of, ratings_of
from tasks.lake.partitions import hash_settings, partition_key
from tasks.models.journal.journal import cut_prompts
from tasks.ratings.reading import RatedSource
from tasks.solvers.forecast import UnsentCalls


@dataclass(frozen=True)
class CertifyJob:
    """What a judge is asked about a source, and the ratings by people that its own are compared with."""

    judge: ModelEntry
    rubric: Rubric
    source: RatedSource
    """Its texts are those that are asked about, its ratings those that are used."""
    checks: tuple[str, ...]
    checks_sample: int
    left_out: Mapping[str, int]
    not_asked: tuple[str, ...]
    """Dimensions that people rated and the rubric does not have."""
    seed: int

    @cached_property
    def asks(self) -> tuple[Ask, ...]:
        """Return what is asked about the texts. UsageError: there is no such check."""
        return tuple(plan_asks(self.source.texts, self.rubric, self.checks, self.seed, self.checks_sample))

    @cached_property
    def applicable(self) -> tuple[str, ...]:
        """Return the checks with a limit that need nothing but a text, and those for which the source has what they need."""
        checks = load_perturbations().checks
        possible = {ask.perturbation for ask in replace(self, checks=tuple(checks)).asks}
        possible |= {"dimension_order"} if self.rubric.ask == "together" and len(self.rubric.names) > 1 else set()
        possible |= {"self_preference"} if compares_families(self.source.ratings, self.judge.name) else set()
        return tuple(name for name, check in checks.items() if check.limits and (name in possible or not check.needs))

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
        return [(ask, dimensions) for ask, dimensions in calls if {each.name for each in dimensions} - idle]


def usable_source(source: RatedSource, rubric: Rubric, sample: int | None, seed: int) -> tuple[RatedSource, dict[str, int]]:
    """Return a source with the ratings that can be compared with a judge's, their texts, and ratings left out by reason.

    All rows get the source's name; of several datasets, as of a run, units have the dataset's in front of theirs. A rating
    whose hash is not that of the text is of a text that the judge would not see. `sample`: texts drawn by the hash of seed and
    name; null = all. UsageError: no dimension in common, no text that was rated, or a scale of another length.
    """
    units = ("unit_id", "cluster_id") if source.ratings["source"].n_unique() > 1 else ()
    named = [pl.lit(source.name).alias("source"), *(pl.concat_str("source", name, separator="/").alias(name) for name in units)]
    ratings, texts = source.ratings.with_columns(*named, pl.col("system").fill_null("")), source.texts.with_columns(named)
    names = {*ratings["dimension"]} & {*rubric.names}
    if not names:
        raise UsageError(
            "rubric and ratings have no dimension in common",
            where="--rubric, --ratings",
            expected=f"one of {', '.join(ratings['dimension'].unique().sort())}",
            got=f"rubric {rubric.id}: {', '.join(rubric.names)}",
            next_step="give the rubric's dimensions the names that the ratings have",
        )
    order = pl.concat_str(UNIT, separator="\0").map_elements(
        lambda name: sha256(f"{seed}\0{name}".encode()).hexdigest(), return_dtype=pl.String
    )
    asked = ratings.filter(pl.col("dimension").is_in(names))
    drawn = texts.join(asked, on=UNIT, how="semi").sort(order)[:sample]
    rules = {
        "not given": pl.col("rating").is_not_null(),
        "of a turn": pl.col("turn").is_null(),
        "of a dimension that the rubric does not have": pl.col("dimension").is_in(names),
        MEAN: COUNTS_AS_PERSON,
        "of no text": pl.col("shown").is_not_null(),
        "of another text": pl.col("text_sha256").is_null() | (pl.col("text_sha256") == pl.col("shown")),
        "of a text that was not drawn": pl.col("drawn").is_not_null(),
    }
    known = texts.select(*UNIT, shown="text_sha256").join(drawn.select(*UNIT, drawn=True), on=UNIT, how="left")
    rows, left_out = ratings.join(known, on=UNIT, how="left"), dict[str, int]()
    for reason, rule in rules.items():
        before, rows = rows.height, rows.filter(rule)
        left_out |= {reason: before - rows.height} if rows.height < before else {}
    used = rows.select(ratings.columns)
    if used.is_empty():
        raise UsageError(
            "the ratings come without the texts that were rated, so no judge can be asked about them",
            where="--ratings",
            expected="texts, and ratings whose text_sha256 is theirs or empty",
            got=", ".join(f"{count} {reason}" for reason, count in left_out.items()),
            next_step="give a source with texts, or compare a run's judge with moodflow judges check",
        )
    _require_scales(used, rubric)
    texts = RatedTexts.validate(drawn.join(used, on=UNIT, how="semi").sort(UNIT))
    return source._replace(ratings=HumanRatings.validate(used), texts=texts), left_out


def _require_scales(ratings: pl.DataFrame, rubric: Rubric) -> None:
    scales = dict(ratings.select("dimension", "scale").unique("dimension").sort("dimension").iter_rows())
    for dimension in (each for each in rubric.dimensions if each.name in scales):
        name, scale, length = dimension.name, scales[dimension.name], len(ratings_of(rubric.scale_of(dimension)))
        if len(scale) != length:
            raise UsageError(
                f"rubric and people rate {name} on scales of different lengths",
                where=f"--rubric {rubric.id}",
                expected=f"{len(scale)} ratings: {', '.join(f'{value:g}' for value in scale)}",
                got=f"{length} ratings",
                next_step="write a rubric whose scale has as many ratings as people's; they are matched in order",
            )


def rating_jobs(job: CertifyJob, judge: Judge) -> Iterator[Job]:
    """Yield a job per call, which returns rows of `certificate_ratings`."""
    texts = job.source.texts.to_dicts()

    async def rate(ask: Ask, dimensions: tuple[Dimension, ...]) -> list[dict[str, object]]:
        text, rubric = texts[ask.unit], asked_rubric(ask, job.rubric)
        item = {**text, "dataset": text["source"], "item_id": text["unit_id"], "question_type": "open_ended"}
        item |= {"references": [], "options": []}
        rated = await replace(judge, rubric=rubric).rate(item, ask.content, dimensions, ask.repetition)
        asked = {**text, "perturbation": ask.perturbation, "variant": ask.variant, "repetition": ask.repetition}
        return [{**row, **asked, "place": place_of(rubric, str(row["dimension"]), ask.repetition)} for row in rated]

    for ask, dimensions in job.calls:
        yield Job(len(str(ask.content)), partial(rate, ask, dimensions))


async def ask_judge(job: CertifyJob, judge: Judge, run_jobs: RunJobs) -> dy.DataFrame[CertificateRatings]:
    """Ask for all ratings of a job, the longest texts first.

    Returns:
        One row per asked text and dimension. A reply that cannot be read is asked for again as in a run; a failed call is
        `failed`. Neither has a rating.
    """
    rows = [row for rated in await run_jobs([*rating_jobs(job, judge)]) for row in rated]
    lost, cut = {"parse_status": "failed", "rating": None, "raw_reply": None}, cut_prompts([judge.chat])
    rows = [{**row, **lost, "error": cut[row["call_key"]]} if row["call_key"] in cut else row for row in rows]
    frame = pl.DataFrame(rows, schema=CertificateRatings.create_empty().schema)
    return CertificateRatings.validate(frame.sort(CertificateRatings.primary_key()))


async def plan_calls(job: CertifyJob) -> list[ChatRequest]:
    """Return the first call for each of a job's ratings; what unreadable replies cost again is not known here."""
    planned = UnsentCalls()
    for each in rating_jobs(job, Judge(job.judge, job.rubric, planned)):
        await each.do()
    return planned
