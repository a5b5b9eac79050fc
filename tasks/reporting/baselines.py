"""What always giving the same answer would earn: the score to beat on a choice dataset."""

from collections import Counter
from dataclasses import dataclass

import polars as pl

from schemas.letters import option_letters


@dataclass(frozen=True)
class ConstantAnswer:
    """The best constant answer to a choice dataset: a letter, and the share of the sampled items it is right for."""

    letter: str
    share: float


def constant_answers(items: pl.DataFrame) -> dict[str, ConstantAnswer]:
    """Best constant answer of each dataset that consists of single-choice items; of equal letters the first.

    Args:
        items: rows of `items`.
    """
    kinds = items.group_by("dataset").agg(pl.col("question_type").cast(pl.String).unique())
    choice = {dataset for dataset, types in kinds.iter_rows() if types == ["single_choice"]}
    positions: dict[str, Counter[int]] = {dataset: Counter() for dataset in sorted(choice)}
    for dataset, gold in items.select("dataset", "gold_indices").iter_rows():
        if dataset in choice:
            positions[dataset][gold[0]] += 1
    return {dataset: _best(counter) for dataset, counter in positions.items()}


def _best(positions: Counter[int]) -> ConstantAnswer:
    position, times = min(positions.items(), key=lambda entry: (-entry[1], entry[0]))
    return ConstantAnswer(option_letters(position + 1)[position], times / positions.total())
