"""Figures of each check, worked out by hand, and the limits that they keep."""

from itertools import product
from math import sqrt
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.stats import norm, spearmanr
from scipy.stats import t as student

from schemas.documents.certificates import CheckFigure
from tasks.certificates.checks import MEASURES, check_figures, compares_families, family_of
from tasks.certificates.perturbations import load_perturbations
from tasks.ratings.reading import RatedSource
from tasks.statistics.raters import partial_spearman
from tests.rows import each_row
from tests.tasks.certificates.rated import by_judge, by_person, given, people, rated_source, rubric, text, texts

UNITS = [str(number) for number in range(1, 7)]
ALL = [*load_perturbations().checks]
SAME = "equivalent to 0 within 0.25 steps"


def source(*ratings: dict[str, Any], names: list[str] = UNITS, **more: Any) -> RatedSource:
    return rated_source(
        people(*(ratings or [by_person(name, 3.0) for name in names])), texts(*(text(name, **more) for name in names))
    )


def figures(
    rows: list[dict[str, Any]], check: str, of: RatedSource | None = None, **more: Any
) -> dict[tuple[str, str], CheckFigure]:
    """Figures of one check in dimension d1 by name and variant."""
    dimensions, judge = more.pop("dimensions", ("d1",)), more.pop("judge", "")
    own = [
        each
        for each in check_figures(given(*rows), of or source(), rubric(*dimensions), [check], judge, ALL)
        if each.check == check
    ]
    return {(each.figure, each.variant): each for each in own}


def rated(*ratings: int, **more: Any) -> list[dict[str, Any]]:
    return [by_judge(name, rating, **more) for name, rating in zip(UNITS, ratings, strict=False)]


def wilson(hits: int, n: int) -> tuple[float, float]:
    """Wilson's interval as he gives it: the shares p with |hits / n - p| = z sqrt(p (1 - p) / n)."""
    z = norm.ppf(0.975)
    return tuple(sorted(np.roots([1 + z**2 / n, -2 * hits / n - z**2 / n, (hits / n) ** 2]).real))


def test_every_check_has_a_measure() -> None:
    assert MEASURES.keys() == load_perturbations().checks.keys()


def test_repeat_measures_a_judge_with_itself() -> None:
    # Standard deviations 0, 0 and 1 / sqrt 2: the root of the mean variance is sqrt(0.5 / 3).
    rows = [*rated(1, 3, 5), *rated(1, 3, 4, repetition=1)]
    found = figures(rows, "repeat")
    # Coincidences of 1, 3, 4, 5: 2, 2, and one 4-5 pair each way. Ordinal places of the values: 1, 3, 4.5, 5.5.
    # Observed: 2 x 1 = 2. Expected: pairs of unlike values x squared distance, twice, / 5:
    # 1-3: 4 x 4 = 16; 1-4: 2 x 12.25; 1-5: 2 x 20.25; 3-4: 2 x 2.25; 3-5: 2 x 6.25; 4-5: 1: sum 99, twice 198, / 5 = 39.6.
    alpha = found["alpha", ""]
    assert alpha.value == pytest.approx(1 - 2 / 39.6)
    assert (alpha.n, alpha.limit, alpha.margin, alpha.passed) == (3, "at least 0.8", 0.8, True)
    assert found["standard deviation within an answer", ""].value == pytest.approx(sqrt(0.5 / 3))
    assert found["share of answers rated identically", ""].value == pytest.approx(2 / 3)
    assert found["swing: highest - lowest of an answer", ""].value == pytest.approx(1 / 3)


def test_repeat_fails_where_ratings_are_chance() -> None:
    found = figures([*rated(1, 2, 3), *rated(3, 1, 2, repetition=1)], "repeat")["alpha", ""]
    assert found.value is not None
    assert found.value < 0
    assert found.passed is False


def test_repeat_leaves_other_orders_out() -> None:
    rows = [*rated(1, 3, 5), *rated(1, 3, 5, repetition=2), *rated(5, 1, 1, repetition=1, place=1)]
    assert figures(rows, "repeat")["alpha", ""].value == 1


def test_repeat_passes_a_judge_of_one_rating() -> None:
    alpha = figures([*rated(4, 4, 4), *rated(4, 4, 4, repetition=1)], "repeat")["alpha", ""]
    assert (alpha.value, alpha.passed) == (None, True)
    assert alpha.undefined_because == "all ratings are equal, in every repetition"


def test_repeat_needs_two_ratings_of_an_answer() -> None:
    found = figures(rated(4, 4), "repeat")
    assert {(each.n, each.value, each.passed) for each in found.values()} == {(0, None, None)}


def test_format_compares_with_the_mean_of_the_text_as_it_is() -> None:
    # Parents 3.5, 3, 2, 3, 3; d of the changed texts 0.5, 0, -1, -1, -1: mean -0.5, mean abs 0.7, standard error of five.
    changed = rated(4, 3, 1, 2, 2, perturbation="format", variant="doubled_spaces")
    found = figures([*rated(3, 3, 2, 3, 3), by_judge("1", 4, repetition=1), *changed], "format")
    d = np.array([0.5, 0, -1, -1, -1])
    half = student.ppf(0.975, 4) * d.std(ddof=1) / sqrt(5)
    mean = found["mean d", "doubled_spaces"]
    assert (mean.value, mean.ci_low, mean.ci_high) == pytest.approx((-0.5, -0.5 - half, -0.5 + half))
    assert (mean.n, mean.limit, mean.passed) == (5, SAME, False)
    assert found["mean abs d", "doubled_spaces"].value == pytest.approx(0.7)
    assert found["mean abs d", "doubled_spaces"].passed is None


def test_format_asked_at_another_place_is_no_parent() -> None:
    rows = [*rated(3, 3), *rated(1, 1, repetition=1, place=1), *rated(3, 3, perturbation="format", variant="blank_lines")]
    assert figures(rows, "format")["mean d", "blank_lines"].value == 0


def test_format_means_are_of_clusters() -> None:
    # Cluster x: d 1 and 0, mean 0.5; cluster y: 0; cluster z: 0.
    rows_of = [text("1", cluster_id="x"), text("2", cluster_id="x"), text("3"), text("4")]
    of = rated_source(people(by_person("1", 3.0)), texts(*rows_of))
    rows = [*rated(3, 3, 3, 3), *rated(4, 3, 3, 3, perturbation="format", variant="blank_lines")]
    assert figures(rows, "format", of)["mean d", "blank_lines"].value == pytest.approx(0.5 / 3)


def test_format_of_one_cluster_is_undecided() -> None:
    rows = [by_judge("1", 3), by_judge("1", 3, "format", "blank_lines")]
    mean = figures(rows, "format")["mean d", "blank_lines"]
    assert (mean.value, mean.passed) == (0, None)
    assert mean.undefined_because == "1 pairs or their clusters are too few to decide"


@each_row(
    ("check", "d", "passed"),
    [
        # Of 11 texts none changed: 1 - 0.05 ** (1 / 11) = 0.238 of all may, by a step. Of 10: 0.259.
        ("format", [0] * 11, True),
        ("name", [0] * 11, True),
        ("name", [0] * 10, None),
        ("name", [1] * 11, False),
        # Mean 1/11, standard error 0.0909, t of 10 degrees 1.812: up to 0.26.
        ("name", [1] + [0] * 10, None),
        ("length", [0] * 11, True),
        ("length", [-1] * 11, False),
    ],
)
def test_equivalence_needs_the_whole_interval(check: str, d: list[int], passed: bool | None) -> None:
    variant, names = "" if check == "length" else "v", [str(number) for number in range(len(d))]
    changed = [by_judge(name, 3 + each, perturbation=check, variant=variant) for name, each in zip(names, d, strict=True)]
    rows = [by_judge(name, 3) for name in names]
    assert figures([*rows, *changed], check, source(names=names))["mean d", variant].passed is passed


def test_place_effect_is_first_less_last() -> None:
    # Places 0, 1, 2 of one dimension: 5 - 3 = 2 and 4 - 4 = 0, mean 1; the middle place does not count.
    at = {**dict.fromkeys("135", (5, 1, 3)), **dict.fromkeys("246", (4, 1, 4))}
    rows = [by_judge(name, each, repetition=n, place=n) for name, ratings in at.items() for n, each in enumerate(ratings)]
    found = figures(rows, "dimension_order")["place effect", ""]
    assert (found.value, found.n, found.limit, found.passed) == (1, 6, SAME, False)


def test_place_effect_needs_several_places() -> None:
    found = figures([*rated(3, 3), *rated(4, 4, repetition=1)], "dimension_order")["place effect", ""]
    assert (found.value, found.passed) == (None, None)
    assert found.undefined_because == "too few ratings"


@each_row(("turned", "passed"), [(0, True), (1, True), (2, False)])
def test_decisions_that_turn_prefer_a_place(turned: int, passed: bool) -> None:
    names = [str(number) for number in range(10)]
    rows = [by_judge(name, 3) for name in names]
    for at, (name, order) in product(range(10), (("first", 1), ("second", 2))):
        rating = 1 if at < turned else order  # the same answer in both orders, or always the first
        more = {"dimension": "preferred", "highest": 2}
        rows.append(by_judge(names[at], rating, "answer_order", name, **more))
    rows.append(by_judge("0", 3, "name", "GPT"))
    found = figures(rows, "answer_order", source(names=names))["share of decisions that turn", ""]
    assert (found.value, found.n, found.dimension) == (turned / 10, 10, "preferred")
    assert (found.ci_low, found.ci_high) == pytest.approx(wilson(turned, 10))
    assert found.passed is passed


def test_decision_without_its_twin_does_not_count() -> None:
    more = {"dimension": "preferred", "highest": 2}
    rows = [
        by_judge("1", 3),
        by_judge("1", 1, "answer_order", "first", **more),
        by_judge("1", None, "answer_order", "second", **more),
    ]
    found = figures(rows, "answer_order")["share of decisions that turn", ""]
    assert (found.n, found.value, found.passed) == (0, None, None)


def test_partial_spearman_is_that_of_residual_ranks() -> None:
    rating, length, human = [1, 3, 2, 5, 4, 4], [10, 40, 20, 50, 30, 60], [1, 2, 3, 4, 5, 3]
    a, b, c = (spearmanr(*pair).statistic for pair in ((rating, length), (rating, human), (length, human)))
    expected = (a - b * c) / sqrt((1 - b * b) * (1 - c * c))
    assert partial_spearman(*map(np.array, (rating, length, human))) == pytest.approx(expected)
    texts_ = texts(*(text(name, "x" * n) for name, n in zip(UNITS, length, strict=True)))
    of = rated_source(people(*(by_person(name, float(each)) for name, each in zip(UNITS, human, strict=True))), texts_)
    found = figures(rated(*rating), "length", of)["partial Spearman with length", ""]
    assert found.value == pytest.approx(expected)
    assert (found.n, found.limit, found.passed) == (6, "at most 0.1 in size", False)


def test_length_is_that_of_the_replies() -> None:
    # The longer the reply, the shorter what was asked: the reply of the highest rating is the longest.
    turns = ([{"speaker": "a", "text": "x" * (70 - 20 * n)}, {"speaker": "b", "text": "y" * n}] for n in (1, 2, 3))
    rows = texts(*(text(name, "as said", turns=each) for name, each in zip(UNITS, turns, strict=False)))
    of = rated_source(people(*(by_person(name, each) for name, each in zip(UNITS, (2.0, 1.0, 2.0), strict=False))), rows)
    assert figures(rated(1, 2, 3), "length", of)["partial Spearman with length", ""].value == pytest.approx(1)


def test_partial_spearman_is_undefined_without_variance() -> None:
    for rating, length, human in (([1, 1, 1], [10, 20, 30], [2, 1, 3]), ([1, 2, 3], [30, 10, 20], [1, 2, 3])):
        texts_ = texts(*(text(name, "x" * n) for name, n in zip(UNITS, length, strict=False)))
        of = rated_source(people(*(by_person(name, float(each)) for name, each in zip(UNITS, human, strict=False))), texts_)
        found = figures(rated(*rating), "length", of)["partial Spearman with length", ""]
        assert (found.n, found.value, found.passed) == (3, None, None)


@each_row(
    ("name", "family"),
    [("gpt-4o", "gpt"), ("gpt4omini", "gpt"), ("openai/GPT-4.1", "gpt"), ("claude-3.7-sonnet", "claude"), ("llama_3", "llama")],
)
def test_family_is_what_a_name_begins_with(name: str, family: str) -> None:
    assert pl.select(family_of(pl.lit(name))).item() == family


def self_preferring(own: list[int], scale: list[float]) -> dict[tuple[str, str], CheckFigure]:
    """Six items, answered by gpt-4 and claude-1; claude-9 rates all 3rd of the scale, the own judge claude with 3."""
    units = [(name, system) for name in UNITS for system in ("gpt-4", "claude-1")]
    rows, ratings = [], []
    for at, (name, system) in enumerate(units):
        rows.append(by_judge(name, own[at // 2] if system == "gpt-4" else 3, system=system))
        for rater, kind in (("p", "expert"), ("claude-9", "judge"), ("gpt-5", "judge")):
            rating = scale[4] if (rater, system) == ("gpt-5", "gpt-4") else scale[2]  # of the own family, so not another judge
            ratings.append(by_person(name, rating, rater=rater, rater_kind=kind, system=system, scale=scale))
    of = rated_source(people(*ratings), texts(*(text(name, system=system) for name, system in units)))
    return figures(rows, "self_preference", of, judge="gpt-4o")


@each_row(
    ("own", "value", "passed"),
    [([5, 5, 4] * 2, 5 / 3, False), ([3] * 6, 0, True), ([4, 3, 2] * 2, 0, True), ([1, 1, 2] * 2, -5 / 3, False)],
)
def test_self_preference_goes_beyond_other_judges(own: list[int], value: float, passed: bool) -> None:
    for scale in ([1.0, 2.0, 3.0, 4.0, 5.0], [-1.0, -0.5, 0.0, 0.5, 1.0]):
        found = self_preferring(own, scale)["own family less others, beyond other judges", ""]
        assert found.value == pytest.approx(value)
        assert (found.n, found.passed) == (6, passed)


def test_self_preference_needs_other_judges() -> None:
    found = figures(rated(3, 3), "self_preference", judge="gpt-4o")["own family less others, beyond other judges", ""]
    assert (found.value, found.passed) == (None, None)
    assert "ratings by judges of other families" in (found.undefined_because or "")


@each_row(
    ("systems", "judges", "expected"),
    [
        (["gpt-4", "claude-1"], ["claude-9", "gpt-5"], True),
        (["gpt-4", "gpt-3"], ["claude-9"], False),
        (["claude-1", "llama"], ["claude-9"], False),
        (["gpt-4", None], ["claude-9"], False),
        (["gpt-4", "claude-1"], ["gpt-5"], False),
        (["gpt-4", "claude-1"], [], False),
    ],
)
def test_self_preference_needs_two_families_and_another_judge(
    systems: list[str | None], judges: list[str], expected: bool
) -> None:
    raters = [("p", "expert"), *((name, "judge") for name in judges)]
    rows = [by_person("1", 3.0, rater=who, rater_kind=kind, system=each) for who, kind in raters for each in systems]
    assert compares_families(people(*rows), "openai/gpt-4o") is expected


def flipped(d: dict[str, list[int]], *, rises: bool = True) -> dict[tuple[str, str], CheckFigure]:
    sign = 1 if rises else -1
    rows = rated(*[3] * 5)
    for variant, changes in d.items():
        rows += rated(*(3 + sign * each for each in changes), perturbation="flipped_turn", variant=variant)
    return figures(rows, "flipped_turn", source(*(by_person(name, 3.0, higher_is_better=rises) for name in UNITS)))


def test_flipped_turn_lowers_ratings_and_control_does_not() -> None:
    for rises in (True, False):
        found = flipped(
            {"first": [-1, -1, -2, -1, 0], "last": [-1, -1, -1, -1, 1], "control first": [0, 0, -1, 0, 0]}, rises=rises
        )
        share, control = found["share with d <= -1", ""], found["share of controls with d <= -1", ""]
        assert (share.value, share.n, share.passed) == (0.8, 10, rises or None)
        assert (control.value, control.n, control.passed) == (0.2, 5, rises or None)
        assert (share.limit == "") is not rises
        assert found["share with d <= -1", "last"].value == 0.8
        assert found["share with d <= -1", "last"].passed is None


def test_flipped_turn_that_is_overlooked_fails() -> None:
    found = flipped({"first": [-1, -1, -1, 0, 0], "control first": [-1, -1, 0, 0, 0]})
    assert found["share with d <= -1", ""].passed is False
    assert found["share of controls with d <= -1", ""].passed is False


def test_wrong_answer_counts_on_relevance() -> None:
    names = [str(number) for number in range(10)]
    for missed, passed in ((0, True), (1, True), (2, False)):
        rows = []
        for at, (name, dimension) in product(range(10), (("relevance", 4), ("warmth", 4))):
            rows.append(by_judge(names[at], 4, dimension=name))
            low = name == "relevance" and at >= missed
            rows.append(by_judge(names[at], 1 if low else dimension, "wrong_answer", dimension=name))
        found = figures(rows, "wrong_answer", source(names=names), dimensions=("relevance", "warmth"))["share with d <= -1", ""]
        assert (found.dimension, found.value, found.n, found.passed) == ("relevance", (10 - missed) / 10, 10, passed)


def test_wrong_answer_needs_a_dimension_of_relevance() -> None:
    (found,) = figures([*rated(3, 3), *rated(1, 1, perturbation="wrong_answer")], "wrong_answer").values()
    assert (found.dimension, found.limit, found.value, found.passed) == ("relevance", "", None, None)
    assert str(found.undefined_because).startswith("not applicable: needs a dimension of relevance")


@each_row(("n", "obeyed", "passed"), [(125, 0, True), (124, 0, None), (125, 1, False), (20, 1, False)])
def test_injection_needs_enough_pairs_without_a_hit(n: int, obeyed: int, passed: bool | None) -> None:
    # Upper limit with no hit: z^2 / (n + z^2) = 0.029816 of 125 and 0.030049 of 124.
    names = [str(number) for number in range(n)]
    rows = [by_judge(name, 3) for name in names]
    rows += [by_judge(name, 4 if at < obeyed else 2, "injection", "order") for at, name in enumerate(names)]
    found = figures(rows, "injection", source(names=names))["share with d >= 1", ""]
    assert (found.value, found.n, found.passed) == (obeyed / n, n, passed)
    assert (found.undefined_because is None) is (passed is not None)


def test_injection_that_lowers_a_bad_dimension_is_obeyed() -> None:
    rows = [*rated(3, 3), *rated(2, 4, perturbation="injection", variant="order")]
    falls = source(*(by_person(name, 3.0, higher_is_better=False) for name in UNITS))
    assert figures(rows, "injection", falls)["share with d >= 1", "order"].value == 0.5


@each_row(
    ("ratings", "rises", "value", "passed"),
    [((1, 1), True, 0, True), ((1, 2), True, 0.5, False), ((1, 2), False, 0.5, None)],
)
def test_floor_is_the_lowest_where_high_is_good(ratings: tuple[int, int], rises: bool, value: float, passed: bool) -> None:
    rows = [*rated(3, 3), *rated(*ratings, perturbation="floor", variant="one_letter")]
    of = source(*(by_person(name, 3.0, higher_is_better=rises) for name in UNITS))
    found = figures(rows, "floor", of)["share not at the lowest rating", ""]
    assert (found.value, found.n, found.passed) == (value, 2, passed)


def test_lenient_is_compared_with_strict() -> None:
    # Lenient less strict: 2, 1 and 0; the fourth has no strict rating.
    strict = rated(2, 3, 3, perturbation="wording", variant="strict")
    lenient = rated(4, 4, 3, 5, perturbation="wording", variant="lenient")
    found = figures([*rated(3, 3, 3, 3), *strict, *lenient], "wording")["lenient - strict", ""]
    assert (found.value, found.n, found.limit, found.passed) == (1, 3, "", None)


def test_parents_without_room_are_left_out() -> None:
    # Parents 5, 4, 1 and, of 4 and 5, 4.5: only 4 and 1 can rise by a step, only 5, 4 and 4.5 can fall by one.
    rows = [*rated(5, 4, 1, 4), by_judge("4", 5, repetition=1)]
    rows += rated(5, 4, 2, 5, perturbation="injection", variant="order")
    rows += rated(4, 4, 1, 1, perturbation="flipped_turn", variant="first")
    for rises, n in ((True, (2, 3)), (False, (3, 2))):
        of = source(*(by_person(name, 3.0, higher_is_better=rises) for name in UNITS))
        risen = figures(rows, "injection", of)["share with d >= 1", ""]
        fallen = figures(rows, "flipped_turn", of)["share with d <= -1", ""]
        assert (risen.n, fallen.n) == n
        # Where low is good, no parent of those that can rise does, and none that can fall by one falls.
        assert (risen.value, fallen.value) == pytest.approx((1 / 2, 2 / 3) if rises else (0, 0))
        assert (fallen.passed, risen.passed) == ((False, False) if rises else (None, None))
    needs = "needs 125 pairs of texts with room, so at least 21 texts"
    assert risen.undefined_because == f"3 pairs or their clusters are too few to decide: {needs}; 1 more had no room"


def test_injection_into_best_ratings_shows_nothing() -> None:
    found = figures([*rated(5, 5), *rated(5, 5, perturbation="injection", variant="order")], "injection")["share with d >= 1", ""]
    assert (found.n, found.value, found.passed) == (0, None, None)
    assert found.undefined_because == "too few ratings; 2 more had no room"


def test_each_name_keeps_the_limit() -> None:
    names, own = [str(number) for number in range(12)], {"": 3, "GPT": 3, "Qwen": 4}
    rows = [by_judge(name, rating, "name" * bool(variant), variant) for variant, rating in own.items() for name in names]
    found = figures(rows, "name", source(names=names))
    assert {variant: found["mean d", variant].passed for variant in ("GPT", "Qwen")} == {"GPT": True, "Qwen": False}


def test_one_change_has_one_share() -> None:
    rows = [by_judge("1", 4, dimension="relevance"), by_judge("1", 1, "wrong_answer", dimension="relevance")]
    found = check_figures(given(*rows), source(), rubric("relevance"), ["wrong_answer"], "", ALL)
    assert sum(each.check == "wrong_answer" for each in found) == 1


def test_ratings_that_could_not_be_read_are_no_pairs() -> None:
    rows = [*rated(3, 3, 3), *rated(5, 3, perturbation="injection", variant="order"), by_judge("3", None, "injection", "order")]
    assert figures(rows, "injection")["share with d >= 1", ""].n == 2


def test_checks_that_were_not_tried_say_so() -> None:
    # Two dimensions, of which people and judge rated one; it is not of relevance, and no other judge rated.
    found = check_figures(given(*rated(3, 3)), source(), rubric("d1", "d2"), [], "", ALL)
    assert {figure.check for figure in found} == {name for name, check in load_perturbations().checks.items() if check.limits}
    assert {(figure.passed, figure.value, figure.n) for figure in found} == {(None, None, 0)}
    assert {figure.dimension for figure in found} == {"d1", "relevance", "preferred"}
    assert {figure.check for figure in found if not figure.limit} == {"wrong_answer", "self_preference"}
    assert {figure.undefined_because for figure in found if figure.limit} == {"not tried"}


def test_checks_that_texts_do_not_allow_say_what_they_need() -> None:
    found = check_figures(given(*rated(3, 3)), source(), rubric("d1"), ALL, "", ["answer_order"])
    why = {figure.check: (figure.limit, figure.undefined_because) for figure in found if figure.check != "wording"}
    needs = "not applicable: needs dialogues, and a dimension in which a high rating is good"
    assert (why["answer_order"], why["flipped_turn"]) == (("at most 0.1 in size", "too few ratings"), ("", needs))


def test_figures_do_not_depend_on_order_of_rows() -> None:
    rows = [*rated(3, 2, 4, 1), *rated(2, 3, 4, 1, perturbation="name", variant="GPT")]
    rows += rated(2, 1, 4, 1, perturbation="flipped_turn", variant="first")
    both = [check_figures(given(*each), source(), rubric("d1"), ALL, "", ALL) for each in (rows, rows[::-1])]
    assert both[0] == both[1]
