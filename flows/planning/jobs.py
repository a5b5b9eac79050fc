"""A resolved plan and its eval jobs: what each asks, reads and writes, and which of its partitions are in the lake."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

from pydantic import Field, SkipValidation, model_serializer

from schemas.base import Undivided
from schemas.blueprint import Blueprint, MethodSpec
from schemas.chat import ChatReply, ModelEntry
from schemas.dataset import DatasetSpec
from schemas.errors import SourceMissingError
from schemas.lineage import Missing, PartitionKey, PartitionRef
from schemas.plan import Plan
from schemas.roles import PEOPLE
from schemas.usage import Role
from tasks.datasets.catalogue import ItemsKeys, items_keys
from tasks.judging.answers import rates_gold
from tasks.judging.executor import judgements_key
from tasks.judging.jobs import GoldJob, JudgeJob
from tasks.judging.people import find_people
from tasks.judging.rubrics import Rubric, load_rubric
from tasks.lake.lake import Lake
from tasks.metrics.item_score_job import ItemScoreJob
from tasks.metrics.item_scores import item_scores_key
from tasks.metrics.metric import PROFILES
from tasks.solvers.infer_job import InferJob, answers_key
from tasks.solvers.presentation import Epochs
from tasks.solvers.registry import SOLVERS
from tasks.solvers.state import SolverOptions, SolverPlan
from tasks.sources.locating import Locator, source_sha256

Find = Callable[[PartitionKey], PartitionRef | None]
"""Looks a partition up: the complete one, or the latest whether or not calls of it failed."""


@dataclass(frozen=True)
class SelectedDataset:
    """A dataset of the run with the methods that score it."""

    spec: DatasetSpec
    methods: tuple[MethodSpec, ...]

    @property
    def rubric(self) -> str | None:
        """Return the rubric by which a judge rates, if one does."""
        return next((method.rubric for method in self.methods if method.rubric and method.raters != PEOPLE), None)


class ResolvedPlan(Undivided):
    """A plan with its names looked up, which every stage is given. A Prefect server is told the plan as it was stated."""

    stated: Plan = Field(description="as the user made it")
    plan: Plan = Field(description="the same with the API capabilities of every model, and what it left open")
    blueprint: Blueprint
    selected: SkipValidation[tuple[SelectedDataset, ...]]
    missing: tuple[Missing, ...]
    lake: Lake
    replies: SkipValidation[Mapping[str, ChatReply]] = Field(default_factory=dict, description="of a file, by key of the call")

    @model_serializer
    def _show_stated(self) -> dict[str, Any]:
        return self.stated.model_dump(mode="json")

    @property
    def title(self) -> str:
        """Return the name of the run in the Prefect UI."""
        return self.stated.title

    def rubric(self, name: str) -> Rubric:
        """Return a rubric, of the blueprint's own before others; raise UsageError as load_rubric."""
        return load_rubric(name, self.blueprint.own_rubrics)

    def judge_job(self, rubric: Rubric, judge: ModelEntry, items: PartitionRef, answers: PartitionRef) -> JudgeJob:
        """Return what a judge rates by a rubric, as often as the plan has it."""
        repeat = self.plan.judge_repeat
        return JudgeJob(rubric, judge, items, answers, judgements_key(answers, judge, rubric.id, rubric.sha256, repeat), repeat)

    @cached_property
    def jobs(self) -> tuple["EvalJob", ...]:
        """Return every dataset x model x setting of the run; UsageError: the plan names no model."""
        self.plan.require_models()
        return tuple(
            EvalJob(self, selected, entry, setting)
            for selected in self.selected
            for entry in self.plan.models
            for setting in self.plan.settings
        )

    @property
    def golds(self) -> Iterator["GoldBaseline"]:
        """Yield the gold replies that the plan has rated, of datasets whose items are built by now."""
        for selected in self.selected if self.plan.judge_gold else ():
            built = self.find_built(selected) if selected.rubric and rates_gold(self.rubric(selected.rubric)) else None
            if built and self.plan.judges(selected.spec.id):
                yield GoldBaseline(self, selected, GoldJob(built[0]))

    @property
    def epochs(self) -> Epochs:
        """How often the plan asks each item."""
        return Epochs(self.plan.permute, self.plan.seed, self.plan.repeat)

    def sample(self, selected: SelectedDataset) -> int:
        """Return how many of a dataset's items are drawn."""
        return self.blueprint.sample_of(selected.spec.id, self.plan.sample)

    def built_keys(self, selected: SelectedDataset) -> ItemsKeys:
        """Return the keys of what is built of a dataset; SourceMissingError: a file that no hash pins is not here."""
        hashes = source_sha256(selected.spec.files, Locator.for_mirror(self.plan.mirror))
        return items_keys(selected.spec, hashes, self.sample(selected), self.plan.seed, self.plan.contexts)

    def find_built(self, selected: SelectedDataset) -> tuple[PartitionRef, PartitionRef | None] | None:
        """Find a dataset's items and contexts; None if they are not built, or a file is not here that their key needs."""
        try:
            keys = self.built_keys(selected)
        except SourceMissingError:
            return None
        items, contexts = self.lake.find(keys.items), self.lake.find(keys.contexts) if keys.contexts else None
        return (items, contexts) if items and (contexts or not keys.contexts) else None

    def find_annotations(self, selected: SelectedDataset) -> tuple[PartitionRef, ...]:
        """Find what people said of a dataset's items, for scoring alone: no job of the infer stage has it."""
        partitions = (self.lake.find(key) for key in self.built_keys(selected).annotations)
        return tuple(ref for ref in partitions if ref)


@dataclass(frozen=True, eq=False)
class EvalJob:
    """One dataset, model and setting: a partition in most layers."""

    resolved: ResolvedPlan
    selected: SelectedDataset
    entry: ModelEntry
    setting: str

    @property
    def dataset(self) -> str:
        """Return the name of the dataset."""
        return self.selected.spec.id

    @property
    def lake(self) -> Lake:
        """Return where its partitions are."""
        return self.resolved.lake

    def missing(self, reason: str, next_step: str) -> Missing:
        """Record that this job yields no score."""
        return Missing(dataset=self.dataset, model=self.entry.name, setting=self.setting, reason=reason, next_step=next_step)

    @cached_property
    def models(self) -> dict[Role, ModelEntry]:
        """Return the model under test and its helpers, by role; where the plan names no helper, that model or nobody."""
        return SOLVERS[self.setting].players(self.entry, partial(self.resolved.plan.role_model, dataset=self.dataset))

    @cached_property
    def judges(self) -> tuple[ModelEntry, ...]:
        """Return who rates the answers: the judge whose ratings count, then the panel; none if nothing is judged."""
        return self.resolved.plan.judges(self.dataset) if self.selected.rubric else ()

    @cached_property
    def raters(self) -> tuple[tuple[ModelEntry, Rubric], ...]:
        """Return who rates the answers by which rubric, then who reviews the persons that helpers may play in them."""
        plan, judges = self.resolved.plan, self.resolved.plan.judges(self.dataset)[:1]
        rubric = plan.simulation_rubric if len(self.models) > 1 else None
        reviews = [(judge, rubric) for judge in judges if rubric]
        raters = (*((judge, self.selected.rubric or "") for judge in self.judges), *reviews)
        return tuple((judge, self.resolved.rubric(name)) for judge, name in raters)

    def infer_job(self) -> InferJob | None:
        """Return what is asked with what; None if the items are not built."""
        built = self.resolved.find_built(self.selected)
        return InferJob(self.models, *self.asked_with, *built, self.resolved.epochs) if built else None

    @cached_property
    def asked_with(self) -> tuple[SolverOptions[Any], SolverPlan]:
        """Return the setting and its parameters, and how its solver asks with them."""
        plan, solver = self.resolved.plan, SOLVERS[self.setting]
        options = SolverOptions(
            self.setting,
            plan.retrieval,
            plan.contexts.length_demand,
            plan.too_long or self.resolved.blueprint.too_long or "missing",
            solver.read_options(plan.solvers.get(self.setting, {})),
            self.resolved.blueprint.own_prompts,
        )
        return options, solver.plan(options, self.selected.spec.task, self.entry)

    def judge_jobs(self, items: PartitionRef, answers: PartitionRef) -> list[JudgeJob]:
        """Return what each of the raters rates."""
        return [self.resolved.judge_job(rubric, judge, items, answers) for judge, rubric in self.raters]

    def find(self, find: Find) -> "JobPartitions | None":
        """Find what the infer stage wrote of this job; None without replies and answers."""
        infer = self.infer_job()
        responses = find(infer.keys.responses) if infer else None
        answers = find(answers_key(responses)) if responses else None
        if infer is None or responses is None or answers is None:
            return None
        keys = (infer.chunk_job.key if infer.chunk_job else None, infer.keys.retrievals, infer.keys.written)
        rated = tuple(find(judge_job.key) for judge_job in self.judge_jobs(infer.items, answers))
        ratings, reviews = rated[: len(self.judges)], rated[len(self.judges) :]
        behind = tuple(find(key) for key in keys if key)
        people = find_people(self.lake, answers, self.resolved.blueprint.own_rubrics)
        return JobPartitions(self, infer.items, infer.contexts, behind, responses, answers, ratings, reviews, people)


@dataclass(frozen=True, eq=False)
class JobPartitions:
    """A job's partitions up to what its scores are computed from; null = not there."""

    job: EvalJob
    items: PartitionRef
    contexts: PartitionRef | None
    behind: tuple[PartitionRef | None, ...]
    """Chunks and retrievals behind the replies."""
    responses: PartitionRef
    answers: PartitionRef
    ratings: tuple[PartitionRef | None, ...]
    """One of each judge; the first counts."""
    reviews: tuple[PartitionRef | None, ...]
    """Of simulated persons, if the plan has them reviewed."""
    people: tuple[PartitionRef, ...] = ()

    @property
    def is_complete(self) -> bool:
        """Return whether nothing of the job is left to ask or to rate."""
        return None not in (*self.behind, *self.ratings, *self.reviews)

    @property
    def refs(self) -> list[PartitionRef]:
        """Return those that are there, inputs first."""
        replies = (*self.behind, self.responses, self.answers, *self.ratings, *self.reviews, *self.people)
        partitions = (self.items, self.contexts, *self.gold, *replies)
        return [ref for ref in partitions if ref]

    @property
    def gold(self) -> tuple[PartitionRef, ...]:
        """Return what is right, where it is not in the items."""
        return self.job.resolved.find_annotations(self.job.selected)

    @property
    def judgements(self) -> PartitionRef | None:
        """Return the judge's ratings; null if nothing is judged, or not yet."""
        return next(iter(self.ratings), None)

    @property
    def score_job(self) -> ItemScoreJob | None:
        """Return what the item scores are computed from; None if the judge's ratings are missing."""
        job, methods = self.job, self.job.selected.methods
        if job.judges and self.judgements is None:
            return None
        by_people = {method.rubric for method in methods if method.raters == PEOPLE}
        rated = (*filter(None, (self.judgements,)), *(ref for ref in self.people if ref.key("rubric") in by_people))
        if (profile := job.resolved.plan.profile) in PROFILES:
            key = PROFILES[profile].key(self.answers, methods)
        else:
            key = item_scores_key(self.answers, [*rated, *self.gold], methods)
        return ItemScoreJob(methods, self.items, self.answers, rated, key, self.gold)


@dataclass(frozen=True, eq=False)
class GoldBaseline:
    """The gold replies of a judged dataset, which its judge rates beside the models' if the plan says so; `job` writes them."""

    resolved: ResolvedPlan
    selected: SelectedDataset
    job: GoldJob

    @property
    def judge(self) -> ModelEntry:
        """Return the judge whose ratings count."""
        return self.resolved.plan.judges(self.selected.spec.id)[0]

    @property
    def rubric(self) -> Rubric:
        """Return what it rates by."""
        return self.resolved.rubric(self.selected.rubric or "")

    def judge_job(self, answers: PartitionRef) -> JudgeJob:
        """Return what the judge rates."""
        return self.resolved.judge_job(self.rubric, self.judge, self.job.items, answers)

    def find(self, find: Find) -> tuple[PartitionRef, PartitionRef] | None:
        """Find the replies and their ratings; None if one of them is not there."""
        answers = find(self.job.key)
        ratings = find(self.judge_job(answers).key) if answers else None
        return (answers, ratings) if answers and ratings else None


def scorable(jobs: Iterable[EvalJob]) -> list[JobPartitions]:
    """Find those jobs whose answers, and the ratings that count, are in the lake."""
    stored = (job.find(job.lake.find_latest) for job in jobs)
    return [partitions for partitions in stored if partitions and partitions.score_job]
