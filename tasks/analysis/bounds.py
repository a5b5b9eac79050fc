"""One raw score to 0-100, number by number: the formulas of tasks.scoring.normalisation for those who read them."""

from schemas.blueprint import CentredNormalisation, GradeNormalisation, Normalisation, NumericNormalisation


def normalise(raw: float, rule: Normalisation) -> float | None:
    """The raw score on 0-100; null if it is a grade that the table does not have."""
    if isinstance(rule, GradeNormalisation):
        name = str(int(raw)) if raw == int(raw) else str(raw)
        return rule.table.get(name)
    if isinstance(rule, NumericNormalisation):
        return (raw - rule.min) / (rule.max - rule.min) * 100
    if isinstance(rule, CentredNormalisation):
        low, high = rule.best - rule.span, rule.best + rule.span
        return min(min(raw - low, high - raw) * 2 / (high - low) * 100, 100.0)
    return raw * 100 if rule.type == "ratio" else raw


def describe_normalisation(rule: Normalisation) -> str:
    """The rule as a formula with its bounds."""
    if isinstance(rule, GradeNormalisation):
        return "grade looked up: " + ", ".join(f"{grade} -> {points:g}" for grade, points in rule.table.items())
    if isinstance(rule, NumericNormalisation):
        return f"(raw - {_bound(rule.min)}) / ({_bound(rule.max)} - {_bound(rule.min)}) x 100"
    if isinstance(rule, CentredNormalisation):
        return f"(1 - |raw - {_bound(rule.best)}| / {rule.span:g}) x 100"
    return "raw x 100, raw in [0, 1]" if rule.type == "ratio" else "raw itself, already on 0-100"


def _bound(value: float) -> str:
    return f"({value:g})" if value < 0 else f"{value:g}"
