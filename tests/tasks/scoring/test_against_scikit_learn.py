"""Raw scores of 160 generated models, from choices to numbers, against scikit-learn.

A model answers up to a dozen items; a reply is right or wrong, names several options or none, cannot be read (an empty list), or
never came (null). Every kind of answer also fills whole models: all right, all wrong, all unread, all missing, one class only.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import accuracy_score, f1_score
from sklearn.preprocessing import MultiLabelBinarizer

from schemas.metrics import Metric
from tasks.metrics.measures import positive_label, set_equality
from tasks.scoring.reduction import reduce_item_scores
from tests.tasks.scoring.samples import items

CASES, OPTIONS = 160, 4
NOTHING_READ = OPTIONS
"""Class of an answer that could not be read; never right."""

Answers = list[list[int] | None]


def generate(seed: int, *, several: bool) -> list[tuple[Answers, list[list[int]]]]:
    """Chosen and right options of each model's items."""
    rng = np.random.default_rng(seed)

    def draw(smallest: int) -> list[int]:
        size = rng.integers(smallest, OPTIONS) if several else 1
        return sorted(rng.choice(OPTIONS, size=size, replace=False).tolist())

    models = []
    for number in range(CASES):
        gold = [draw(1) for _ in range(rng.integers(1, 13))]
        right, unread, missing = rng.dirichlet([0.6, 0.2, 0.2])
        kinds = rng.choice(4, size=len(gold), p=[right * 0.7, right * 0.3, unread, missing])
        kinds = np.full(len(gold), number % 4) if number < 40 else kinds
        if 40 <= number < 60:
            gold, kinds = [[number % 2]] * len(gold), kinds % 2
        made: list[list[int] | None] = [
            [labels, [(label + 1) % OPTIONS for label in labels] if number < 40 else draw(1), [], None][kind]
            for kind, labels in zip(kinds, gold, strict=True)
        ]
        models.append((made, gold))
    return models


def raw_scores(metric: Metric, models: Sequence[tuple[Answers, list[list[int]]]]) -> dict[str, float | None]:
    """Our scores by model; labels as score_items writes them."""

    def labels(indices: list[int] | None) -> list[str] | None:
        if indices is None:
            return None
        return positive_label(indices) if metric == "binary_f1" else [f"option {index}" for index in indices]

    asked = [
        (f"m{number}", one, right)
        for number, (chosen, gold) in enumerate(models)
        for one, right in zip(chosen, gold, strict=True)
    ]
    columns: dict[str, Any] = {
        "status": ["call_failed" if one is None else "scored" if one else "unparsed" for _, one, _ in asked],
        "predicted": pl.Series([labels(one) for _, one, _ in asked], dtype=pl.List(pl.String)),
        "gold": pl.Series([labels(right) for _, _, right in asked], dtype=pl.List(pl.String)),
    }
    values = [None if one is None else set_equality(one, right) if one else 0.0 for _, one, right in asked]
    rows = items("d", values, metric=metric, **columns).with_columns(model=pl.Series([model for model, _, _ in asked]))
    return dict(reduce_item_scores(rows.lazy()).select("model", "value").iter_rows())


def counted(chosen: Answers, gold: list[list[int]]) -> tuple[list[list[int]], list[list[int]]]:
    """Answers that came, and their gold."""
    pairs = [(one, right) for one, right in zip(chosen, gold, strict=True) if one is not None]
    return [one for one, _ in pairs], [right for _, right in pairs]


@pytest.fixture(scope="module")
def single() -> list[tuple[Answers, list[list[int]]]]:
    return generate(21, several=False)


@pytest.fixture(scope="module")
def several() -> list[tuple[Answers, list[list[int]]]]:
    return generate(22, several=True)


def compare(metric: Metric, models: Sequence[tuple[Answers, list[list[int]]]], expected: Any) -> None:
    found = raw_scores(metric, models)
    assert len(found) == CASES
    missing = 0
    for number, model in enumerate(models):
        chosen, gold = counted(*model)
        if not chosen:
            missing += 1
            assert found[f"m{number}"] is None
        else:
            assert found[f"m{number}"] == pytest.approx(expected(gold, chosen), abs=1e-12)
    assert missing > 3


def codes(labels: list[list[int]]) -> list[int]:
    """One class per item; what could not be read is a class of its own."""
    return [one[0] if one else NOTHING_READ for one in labels]


def test_accuracy(single: Any) -> None:
    compare("accuracy", single, lambda gold, chosen: accuracy_score(codes(gold), codes(chosen)))


def test_accuracy_of_several_answers(several: Any) -> None:
    def subset_accuracy(gold: list[list[int]], chosen: list[list[int]]) -> float:
        binarizer = MultiLabelBinarizer(classes=range(OPTIONS))
        return float(accuracy_score(binarizer.fit_transform(gold), binarizer.fit_transform(chosen)))

    compare("accuracy", several, subset_accuracy)


def test_binary_f1(single: Any) -> None:
    def binary(gold: list[list[int]], chosen: list[list[int]]) -> float:
        truth, guess = ([int(code == 0) for code in codes(labels)] for labels in (gold, chosen))
        return float(f1_score(truth, guess, pos_label=1, zero_division=1))

    compare("binary_f1", single, binary)


@pytest.mark.parametrize("average", ["macro", "micro"])
def test_f1_of_single_choices(single: Any, average: str) -> None:
    def f1(gold: list[list[int]], chosen: list[list[int]]) -> float:
        # The class of what could not be read is no label: it is predicted, but its own F1 is not averaged.
        named = sorted({*codes(gold), *codes(chosen)} - {NOTHING_READ})
        return float(f1_score(codes(gold), codes(chosen), labels=named, average=average, zero_division=0))

    compare("macro_f1" if average == "macro" else "micro_f1", single, f1)


@pytest.mark.parametrize("average", ["macro", "micro"])
def test_f1_of_several_answers(several: Any, average: str) -> None:
    def f1(gold: list[list[int]], chosen: list[list[int]]) -> float:
        binarizer = MultiLabelBinarizer(classes=range(OPTIONS))
        truth, guess = binarizer.fit_transform(gold), binarizer.fit_transform(chosen)
        named = np.flatnonzero((truth + guess).any(axis=0))
        return float(f1_score(truth, guess, labels=named, average=average, zero_division=0))

    compare("macro_f1" if average == "macro" else "micro_f1", several, f1)
