"""The rule of regressions: falls worked out by hand, vetoes and coverage."""

from dataclasses import replace

from schemas.blueprint import Gate
from schemas.changes import ScoreDifference
from tasks.compare.regression import SystemScores, fell_beyond_interval, find_regressions, find_warnings, list_some
from tests.rows import each_row
from tests.tasks.scoring.samples import ability, blueprint, task

ONE = blueprint(ability("able", task("d")))
TWO = blueprint(ability("able", task("d"), weight=0.3), ability("kind", task("e"), weight=0.7))
FELL = ScoreDifference(what="able", before=80.0, after=60.0, change=-20.0, ci_low=-28.0, ci_high=-12.5, allowed=8.0, n_items=100)
WHOLE = SystemScores(vetoed=False, coverage=1.0, item_coverage=1.0, datasets=frozenset({"d", "e"}))


@each_row(
    ("changed", "expected"),
    [
        ({}, True),
        ({"change": -8.1}, True),
        ({"change": -8.0}, False),  # as far as its interval before reaches
        ({"change": -8.0 - 1e-10}, False),  # computed in two ways
        ({"ci_high": -0.1}, True),
        ({"ci_high": 0.0}, False),  # replies vary: the upper end decides, wherever the lower one is
        ({"ci_low": -60.0, "ci_high": 3.0}, False),
        ({"ci_high": None}, False),
        ({"allowed": None}, False),
        ({"change": 20.0, "ci_low": 12.5, "ci_high": 28.0}, False),
    ],
)
def test_a_fall_counts_beyond_both_intervals(changed: dict[str, float | None], expected: bool) -> None:
    change = FELL.model_copy(update=changed)
    assert fell_beyond_interval(change) is expected
    assert len(find_regressions([change], WHOLE, WHOLE, ONE)) == int(expected)


@each_row(
    ("changed", "expected"),
    [
        ({"change": 20.0, "ci_low": 12.5, "ci_high": 28.0}, True),
        ({"change": 8.0, "ci_low": 1.0, "ci_high": 15.0}, False),
        ({"change": 20.0, "ci_low": -0.1, "ci_high": 40.0}, False),
        ({"change": 20.0, "ci_low": None, "ci_high": None}, False),
        ({}, False),
    ],
)
def test_where_low_is_good_a_rise_counts(changed: dict[str, float | None], expected: bool) -> None:
    change = FELL.model_copy(update={"better": "low", "rubric": "r", "what": "own: harm", **changed})
    assert fell_beyond_interval(change) is expected


def test_a_finding_says_what_rose() -> None:
    rose = {"what": "d: harm", "rubric": "r", "scale": (0, 4), "better": "low", "before": 1.0, "after": 2.0, "change": 1.0}
    (found,) = find_regressions(
        [FELL.model_copy(update={**rose, "ci_low": 0.5, "ci_high": 1.5, "allowed": 0.25})], WHOLE, WHOLE, ONE
    )
    assert found.message == (
        "d: harm (0 to 4, lower is better) rose from 1.00 to 2.00: 1.00 [0.50, 1.50] on the 100 items both runs scored; "
        "rises up to 0.25 count as noise"
    )


def test_a_finding_says_what_fell_and_how_far() -> None:
    (found,) = find_regressions([FELL], WHOLE, WHOLE, ONE)
    assert (found.what, found.before, found.after, found.allowed) == ("able", 80, 60, 8)
    assert found.message == (
        "Able fell from 80.0 to 60.0: -20.0 [-28.0, -12.5] on the 100 items both runs scored; drops up to 8.0 count as noise"
    )
    (found,) = find_regressions([FELL.model_copy(update={"allowed": 0.0})], WHOLE, WHOLE, ONE)
    assert found.message.endswith("both runs scored; no drop counts as noise")


def test_a_vetoed_total_is_compared_before_the_veto() -> None:
    both = replace(WHOLE, vetoed=True)
    (found,) = find_regressions([FELL.model_copy(update={"what": "total"})], both, both, ONE)
    assert found.message.startswith("Total (before the veto) fell from 80.0 to 60.0: -20.0 [-28.0, -12.5]")


@each_row(
    ("before", "after", "finding", "remark"),
    [
        (False, True, "newly vetoed: the gate was passed before", None),
        (None, True, "newly vetoed: the gate was undecided before", None),
        (False, None, "the veto is now undecided: the gate was passed before", None),
        (True, None, "the veto is now undecided: the gate was failed before", None),
        (True, False, None, "the veto is lifted"),
        (None, False, None, "the gate, undecided before, is passed"),
        (False, False, None, None),
    ],
)
def test_the_veto(before: bool | None, after: bool | None, finding: str | None, remark: str | None) -> None:
    was, now = replace(WHOLE, vetoed=before), replace(WHOLE, vetoed=after)
    expected = [("veto", before, after, None, finding)] if finding else []
    found = find_regressions([], was, now, ONE)
    assert [(one.what, one.before, one.after, one.allowed, one.message) for one in found] == expected
    assert find_warnings(was, now, ONE) == ((remark,) if remark else ())


def test_coverage_that_drops_names_what_was_lost() -> None:
    most = replace(WHOLE, coverage=0.75)
    less = replace(WHOLE, coverage=0.5, datasets=frozenset({"d"}))
    (found,) = find_regressions([], most, less, ONE)
    assert (found.what, found.before, found.after) == ("coverage", 0.75, 0.5)
    assert found.message == "coverage dropped from 75.0 % to 50.0 % of the datasets: no score for e"
    assert find_regressions([], less, most, ONE) == find_regressions([], most, most, ONE) == ()
    assert find_warnings(less, most, ONE) == ("coverage rose from 50.0 % to 75.0 % of the datasets",)
    assert find_warnings(most, most, ONE) == ()


def test_six_names_are_five_and_one_more() -> None:
    assert (list_some("abcde"), list_some("abcdef")) == ("a, b, c, d, e", "a, b, c, d, e and 1 more")


@each_row(
    ("before", "after", "found"),
    # A ranked model needs 95 % of the items.
    [(1.0, 0.96, False), (1.0, 0.95, False), (1.0, 0.94, True), (0.94, 0.5, False), (1.0, None, True), (None, None, False)],
)
def test_item_coverage_that_falls_below_the_need(before: float | None, after: float | None, found: bool) -> None:
    was, now = replace(WHOLE, item_coverage=before), replace(WHOLE, item_coverage=after)
    assert [one.what for one in find_regressions([], was, now, ONE)] == (["item coverage"] if found else [])


SEEKER = frozenset({"seeker (s)"})


def test_what_helpers_alone_lost_is_a_warning() -> None:
    fewer = replace(WHOLE, coverage=0.5, item_coverage=0.5, datasets=frozenset({"d"}), failed={"e": SEEKER}, lost_by_others=0.5)
    assert find_regressions([], WHOLE, fewer, TWO) == ()
    through = "because of failures of seeker (s), not of the model"
    assert find_warnings(WHOLE, fewer, TWO) == (
        f"coverage dropped from 100.0 % to 50.0 % of the datasets {through}: no score for e",
        f"50.0 % of the items have a score, before it was 100.0 % {through}",
    )


@each_row(
    ("failed", "by_others", "found"),
    [
        # 0.5 + 0.45 is what a ranked model needs, and less is not; a dataset on which the model failed, too, is the model's.
        (SEEKER, 0.45, []),
        (SEEKER, 0.44, ["item coverage"]),
        (SEEKER | {"tested"}, 0.45, ["coverage"]),
        (frozenset({"tested"}), 0.0, ["coverage", "item coverage"]),
    ],
)
def test_what_the_model_lost_beside_helpers_is_found(failed: frozenset[str], by_others: float, found: list[str]) -> None:
    now = SystemScores(vetoed=False, coverage=0.5, item_coverage=0.5, datasets=frozenset({"d"}), failed={"e": failed})
    now = replace(now, lost_by_others=by_others)
    assert [one.what for one in find_regressions([], WHOLE, now, TWO)] == found


def test_a_veto_undecided_by_helpers_is_a_warning() -> None:
    design = blueprint(ability("able", task("d")), ability("safe", task("e")), gate=Gate(ability="safe", threshold=60))
    now = replace(WHOLE, vetoed=None, failed={"e": SEEKER, "d": frozenset({"tested"})})
    assert find_regressions([], WHOLE, now, design) == ()
    remark = "the veto is undecided because of failures of seeker (s), not of the model"
    assert find_warnings(WHOLE, now, design) == (remark,)
    (found,) = find_regressions([], WHOLE, replace(now, failed={"e": frozenset({"tested"})}), design)
    assert found.what == "veto"
