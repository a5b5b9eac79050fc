"""What papers with a table of models say of their own runs: the numbers of a run stand beside those."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import polars as pl

from schemas.blueprint import Blueprint
from schemas.comparability import Shares
from schemas.vocabulary import Profile
from tasks.runs.past_run import PastRun
from tasks.scoring.published import table_of

RELEASED = "_released"
"""Ends the name of a dataset that is asked from the paper's own file."""


@dataclass(frozen=True)
class Paper:
    """A paper with a table of models. Null = not known of it.

    `blueprints`: those that restate its benchmark. `rebuilt`: their datasets whose items are made anew from the same sources.
    `sample`: items it asks of a dataset, `samples`: where that differs. `profile`: how its replies were scored, if that is one of
    ours. `lengths`: mean tokens by dataset. `design`: tasks it wants for an ability, datasets for a task, methods for a dataset.
    """

    title: str
    blueprints: frozenset[str]
    sample: int
    samples: Mapping[str, int] = field(default_factory=dict)
    rebuilt: frozenset[str] = frozenset()
    judge: str | None = None
    temperature: float | None = None
    repetitions: int | None = None
    profile: Profile | None = None
    languages: Shares | None = None
    gate_languages: Shares | None = None
    lengths: Mapping[str, int] = field(default_factory=dict)
    design: tuple[int, int, int] | None = None

    def items(self, dataset: str) -> int:
        """Return how many items of a dataset it asks, if there are so many."""
        return self.samples.get(dataset.removesuffix(RELEASED), self.sample)


MOODBENCH = Paper(
    "MoodBench",
    frozenset({"moodbench", "ecdbench"}),
    sample=300,
    profile="reference",
    languages={"en": 0.583, "zh": 0.35, "en+zh": 0.067},
    gate_languages={"en": 1.0},
    design=(3, 2, 1),
)
"""Sections 3 and 4 and Tables 1 and 5. Its gate's ten datasets are English."""


def _by_dataset(**values: int) -> dict[str, int]:
    return {f"longemotion_{name}": value for name, value in values.items()}


LONGEMOTION = Paper(
    "LongEmotion",
    frozenset({"longemotion", "longemotion-released"}),
    sample=300,
    samples=_by_dataset(ec_emobench=200, ec_finentity=200, ed=136, qa=120, es=150, ee=428),
    rebuilt=frozenset(f"longemotion_{name}" for name in ("ec_emobench", "ec_finentity", "ed", "es")),
    judge="gpt-4o",
    temperature=0.8,
    repetitions=3,
    lengths=_by_dataset(ec_emobench=19_345, ec_finentity=43_588, ed=4_106, qa=11_207, es=15_341, ee=8_546)
    | _by_dataset(mc1=4_856, mc2=4_856, mc3=4_856, mc4=4_856),
)
"""Section 3, Table 1 and the repository's notes; tokens of Llama 3.1."""


ESC_EVAL = Paper(
    "ESC-Eval", frozenset({"esc-eval"}), sample=331, samples={"esc_eval_zh": 324}, judge="people", temperature=0.0, repetitions=1
)
"""Sections 3 and 4 and Table 2: all dialogues were rated by people."""


def paper_of(blueprint: Blueprint) -> Paper | None:
    """Return the paper that has published scores of a benchmark's main abilities; null if none has."""
    table = table_of(blueprint)
    return next((paper for paper in (MOODBENCH, LONGEMOTION, ESC_EVAL) if table and paper.title == table.paper), None)


class MeanLength(NamedTuple):
    """Mean length of the items of a dataset.

    `characters`: of context and question. `tokens`: of the context, null = none was built. `of_paper`: the paper's, counted by
    another tokenizer; null = it says none.
    """

    dataset: str
    items: int
    characters: float
    tokens: float | None
    of_paper: int | None


def mean_lengths(items: pl.DataFrame, contexts: pl.DataFrame, blueprint: Blueprint) -> tuple[MeanLength, ...]:
    """Return mean lengths by dataset, in the order of the names; `items`, `contexts`: rows of these layers."""
    characters = pl.col("question").str.len_chars() + pl.col("context").str.len_chars().fill_null(0)
    means = items.group_by("dataset").agg(items=pl.len(), characters=characters.mean())
    tokens = dict(contexts.group_by("dataset").agg(pl.col("tokens").mean()).iter_rows())
    of_paper = paper.lengths if (paper := paper_of(blueprint)) else {}
    return tuple(
        MeanLength(name, number, mean, tokens.get(name), of_paper.get(name.removesuffix(RELEASED)))
        for name, number, mean in means.sort("dataset").iter_rows()
    )


def read_lengths(run: PastRun) -> Iterator[MeanLength]:
    """Yield mean lengths of a run of the lake, one dataset after the other: texts are many. Raise LakeError if one is gone."""
    for ref in run.partitions("items"):
        items, contexts = (run.read(layer, dataset=ref.key("dataset")) for layer in ("items", "contexts"))
        yield from mean_lengths(items, contexts, run.blueprint)
