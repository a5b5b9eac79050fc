"""The blueprint: which abilities a benchmark measures, with which tasks, datasets and methods, and how they are weighed.

Source: paper P of docs/methodology.md, section 4.2 and appendix 7.1 (Tables 1 and 5, algorithms 1 to 5).
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from schemas.base import Frozen, omittable
from schemas.dataset import LocalFile
from schemas.metrics import METRICS, Metric, Normalisation, RatioNormalisation
from schemas.vocabulary import CORRECTED, Level, Profile, Raters, TooLong

MAX_TIERS = 4
SAMPLE = 300
"""Items per dataset where neither a plan nor a blueprint says how many; paper P of docs/methodology.md."""

Weight = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Identifier = Annotated[str, Field(pattern=r"^[a-z0-9_]+$")]


class MetricSpec(Frozen):
    """One number a method yields."""

    metric: Metric = Field(description="its name")
    weight: Weight = Field(default=1.0, description="among the metrics of all methods of the dataset")
    k: int | None = Field(default=None, ge=1, description="cut-off of metrics that look at the first k")
    normalisation: Normalisation = Field(default=RatioNormalisation(), description="default: that of the metric")
    headline: str | None = omittable(min_length=1, description="heading under which a report leads with it")

    @model_validator(mode="before")
    @classmethod
    def _default_by_metric(cls, fields: Any) -> Any:
        row = METRICS.get(str(fields.get("metric"))) if isinstance(fields, dict) else None
        return {"normalisation": row.normalisation} | fields if row else fields

    @model_validator(mode="after")
    def _k_is_given_where_it_is_needed(self) -> Self:
        if METRICS[self.metric].has_cut_off != (self.k is not None):
            needed = ", ".join(name for name, row in METRICS.items() if row.has_cut_off)
            raise ValueError(f"k is required by {needed} and only by it, got metric {self.metric} with k {self.k}")
        return self


class MethodSpec(Frozen):
    """One way of turning replies into numbers, with one metric or several."""

    id: Identifier = Field(description="name in tables, of your choice")
    judged: bool = Field(default=False, description="needs a judge model")
    profile: Profile = Field(default=CORRECTED, description="how replies are read and what counts as right")
    rubric: str | None = Field(default=None, description="for judged methods: MoodFlow's, a package's or this blueprint's")
    raters: Raters = omittable(default="judge", description="for judged methods: judge, people, or both (the judge counts)")
    metrics: tuple[MetricSpec, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _rubric_and_metrics_fit(self) -> Self:
        if self.raters != "judge" and not self.judged:
            raise ValueError(f"method {self.id}: raters needs a judged method with a rubric")
        if self.judged != (self.rubric is not None):
            raise ValueError(f"method {self.id}: judged and rubric must be given together")
        if repeated := _repeated(spec.metric for spec in self.metrics):
            raise ValueError(f"method {self.id}: metrics given twice: {', '.join(repeated)}")
        return self


class BlueprintDataset(Frozen):
    """A leaf of the tree: a dataset and the methods that score it."""

    title: str = Field(description="name in reports")
    methods: tuple[MethodSpec, ...] = Field(min_length=1)
    source: LocalFile | None = Field(default=None, description="your own file; default: the files of the catalogue entry")
    sample: int | None = omittable(ge=1, description="items asked; null = 300")

    @model_validator(mode="after")
    def _methods_differ(self) -> Self:
        if repeated := _repeated(method.id for method in self.methods):
            raise ValueError(f"method ids given twice: {', '.join(repeated)}")
        if repeated := _repeated(spec.headline for method in self.methods for spec in method.metrics if spec.headline):
            raise ValueError(f"headlines given twice: {', '.join(repeated)}")
        return self


class WeightedDataset(Frozen):
    """A dataset as a task uses it."""

    id: Identifier = Field(description="key under `datasets`")
    weight: Weight = Field(default=1.0, description="among the datasets of the task")


def _repeated(names: Iterable[str]) -> list[str]:
    return sorted(name for name, times in Counter(names).items() if times > 1)


class Task(Frozen):
    """A task at one level, measured by one or more datasets."""

    id: Identifier = Field(description="name in tables, of your choice")
    title: str = Field(description="name in reports")
    level: Level = Field(description="how hard it is; `level_rules` weigh the levels of an ability")
    weight: Weight = Field(default=1.0, description="among the tasks of its ability and level")
    datasets: tuple[
        Annotated[WeightedDataset, BeforeValidator(lambda value: {"id": value} if isinstance(value, str) else value)], ...
    ] = Field(min_length=1)


class Ability(Frozen):
    """A node of the ability tree: either finer abilities or tasks below it."""

    id: Identifier = Field(description="name in tables, of your choice")
    title: str = Field(description="name in reports")
    weight: Weight = Field(default=1.0, description="among its siblings; main abilities make the total")
    evaluated: bool = Field(default=True, description="false for a category that is listed but not measured yet")
    children: tuple["Ability", ...] = ()
    tasks: tuple[Task, ...] = ()

    @model_validator(mode="after")
    def _children_or_tasks(self) -> Self:
        if self.children and self.tasks:
            raise ValueError(f"ability {self.id} has both children and tasks; give it one of them")
        if self.evaluated and not self.children and not self.tasks:
            raise ValueError(f"ability {self.id} has neither children nor tasks; add some or set evaluated: false")
        if not self.evaluated and (self.tasks or any(child.evaluated for child in self.children)):
            raise ValueError(f"ability {self.id} is not evaluated but something below it is; drop one of the two")
        return self

    @property
    def dataset_ids(self) -> list[str]:
        """Datasets of its tasks and of the abilities below it, in file order."""
        return [entry.id for _, node in self.walk() for task in node.tasks for entry in task.datasets]

    def walk(self, tier: int = 1) -> Iterator[tuple[int, "Ability"]]:
        """This node and all below it, parents first, with their tier (1 = main ability)."""
        yield tier, self
        for child in self.children:
            yield from child.walk(tier + 1)


class LevelRule(Frozen):
    """Weights of the levels when exactly these are present."""

    weights: dict[Level, Weight] = Field(min_length=1, description="by level; they sum to 1")

    @model_validator(mode="after")
    def _weights_sum_to_one(self) -> Self:
        if not math.isclose(sum(self.weights.values()), 1.0, abs_tol=1e-9):
            raise ValueError(f"level weights must sum to 1, got {self.weights}")
        return self


class Gate(Frozen):
    """One-vote veto: a main ability that must reach a threshold and never enters the mean."""

    ability: Identifier = Field(description="id of a main ability")
    threshold: float = Field(ge=0, le=100, description="score that it must reach; below it the total is 0")


class PaperWording(Frozen):
    """Whose words prompts and rubrics are, as the user states beside them and answers for: `wording.yaml` of their folder."""

    paper: str = Field(min_length=1, description="title of the paper, as data/published has it")
    source: str = Field(min_length=1, description="where its words were taken from: a repository and revision, or a page")
    files: tuple[Annotated[str, AfterValidator(lambda name: name.removesuffix(".yaml"))], ...] = Field(
        min_length=1, description="files of the folder with its words; all others are in the user's own words"
    )


class Blueprint(Frozen):
    """A benchmark: ability tree, datasets with their methods, level rules and gate.

    What may be left out is omittable, so that a blueprint which does not say it keeps its hash.
    """

    name: str = Field(pattern=r"^[a-z0-9-]+$", description="of the benchmark, in tables and on leaderboards")
    title: str = Field(description="name in reports")
    version: str = Field(description="raised when a score means something else")
    source: str = Field(description="paper and table this blueprint restates")
    abilities: tuple[Ability, ...] = Field(min_length=1)
    datasets: dict[Identifier, BlueprintDataset] = Field(description="by id: in the catalogue, or of your choice with a `source`")
    level_rules: tuple[LevelRule, ...] = Field(description="one for each combination of levels that an ability can have")
    gate: Gate | None = None
    settings: tuple[Identifier, ...] | None = omittable(description="how items are asked by default; null = base")
    rank_item_coverage: float = Field(default=0.95, ge=0, le=1, description="share of items scored that a rank needs")
    too_long: TooLong | None = omittable(
        description="what to do with items longer than a model's context unless the run says otherwise; null = missing"
    )
    ability_word: Literal["ability", "capability"] = omittable(default="ability", description="what its paper calls an ability")
    rubrics: Path | None = Field(default=None, exclude=True, description="folder of your own rubrics, beside the file")
    prompts: Path | None = Field(default=None, exclude=True, description="folder of your own prompts, beside the file")
    own_rubrics: dict[str, Any] = omittable(default={}, description="by id; read from the folder")
    own_prompts: dict[str, Any] = omittable(default={}, description="by file; read from the folder")
    wording: PaperWording | None = omittable(description="read from the folder")

    @model_validator(mode="after")
    def _names_occur_once(self) -> Self:
        names = [node.id for _, node in self.nodes()] + [task.id for _, task in self.tasks()]
        if repeated := _repeated(names):
            raise ValueError(f"ability and task ids must be unique, repeated: {', '.join(repeated)}")
        deepest = max(tier for tier, _ in self.nodes())
        if deepest > MAX_TIERS:
            raise ValueError(f"the ability tree may have {MAX_TIERS} tiers, got {deepest}")
        return self

    @model_validator(mode="after")
    def _each_dataset_has_one_task(self) -> Self:
        used = [entry.id for _, task in self.tasks() for entry in task.datasets]
        if unknown := sorted(set(used) - set(self.datasets)):
            raise ValueError(f"tasks refer to datasets that are not defined: {', '.join(unknown)}")
        if orphans := sorted(set(self.datasets) - set(used)):
            raise ValueError(f"orphan datasets, no task uses them: {', '.join(orphans)}")
        if repeated := _repeated(used):
            raise ValueError(f"datasets used by more than one task: {', '.join(repeated)}")
        return self

    @model_validator(mode="after")
    def _something_has_a_weight_everywhere(self) -> Self:
        siblings = [(f"ability {node.id}", [child.weight for child in node.children]) for _, node in self.nodes()]
        siblings += [
            (f"ability {node.id}, level {level}", [task.weight for task in node.tasks if task.level == level])
            for _, node in self.nodes()
            for level in {task.level for task in node.tasks}
        ]
        siblings += [(f"task {task.id}", [entry.weight for entry in task.datasets]) for _, task in self.tasks()]
        for name, dataset in self.datasets.items():
            siblings.append((f"dataset {name}", [spec.weight for method in dataset.methods for spec in method.metrics]))
        if weightless := sorted(path for path, weights in siblings if weights and not any(weights)):
            raise ValueError(f"no weight above 0 in: {'; '.join(weightless)}")
        return self

    @model_validator(mode="after")
    def _each_combination_of_levels_has_a_rule(self) -> Self:
        seen = [frozenset(rule.weights) for rule in self.level_rules]
        if len(set(seen)) != len(seen):
            raise ValueError("level_rules: a combination of levels is given twice")
        for _, node in self.nodes():
            levels = sorted({task.level for task in node.tasks})
            for chosen in range(1, 2 ** len(levels)):
                combination = frozenset(level for bit, level in enumerate(levels) if chosen >> bit & 1)
                if combination not in seen:
                    raise ValueError(f"level_rules: no rule for {', '.join(sorted(combination))}, which {node.id} can need")
        return self

    @model_validator(mode="after")
    def _gate_is_one_main_ability_of_several(self) -> Self:
        main = {ability.id: ability for ability in self.abilities if ability.evaluated}
        if self.gate is not None and self.gate.ability not in main:
            raise ValueError(f"gate: {self.gate.ability} is not an evaluated main ability ({', '.join(main)})")
        counted = [a for a in main.values() if self.gate is None or a.id != self.gate.ability]
        if sum(ability.weight for ability in counted) <= 0:
            raise ValueError("no evaluated main ability besides the gate has a weight above 0")
        return self

    def sample_of(self, dataset: str, sample: int | None = None) -> int:
        """Return how many items of a dataset are drawn; `sample`: what the run says, of all datasets."""
        return sample or self.datasets[dataset].sample or SAMPLE

    def rule(self, dataset: str, method: str, metric: str) -> Normalisation:
        """Return how a raw score of a dataset is put on 0-100."""
        methods = (each for each in self.datasets[dataset].methods if each.id == method)
        return next(spec.normalisation for each in methods for spec in each.metrics if spec.metric == metric)

    def nodes(self) -> Iterator[tuple[int, Ability]]:
        """Every ability node with its tier, parents first."""
        for ability in self.abilities:
            yield from ability.walk()

    def tasks(self) -> Iterator[tuple[Ability, Task]]:
        """Every task with the ability node it hangs on, in file order."""
        for _, node in self.nodes():
            for task in node.tasks:
                yield node, task

    def design(self) -> Iterator[tuple[Ability, int, int, int]]:
        """Every ability node that has tasks, with the number of its tasks, of their datasets and of the methods of these."""
        for _, node in self.nodes():
            names = [entry.id for task in node.tasks for entry in task.datasets]
            if names:
                yield node, len(node.tasks), len(names), sum(len(self.datasets[name].methods) for name in names)
