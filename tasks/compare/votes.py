"""Which of two simulated persons is more human: pairs of dialogues for a judge, and strengths from votes on them.

Source: the model of Bradley and Terry 1952, by the iteration of Hunter 2004, The Annals of Statistics 32; a tie is half a win of
each (arXiv 2406.14952, Figure 3, gives no method).
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import permutations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from schemas.documents.comparison import PersonStrength, PersonVotes
from schemas.errors import UsageError
from schemas.usage import TESTED
from tasks.judging.answers import SIMULATED
from tasks.runs.past_run import PastRun
from tasks.solvers.answers import ITEM, SAID
from tasks.sources.filled import read_filled
from tasks.statistics.resampling import RESAMPLES, Floats, draw_weights, limits_of, shares

POINTS = (1.0, 0.0, 0.5)
"""Of the first person, by the option that is chosen: the first, the second, neither."""

VOTE = ("card_id", "first", "second", "winner", "rater", "model")
TIE = "tie"
"""Columns of a file with votes of people, the last if there are several, and what stands there instead of a winner."""

CONTRACT = "moodflow judges votes --help names the columns"

STEPS, CLOSE = 10_000, 1e-12
"""Most steps of the iteration, and the greatest change after which it ends."""


class Vote(NamedTuple):
    """`points` of the first person: 1, 0, or 0.5 in a tie; `model`: with which both talk, empty if not said."""

    card: str
    first: str
    second: str
    points: float
    rater: str
    model: str = ""


def pair_items(runs: Iterable[PastRun], setup: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield an own item for each card, two persons who play it with the same model, and order of the two.

    Raise UsageError if two runs have the same person and model on a card.
    """
    talks = defaultdict[tuple[str, str], dict[str, tuple[str, str]]](dict)
    for run in runs:
        languages = run.read("items").select(*ITEM, "language")
        rows = run.read("answers").filter(SIMULATED, repetition=0).join(languages, on=ITEM).with_columns(said=SAID)
        for row in rows.sort("item_id", "model").to_dicts():
            person, by_person = person_of(run, row), talks[row["item_id"], row["model"]]
            if person in by_person:
                raise UsageError(
                    "two runs have the same simulated person and model",
                    where=f"run {run.name}, {row['item_id']}",
                    expected="runs that differ in who plays the person, or in the model under test",
                    got=f"{person} with {row['model']} once more",
                    next_step="give only one of them",
                )
            by_person[person] = (row["language"], row["said"])
    for (card, model), by_person in talks.items():
        for first, second in permutations(sorted(by_person), 2):
            (language, said), (_, other) = by_person[first], by_person[second]
            heads = [setup["dialogue"][language].format(number=number) for number in (1, 2)]
            yield {
                "item_id": f"{card} {model}: {first}, {second}",
                "language": language,
                "question_type": "single_choice",
                "context": f"{heads[0]}\n{said}\n\n{heads[1]}\n{other}",
                "question": setup["question"][language],
                "options": setup["options"][language],
                "fixed_order": True,
                "gold_indices": [int(first > second)],
                "cluster": card,
                "groups": {"card": card, "first": first, "second": second, "model": model},
            }


def person_of(run: PastRun, answer: dict[str, Any]) -> str:
    """Return the name of who plays the person of a dialogue: its model, and how it is told to where the plan says so."""
    role = next(turn["speaker"] for turn in answer["turns"] if turn["speaker"] != TESTED)
    player = next((entry["name"] for entry in run.manifest.role_models(role, answer["dataset"])), answer["model"])
    options = run.manifest.plan.get("solvers", {}).get(answer["setting"], {})
    return ", ".join([player, *(f"{name} {value}" for name, value in options.items())])


def votes_of_run(run: PastRun) -> Iterator[Vote]:
    """Yield the votes of judges that were asked pairs: what they chose, of every reply that could be read."""
    groups = {
        row["item_id"]: {each["name"]: each["value"] for each in row["groups"] or ()} for row in run.read("items").to_dicts()
    }
    for row in run.read("item_scores").drop_nulls("chosen_place").to_dicts():
        if (pair := groups[row["item_id"]]).keys() >= {"card", "first", "second", "model"}:
            yield Vote(pair["card"], pair["first"], pair["second"], POINTS[row["chosen_place"]], row["model"], pair["model"])


def votes_of_people(path: Path) -> Iterator[Vote]:
    """Yield the votes of a CSV with the columns VOTE; raise RecordError if a row is no vote, or repeats one."""
    given = set[tuple[str, ...]]()
    for row in read_filled(path, VOTE, CONTRACT, VOTE[-1:]):
        card, first, second, winner, rater, model = row.fields.values()
        points = {first: 1.0, second: 0.0, TIE: 0.5}
        rules = {
            "no empty field but model": "" not in (card, first, second, winner, rater),
            f"two names, first and second, and one of them as winner, or {TIE}": len(points) == len(POINTS) and winner in points,
            "one vote of a rater on a card, first, second and model": (card, first, second, rater, model) not in given,
        }
        row.require("a row is no vote on two persons", rules, f"correct the row; {CONTRACT}")
        given.add((card, first, second, rater, model))
        yield Vote(card, first, second, points[winner], rater, model)


def compare_persons(votes: Iterable[Vote]) -> PersonVotes:
    """Return the strengths of persons with intervals over resampled cards; UsageError: votes do not link all of them.

    They are finite only if, however the persons are parted in two, each part wins against the other (Hunter 2004, assumption 1).
    """
    one, other = (end("first", "second") for end in (pl.min_horizontal, pl.max_horizontal))
    points = pl.when(pl.col("first") == one).then("points").otherwise(1 - pl.col("points"))
    table = pl.DataFrame(list(votes), Vote._fields, orient="row").with_columns(one=one, other=other, points=points)
    names, cards = (sorted({*table[left], *table[right]}) for left, right in (("one", "other"), ("card", "card")))
    weights = np.hstack((np.ones((len(cards), 1)), draw_weights("votes", len(cards), RESAMPLES, seed=0)))
    wins = np.zeros((len(names), len(names), RESAMPLES + 1))
    for card, *pair, won in table.select("card", "one", "other", "points").iter_rows():
        left, right = map(names.index, pair)
        wins[left, right] += won * weights[cards.index(card)]
        wins[right, left] += (1 - won) * weights[cards.index(card)]
    beats = np.eye(len(names), dtype=bool) | (np.moveaxis(wins, -1, 0) > 0)
    if not names or not np.linalg.matrix_power(beats[0] | beats[0].T, len(names)).all():
        raise UsageError(
            "the votes do not connect all persons",
            expected="pairs that link every person to every other, directly or through others",
            got=", ".join(names) or "no vote",
            next_step="moodflow judges pairs writes all pairs of the runs it is given",
        )
    finite = np.array([reached.all() for reached in np.linalg.matrix_power(beats, len(names))])
    values = np.full(wins.shape[1:], np.nan)
    values[:, finite] = fit_strengths(wins[:, :, finite])
    strengths = values[:, 0].tolist() if finite[0] else [None] * len(names)
    orders = table.group_by("card", "model", "rater", "one", "other").agg(pl.col("first", "points").n_unique())
    both = orders.filter(first=2)
    ends = zip(names, strengths, limits_of(values[:, 1:]).to_dicts(), strict=True)
    return PersonVotes(
        votes=table.height,
        cards=len(cards),
        raters=tuple(sorted({*table["rater"]})),
        both_orders=both.height,
        turned=both.filter(points=2).height / both.height if both.height else None,
        undefined_because=None if finite[0] else "some persons win every vote against the others, so no strengths fit best",
        undefined_draws=int((~finite[1:]).sum()),
        persons=tuple(PersonStrength(person=name, strength=strength, **limits) for name, strength, limits in ends),
    )


def fit_strengths(wins: Floats) -> Floats:
    """Return the strengths of the model of Bradley and Terry, [persons, draws], which sum to 1.

    `wins`: [persons, persons, draws], of the first over the second.
    """
    games, won = wins + wins.swapaxes(0, 1), wins.sum(axis=1)
    values = np.full(won.shape, 1 / len(won))
    for _ in range(STEPS):
        before = values
        values = shares(won, shares(games, before[:, None] + before[None], 0).sum(axis=1), 0)
        values = values / values.sum(axis=0)
        if np.abs(values - before).max(initial=0) < CLOSE:
            break
    return values
