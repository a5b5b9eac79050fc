"""What a judge may be used for in a dimension, from its agreement with people and its checks (judge certificate, section 4)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from schemas.documents.certificates import CertifiedDimension, CheckFigure, JudgeAgreement
from schemas.tables.ratings import CERTIFICATE_VERDICTS, CertificateVerdict

BELOW_CEILING, MOST_BIAS_STEPS, LEAST_BY_SYSTEM = 0.05, 0.25, 0.8
"""How far below people a judge that scores items may lie, and its bias; the correlation over systems of one that ranks them."""

FEWEST_RATERS = 2

FOR_SYSTEMS = ("repeat", "injection", "format")
"""Checks that a judge which ranks systems must pass."""

Rows = Mapping[tuple[str, str], JudgeAgreement]
"""Rows of one judge and dimension, by statistic and level."""


@dataclass(frozen=True)
class JudgeEvidence:
    """What decides about a judge in one dimension.

    `raters`: most people who rated one unit. `step`: mean distance of neighbouring ratings of the people's scale. `applicable`:
    names of the checks that the texts allow.
    """

    dimension: str
    judge: Rows
    people: Rows
    raters: int
    step: float
    figures: Sequence[CheckFigure]
    applicable: Sequence[str]

    @property
    def failed(self) -> tuple[str, ...]:
        """Return the checks of which a figure breaks its limit."""
        return tuple(dict.fromkeys(figure.check for figure in self.figures if figure.passed is False))

    @property
    def missing(self) -> tuple[str, ...]:
        """Return the applicable checks that are not decided: not tried, or with a figure that cannot be held to its limit."""
        decided = {figure.check for figure in self.figures if figure.passed is not None}
        decided -= {figure.check for figure in self.figures if figure.limit and figure.passed is None}
        return tuple(name for name in self.applicable if name not in decided)


def certify_dimension(evidence: JudgeEvidence) -> CertifiedDimension:
    """Return the verdict of the first rule that decides, in the order of section 4, with its numbers in words."""
    judge, pooled = evidence.judge, evidence.judge["spearman", "pooled"]
    alpha, mae, bias = evidence.people.get(("alpha_ordinal", "pooled")), judge["mae", "pooled"], judge["bias", "pooled"]
    known = CertifiedDimension(
        dimension=evidence.dimension,
        verdict="not usable",
        rule="",
        spearman=pooled.value,
        same_targets=pooled.same_targets_value,
        ceiling=pooled.human_value,
        alpha=alpha and alpha.value,
        alpha_low=alpha and alpha.value_low,
        mae=mae.value,
        constant_mae=mae.constant_value,
        bias_steps=None if bias.value is None else bias.value / evidence.step,
        by_system=judge["spearman", "by_system"].value,
        n_units=pooled.n_units or 0,
        n_clusters=pooled.n_clusters or 0,
        failed_checks=evidence.failed,
        missing_checks=evidence.missing,
    )
    reasons = list[str]()
    for verdict, rule in RULES.items():
        decides, reason = rule(evidence, known)
        if decides:
            return known.model_copy(update={"verdict": verdict, "rule": reason})
        reasons += [reason] if reason else []
    return known.model_copy(update={"rule": "; ".join(reasons)})


def worst(verdicts: Sequence[CertificateVerdict]) -> CertificateVerdict:
    """Return the worst of verdicts."""
    return max(verdicts, key=CERTIFICATE_VERDICTS.index)


Decision = tuple[bool, str]
"""Whether a rule decides, and why; of a rule that does not, why not."""


def _no_ceiling(evidence: JudgeEvidence, known: CertifiedDimension) -> Decision:
    if evidence.raters < FEWEST_RATERS:
        return True, f"{evidence.raters} rating of a text by people; their agreement needs {FEWEST_RATERS}"
    low = known.alpha_low
    return low is None or low <= 0, f"people's alpha {_number(known.alpha)}, lower limit {_number(low)}; more than 0 is needed"


def _no_better_than_constant(evidence: JudgeEvidence, known: CertifiedDimension) -> Decision:
    exact, mae = (evidence.judge[name, "pooled"] for name in ("exact", "mae"))
    better = any(row.gain_low is not None and row.gain_low > 0 for row in (exact, mae))
    agreement = f"exact {_number(exact.value)} (constant {_number(exact.constant_value)}, gain from {_number(exact.gain_low)})"
    distance = f"MAE {_number(mae.value)} (constant {_number(known.constant_mae)}, gain from {_number(mae.gain_low)})"
    return not better, "" if better else f"{agreement}, {distance}; one gain must lie above 0 with its interval"


def _items(evidence: JudgeEvidence, known: CertifiedDimension) -> Decision:
    own, ceiling, bias = known.same_targets, known.ceiling, known.bias_steps
    near = own is not None and ceiling is not None and at_least(own, ceiling - BELOW_CEILING)
    even = bias is not None and at_least(MOST_BIAS_STEPS, abs(bias))
    told = f"Spearman {_number(own)} where people reach {_number(ceiling)} (at most {BELOW_CEILING} less), "
    told += f"bias {_number(bias)} steps (at most {MOST_BIAS_STEPS})"
    return near and even and not (evidence.failed or evidence.missing), told + _checks(evidence.failed, evidence.missing)


def _systems_only(evidence: JudgeEvidence, known: CertifiedDimension) -> Decision:
    row = evidence.judge["spearman", "by_system"]
    ranks = row.value is not None and at_least(row.value, LEAST_BY_SYSTEM) and row.value_low is not None and row.value_low > 0
    failed = [name for name in FOR_SYSTEMS if name in known.failed_checks]
    missing = [name for name in FOR_SYSTEMS if name in known.missing_checks]
    told = (
        f"Spearman over systems {_number(row.value)}, lower limit {_number(row.value_low)} (at least {LEAST_BY_SYSTEM}, above 0)"
    )
    return ranks and not (failed or missing), told + _checks(failed, missing)


RULES: Mapping[CertificateVerdict, Callable[[JudgeEvidence, CertifiedDimension], Decision]] = {
    "no ceiling": _no_ceiling,
    "no better than a constant": _no_better_than_constant,
    "items": _items,
    "systems only": _systems_only,
}
"""In the order in which they are tried; where none decides, the judge is not usable."""


def at_least(value: float, limit: float) -> bool:
    """Return whether a value reaches its limit, which binary fractions such as 0.8 - 0.05 may miss by their last digit."""
    return value >= limit - 1e-12


def _checks(failed: Sequence[str], missing: Sequence[str]) -> str:
    told = [f"{words} {', '.join(names)}" for words, names in (("failed", failed), ("not decided", missing)) if names]
    return f", checks {'; '.join(told)}" if told else ", checks passed"


def _number(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.4g}"
