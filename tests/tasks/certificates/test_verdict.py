"""The verdict of a judge in a dimension: each rule, at its limits."""

from typing import Any

from schemas.documents.certificates import CheckFigure, JudgeAgreement
from tasks.certificates.sides import NOMINAL
from tasks.certificates.verdict import FOR_SYSTEMS, certify_dimension, hold, worst
from tests.rows import each_row

CHECKS = (*FOR_SYSTEMS, "length")


def row(statistic: str, level: str = "pooled", **values: Any) -> JudgeAgreement:
    known = {"source": "s", "judge": "j", "rubric": "r", "dimension": "warmth", "undefined_because": None, "value": None}
    return JudgeAgreement(**{**known, "statistic": statistic, "level": level, **values})


def figure(check: str, passed: bool | None, limit: str = "at most 0") -> CheckFigure:
    limit = limit if passed is None else "at most 0"
    return CheckFigure(check=check, dimension="warmth", figure="f", value=0.0, n=9, limit=limit, passed=passed)


def verdict_of(
    *,
    alpha_low: float | None = 0.1,
    gains: tuple[float | None, float | None] = (0.1, 0.1),
    same_targets: float | None = 0.75,
    bias: float = 0.25,
    by_system: tuple[float | None, float | None] = (0.5, 0.1),
    checks: dict[str, bool | None] | None = None,
    raters: int = 3,
    step: float = 1.0,
    limit: str = "at most 0",
) -> tuple[str, str]:
    """Verdict and rule of a judge that people's ceiling of 0.8 would let score items, but for what is said."""
    judge = [
        row("spearman", value=0.7, same_targets_value=same_targets, human_value=0.8),
        row("exact", value=0.6, constant_value=0.5, gain_low=gains[0]),
        row("mae", value=0.4, constant_value=0.5, gain_low=gains[1]),
        row("bias", value=bias),
        row("spearman", "by_system", value=by_system[0], value_low=by_system[1]),
    ]
    figures = [figure(name, passed, limit) for name, passed in {**dict.fromkeys(CHECKS, True), **(checks or {})}.items()]
    people = row("alpha_ordinal", value=0.4, value_low=alpha_low)
    rows = {(each.statistic, each.level): hold(each, step) for each in (*judge, people)}
    certified = certify_dimension(rows, raters, step, figures, CHECKS)
    return certified.verdict, certified.rule


def test_check_without_limit_in_a_dimension_is_not_missing() -> None:
    assert verdict_of(checks={"length": None}, limit="")[0] == "items"


@each_row(
    ("verdict", "values"),
    [
        ("items", {}),
        # 0.8 - 0.05 is 0.75, and a hair below it is not enough.
        ("not usable", {"same_targets": 0.7499}),
        ("not usable", {"same_targets": None}),
        ("items", {"bias": -0.25}),
        ("not usable", {"bias": 0.2501}),
        ("not usable", {"bias": -0.2501}),
        # On a scale in steps of 2 it is half as many steps.
        ("items", {"bias": 0.5, "step": 2.0}),
        ("not usable", {"checks": {"length": False}}),
        ("not usable", {"checks": {"length": None}}),
        ("no ceiling", {"alpha_low": 0.0}),
        ("items", {"alpha_low": 0.0001}),
        ("no ceiling", {"alpha_low": None}),
        ("no ceiling", {"raters": 1}),
        ("items", {"raters": 2}),
        # Better in one of the two is enough.
        ("items", {"gains": (0.0, 0.0001)}),
        ("items", {"gains": (0.0001, -0.2)}),
        ("no better than a constant", {"gains": (0.0, 0.0)}),
        ("no better than a constant", {"gains": (0.0, None)}),
        # What is undefined is not "not better", nor is it better.
        ("not usable", {"gains": (None, None)}),
        ("not usable", {"gains": (None, None), "by_system": (0.9, 0.5)}),
        # What people do not agree on, no constant decides.
        ("no ceiling", {"alpha_low": -0.1, "gains": (0.0, 0.0)}),
        ("systems only", {"bias": 1.0, "by_system": (0.8, 0.0001)}),
        ("not usable", {"bias": 1.0, "by_system": (0.7999, 0.5)}),
        ("not usable", {"bias": 1.0, "by_system": (0.9, 0.0)}),
        ("not usable", {"bias": 1.0, "by_system": (0.9, None)}),
        # Systems are ranked whatever length does; not whatever an injection does.
        ("systems only", {"by_system": (0.9, 0.5), "checks": {"length": False}}),
        ("not usable", {"by_system": (0.9, 0.5), "checks": {"injection": False}}),
        ("not usable", {"by_system": (0.9, 0.5), "checks": {"repeat": None}}),
    ],
)
def test_each_rule_decides_at_its_limit(verdict: str, values: dict[str, Any]) -> None:
    assert verdict_of(**values)[0] == verdict


def test_rule_says_its_numbers() -> None:
    assert verdict_of(alpha_low=-0.1)[1] == "people's alpha 0.4, lower limit -0.1; more than 0 is needed"
    assert verdict_of()[1] == (
        "Spearman 0.75 where people reach 0.8 (at most 0.05 less), bias 0.25 steps (at most 0.25), checks passed"
    )
    # Of a judge that is not usable both rules say why.
    both = verdict_of(bias=1.0, checks={"length": False, "format": None})[1]
    assert both.startswith("not for items: Spearman 0.75 where people reach 0.8")
    assert "bias 1 steps (at most 0.25), checks failed length, checks not decided format; not for systems: Spearman over" in both
    # Figures that hold are no reason.
    undecided = verdict_of(by_system=(0.9, 0.5), checks={"repeat": None})[1]
    assert undecided == "not for items: checks not decided repeat; not for systems: checks not decided repeat"


def test_rule_of_undefined_gain_says_so() -> None:
    rule = verdict_of(gains=(None, None))[1]
    assert rule.startswith(
        "whether it is better than a constant is undefined: exact 0.6 (best constant 0.5, gain from undefined)"
    )
    # A rule that does not decide is no reason.
    assert not {"alpha", "constant"} & {*verdict_of(bias=1.0)[1].split()}


def named_verdict(own: float, *, alpha_low: float = 0.1, gain_low: float = 0.1) -> tuple[str, str]:
    """Verdict and rule where ratings are names, and people are exact with each other in 0.6."""
    missing = (("spearman", "pooled"), ("mae", "pooled"), ("bias", "pooled"), ("spearman", "by_system"))
    rows = [row(*key, undefined_because=NOMINAL) for key in missing]
    rows.append(row("exact", value=own, same_targets_value=own, human_value=0.6, constant_value=0.3, gain_low=gain_low))
    rows += [row("alpha_ordinal", undefined_because=NOMINAL), row("alpha_nominal", value=0.2, value_low=alpha_low)]
    held = {(each.statistic, each.level): hold(each, 1.0, nominal=True) for each in rows}
    assert [key for key, each in held.items() if each.margin is not None] == [("exact", "pooled"), ("alpha_nominal", "pooled")]
    certified = certify_dimension(held, 3, 1.0, [figure(name, passed=True) for name in CHECKS], CHECKS)
    return certified.verdict, certified.rule


def test_names_need_exact_agreement() -> None:
    assert named_verdict(0.55) == (
        "items",
        "exact 0.55 where people reach 0.6 (at most 0.05 less), names have no bias, checks passed",
    )
    assert named_verdict(0.5499)[0] == "not usable"
    assert named_verdict(0.55, alpha_low=0.0) == ("no ceiling", "people's alpha 0.2, lower limit 0; more than 0 is needed")
    assert named_verdict(0.55, gain_low=0.0)[0] == "no better than a constant"


def test_worst_verdict_counts() -> None:
    assert worst(["items", "no ceiling", "not usable"]) == "no ceiling"
    assert worst(["items", "systems only"]) == "systems only"
