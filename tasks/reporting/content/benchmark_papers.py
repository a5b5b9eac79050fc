"""The papers whose tables runs are set beside, and which runs asked what their models were asked."""

from dataclasses import dataclass

from schemas.blueprint import Blueprint

BUNDLED_SUFFIX = "-mini"


@dataclass(frozen=True)
class Paper:
    """A paper with a table of models.

    `comparable`: blueprints that ask what the table was measured with. `design_targets`: whether it states how many tasks and
    datasets a sub-ability should have. `judge`: the model that rated its answers, where it names one.
    """

    title: str
    comparable: frozenset[str]
    design_targets: bool
    judge: str | None = None


MOODBENCH = Paper("MoodBench", frozenset({"moodbench", "ecdbench"}), design_targets=True)
LONGEMOTION = Paper("LongEmotion", frozenset({"longemotion-released"}), design_targets=False, judge="gpt-4o")
LONGEMOTION_PREFIX = "longemotion"

REBUILT = (
    "The items of this run are built anew from the sources that the LongEmotion paper names; its own files are asked by the "
    "benchmark longemotion-released. Compare order and gains with the published numbers, not decimals."
)
OTHER_ITEMS = (
    "This run asked other items than the published models were asked. Its marks show that the report works, not where the model "
    "stands."
)


def paper_of(blueprint: Blueprint) -> Paper:
    """The paper that a benchmark restates; MoodBench for those that restate none."""
    return LONGEMOTION if blueprint.name.startswith(LONGEMOTION_PREFIX) else MOODBENCH


def is_comparable(blueprint: Blueprint) -> bool:
    """Whether totals may be set beside the published ones."""
    return blueprint.name in paper_of(blueprint).comparable


def is_rebuilt(blueprint: Blueprint) -> bool:
    """Whether the benchmark asks items made as the paper says, from the same sources, in place of the paper's own."""
    return blueprint.name == LONGEMOTION_PREFIX


def comparison_warning(blueprint: Blueprint) -> str | None:
    """What to know before a run is set beside the published table; null if it asked the same."""
    if is_comparable(blueprint):
        return None
    return REBUILT if is_rebuilt(blueprint) else OTHER_ITEMS
