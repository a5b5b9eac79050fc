"""An order of options that does not give the right answer away, for releases that always print it at the same place."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from schemas.item import Record
from schemas.vocabulary import OptionRole


@dataclass(frozen=True)
class Shuffled:
    """Options in a drawn order: `order[place]` is the index the option had before."""

    options: tuple[str, ...]
    gold_indices: tuple[int, ...]
    roles: tuple[OptionRole, ...] | None
    order: tuple[int, ...]


def shuffle_options(
    record: Record, options: Sequence[str], gold: Sequence[int], roles: Sequence[OptionRole] | None = None
) -> Shuffled:
    """Put options into an order drawn from the record's content: the same on every machine and in every run.

    Args:
        record: where they come from.
        options: in the order of the release.
        gold: indices of the right ones.
        roles: what each option stands for.
    """
    order = list(range(len(options)))
    Random(record.sha256).shuffle(order)  # noqa: S311 - a fixed draw, not a secret
    return Shuffled(
        options=tuple(options[index] for index in order),
        gold_indices=tuple(sorted(order.index(index) for index in gold)),
        roles=None if roles is None else tuple(roles[index] for index in order),
        order=tuple(order),
    )
