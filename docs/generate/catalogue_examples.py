"""Bundled items as examples: the first English one of a dataset, its gold, and the calls that a model gets about it."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from schemas.blueprint import Blueprint
from schemas.chat import ChatReply, ChatRequest, ModelEntry
from schemas.dataset import BundledFile, DatasetSpec
from schemas.documents.datasets import ReachableScores
from schemas.item import option_letters
from schemas.question_types import QUESTION_TYPES
from schemas.usage import TESTED
from tasks.datasets.building import USUAL_CONTEXTS, BuiltItems, build_of_records, list_samples
from tasks.metrics.answer_forms import FORMS, Question, right_reply
from tasks.solvers.registry import SOLVERS
from tasks.solvers.state import AskedItem, Call, RoleModel, SolverOptions, SolverResources
from tasks.sources.locating import Locator
from tasks.sources.reading import read_dataset
from tasks.verify.dataset_check import reachable_scores

ADDRESS = "http://localhost:8000/v1"
"""Of models that are never called."""


def is_bundled(spec: DatasetSpec) -> bool:
    """Return whether a dataset comes with MoodFlow: only of these may items be shown."""
    return all(isinstance(file, BundledFile) for file in spec.files)


@dataclass(frozen=True, eq=False)
class Bundled:
    """A bundled dataset as a benchmark asks it."""

    spec: DatasetSpec
    blueprint: Blueprint

    @cached_property
    def records(self) -> Any:
        """Records of its file."""
        return read_dataset(self.spec, [Locator().locate(file) for file in self.spec.files])

    @cached_property
    def built(self) -> BuiltItems:
        """All of its items."""
        return build_of_records(self.spec, self.records, None, 0)

    @cached_property
    def reachable(self) -> ReachableScores:
        """Scores of imagined models."""
        return reachable_scores(self.built.items, self.blueprint)

    @cached_property
    def row(self) -> Mapping[str, Any]:
        """The example: its first item, of English ones if there are any."""
        rows = list(self.built.items.iter_rows(named=True))
        return next((row for row in rows if row["language"] == "en"), rows[0])

    @property
    def setting(self) -> str:
        """How it is asked where nothing is said."""
        return (self.blueprint.settings or ("base",))[0]

    def ask(self) -> tuple[Call, ...]:
        """Return the calls about the example as its solver makes them, in order; none is sent."""
        samples = list_samples(self.spec, self.records, USUAL_CONTEXTS, 0)
        item, context = next(sample for sample in samples if sample.item_id == self.row["item_id"]).build()
        solver = SOLVERS[self.setting]
        options = SolverOptions(self.setting, own=solver.read_options({}))
        roles = {role: _never_called(role) for role in (TESTED, *(solver.roles.keys() - solver.optional))}
        asked = AskedItem(self.row["item_id"], item, context)

        async def solve() -> tuple[Call, ...]:
            return (await solver.solve(asked, options, SolverResources(roles), 0)).calls

        return asyncio.run(solve())


def _never_called(role: str) -> RoleModel:
    async def chat(request: ChatRequest) -> ChatReply:
        return ChatReply(text=f"[what the {role.replace('_', ' ')} says to {len(request.messages)} messages]")

    return RoleModel(ModelEntry(name=role, base_url=ADDRESS), chat)


def right_answer(row: Mapping[str, Any]) -> str | None:
    """Return the reply of a model that knows the gold; null where the answer is a text of its own."""
    question = Question.from_row(row)
    return None if FORMS[question.form].read is None else right_reply(question)


def gold_lines(row: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return what the item holds as right, each with what it is called: options by letter, points, references."""
    letters = option_letters(len(row["options"] or ()))
    if row["option_points"]:
        points = zip(letters, row["options"], row["option_points"], strict=True)
        return [
            (f"{letter}, earns {'nothing, not counted' if earned is None else f'{earned:g}'}", text)
            for letter, text, earned in points
        ]
    if row["options"] and row["gold_indices"]:
        return [(letters[index], row["options"][index]) for index in row["gold_indices"]]
    names = QUESTION_TYPES[row["question_type"]].reference_names
    references = row["references"] or ()
    return [*zip(names or ["reference"] * len(references), references, strict=True)]


def first_annotation(built: BuiltItems, item_id: str) -> str | None:
    """Return the first row about an item in the dataset's own layer of gold, as JSON; null = it has none."""
    for rows in built.annotations.values():
        for row in rows.iter_rows(named=True):
            if row["item_id"] == item_id:
                return json.dumps(row, ensure_ascii=False, indent=1, default=str)
    return None
