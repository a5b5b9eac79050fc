"""What a judge may be used for in a dimension, from its agreement with people and its checks (judge certificate, section 4)."""

from collections.abc import Iterator, Mapping, Sequence

from schemas.documents.certificates import CertifiedDimension, CheckFigure, JudgeAgreement
from schemas.tables.ratings import CERTIFICATE_VERDICTS, CertificateVerdict
from tasks.certificates.sides import NOMINAL

BELOW_CEILING, MOST_BIAS_STEPS, LEAST_BY_SYSTEM = 0.05, 0.25, 0.8
"""How far below people a judge that scores items may lie, and its bias; the correlation over systems of one that ranks them."""

FEWEST_RATERS = 2

FOR_SYSTEMS = ("repeat", "injection", "format")
"""Checks that a judge which ranks systems must pass."""

ALPHA, OF_NAMES, EXACT, MAE, BIAS = ((name, "pooled") for name in ("alpha_ordinal", "alpha_nominal", "exact", "mae", "bias"))
ITEMS, SYSTEMS = ("spearman", "pooled"), ("spearman", "by_system")
"""Statistic and level of the rows that rules of the verdict look at."""

Rows = Mapping[tuple[str, str], JudgeAgreement]
"""Rows of one dimension, of a judge and of people, by statistic and level."""


def hold(row: JudgeAgreement, step: float | None, *, nominal: bool = False) -> JudgeAgreement:
    """Return a row with the margin that a rule sets it, and whether it keeps that.

    `step`: as of `certify_dimension`; null = it is of no dimension, and no rule looks at it. `nominal`: ratings are names.
    """
    if step is None or row.undefined_because == NOMINAL or (row.statistic == OF_NAMES[0] and not nominal):
        return row
    margin, passed = None, None
    match row.statistic, row.level:
        case (("exact" | "mae" | "alpha_ordinal" | "alpha_nominal"), "pooled"):
            low = row.value_low if row.statistic.startswith("alpha") else row.gain_low
            margin, passed = 0.0, None if low is None else low > 0
        case "spearman", "pooled":
            own, ceiling = row.same_targets_value, row.human_value
            margin = BELOW_CEILING
            passed = None if own is None or ceiling is None else at_least(own, ceiling - margin)
        case "bias", "pooled":
            margin = MOST_BIAS_STEPS * step
            passed = None if row.value is None else at_least(margin, abs(row.value))
        case "spearman", "by_system":
            margin = LEAST_BY_SYSTEM
            passed = None if row.value is None else at_least(row.value, margin) and (row.value_low or 0) > 0
    return row.model_copy(update={"margin": margin, "passed": passed})


def certify_dimension(
    rows: Rows, raters: int, step: float, figures: Sequence[CheckFigure], applicable: Sequence[str]
) -> CertifiedDimension:
    """Return the verdict of the first rule that decides, in the order of section 4, with its numbers in words.

    `rows`: of the judge and of people, as `hold` returns them. `raters`: most people who rated one unit. `step`: mean distance of
    neighbouring ratings of the people's scale. `applicable`: names of the checks that the texts allow; one not decided counts
    like a failed one, if it has a limit here.
    """
    items, mae, bias = rows[ITEMS], rows[MAE], rows[BIAS]
    alpha = rows.get(OF_NAMES if items.undefined_because == NOMINAL else ALPHA)
    open_checks = {figure.check for figure in figures if figure.limit and figure.passed is None}
    known = CertifiedDimension(
        dimension=items.dimension,
        verdict="not usable",
        rule="",
        spearman=items.value,
        same_targets=items.same_targets_value,
        ceiling=items.human_value,
        alpha=alpha and alpha.value,
        alpha_low=alpha and alpha.value_low,
        mae=mae.value,
        constant_mae=mae.constant_value,
        bias_steps=None if bias.value is None else bias.value / step,
        by_system=rows[SYSTEMS].value,
        n_units=items.n_units or 0,
        n_clusters=items.n_clusters or 0,
        failed_checks=tuple(dict.fromkeys(figure.check for figure in figures if figure.passed is False)),
        missing_checks=tuple(name for name in applicable if name in open_checks),
    )
    rules = _rules(known, rows, raters)
    verdict = next(name for name, (decides, _) in rules.items() if decides)
    return known.model_copy(update={"verdict": verdict, "rule": rules[verdict][1]})


def _rules(known: CertifiedDimension, rows: Rows, raters: int) -> dict[CertificateVerdict, tuple[bool, str]]:
    """Return, in the order in which they are tried, whether each rule decides, and its numbers in words."""
    passed = {key for key, row in rows.items() if row.passed}
    wrong = (known.failed_checks, known.missing_checks)
    for_systems = [[name for name in FOR_SYSTEMS if name in names] for names in wrong]
    alpha = f"people's alpha {_number(known.alpha)}, lower limit {_number(known.alpha_low)}; more than 0 is needed"
    alone = f"{raters} rating of a text by people; their agreement needs {FEWEST_RATERS}"
    gains = ", ".join(
        f"{name} {_number(row.value)} (best constant {_number(row.constant_value)}, gain from {_number(row.gain_low)})"
        for name, row in (("exact", rows[EXACT]), ("MAE", rows[MAE]))
        if row.undefined_because != NOMINAL
    )
    better, decided = {EXACT, MAE} & passed, any(rows[key].passed is not None for key in (EXACT, MAE))
    own, people = rows[EXACT].same_targets_value, rows[EXACT].human_value
    if rows[ITEMS].undefined_because == NOMINAL:
        close = own is not None and people is not None and at_least(own, people - BELOW_CEILING)
        near, bias = f"exact {_number(own)} where people reach {_number(people)}", "names have no bias"
        ranks = "names have no order, so no systems are ranked"
    else:
        close = {ITEMS, BIAS} <= passed
        near = f"Spearman {_number(known.same_targets)} where people reach {_number(known.ceiling)}"
        bias = f"bias {_number(known.bias_steps)} steps (at most {MOST_BIAS_STEPS})"
        ranks = f"Spearman over systems {_number(known.by_system)}, lower limit {_number(rows[SYSTEMS].value_low)} "
        ranks += f"(at least {LEAST_BY_SYSTEM}, above 0)"
    near += f" (at most {BELOW_CEILING} less), {bias}"
    lacking = [
        *([] if better else [f"whether it is better than a constant is undefined: {gains}"]),
        *_lacking("items", near, *wrong, holds=close),
        *_lacking("systems", ranks, *for_systems, holds=SYSTEMS in passed),
    ]
    few = raters < FEWEST_RATERS
    return {
        "no ceiling": (few or not {ALPHA, OF_NAMES} & passed, alone if few else alpha),
        "no better than a constant": (decided and not better, f"{gains}; one gain must lie above 0 with its interval"),
        "items": (bool(better) and close and not any(wrong), f"{near}, checks passed"),
        "systems only": (bool(better) and SYSTEMS in passed and not any(for_systems), f"{ranks}, checks passed"),
        "not usable": (True, "; ".join(lacking)),
    }


def worst(verdicts: Sequence[CertificateVerdict]) -> CertificateVerdict:
    """Return the worst of verdicts."""
    return max(verdicts, key=CERTIFICATE_VERDICTS.index)


def at_least(value: float, limit: float) -> bool:
    """Return whether a value reaches its limit, which binary fractions such as 0.8 - 0.05 may miss by their last digit."""
    return value >= limit - 1e-12


def _lacking(use: str, figures: str, failed: Sequence[str], missing: Sequence[str], *, holds: bool) -> Iterator[str]:
    """Yield what keeps a judge from a use: figures that do not hold, checks that failed or are not decided."""
    reasons = [] if holds else [figures]
    reasons += [f"checks {words} {', '.join(names)}" for words, names in (("failed", failed), ("not decided", missing)) if names]
    if reasons:
        yield f"not for {use}: {', '.join(reasons)}"


def _number(value: float | None) -> str:
    return "undefined" if value is None else f"{value:z.4g}"
