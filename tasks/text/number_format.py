"""Format numbers and times for readers. Null is a dash everywhere; it never becomes 0."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

NONE = "–"
_SPACE = "\u00a0"
_ALL = 100


def number(value: float | None, digits: int = 1) -> str:
    """Return fixed number of decimals; what rounds to nothing has no sign."""
    return NONE if value is None else f"{value:z,.{digits}f}"


def count(value: int | None) -> str:
    """Return a whole number with thousands apart."""
    return NONE if value is None else f"{value:,d}"


def interval(low: float | None, high: float | None, digits: int = 1) -> str:
    """Return both ends, or a dash if there is no interval."""
    return NONE if low is None or high is None else f"{low:z.{digits}f} to {high:z.{digits}f}"


def bracketed(low: float | None, high: float | None, digits: int = 1) -> str:
    """Return ` [78.1, 86.5]` to stand behind a score, nothing if there is no interval."""
    return "" if low is None or high is None else f" [{number(low, digits)}, {number(high, digits)}]"


def ordinal(n: int) -> str:
    """Return `1st`, `2nd`, `3rd`, `4th`, `11th`."""
    is_teen = n // 10 % 10 == 1
    return f"{n}{'th' if is_teen else {1: 'st', 2: 'nd', 3: 'rd'}.get(n % 10, 'th')}"


def percent(share: float | None) -> str:
    """Return whole percent; a share that is not quite none or all does not read as 0 % or 100 %."""
    if share is None:
        return NONE
    rounded = round(100 * share)
    if rounded == 0 and share > 0:
        return f"under 1{_SPACE}%"
    if rounded == _ALL and share < 1:
        return f"over 99{_SPACE}%"
    return f"{rounded}{_SPACE}%"


def describe_gate(total: Mapping[str, Any]) -> str:
    """Return what the veto is decided by, from a row of `totals`: score, interval, and how much of the gate that is."""
    if total["gate_score"] is None:
        return "the gate was not scored"
    between = interval(total["gate_ci_low"], total["gate_ci_high"], 2)
    score = f"the gate scored {number(total['gate_score'], 2)}" + (f" (95 % interval {between})" if between != NONE else "")
    shares = {"datasets": total["gate_coverage"], "items": total["gate_item_coverage"]}
    parts = [f"{percent(share)} of its {name}" for name, share in shares.items() if share is not None and share < 1]
    return f"{score}, over {listed(parts)}" if parts else score


def seconds(value: float | None) -> str:
    """Return seconds with two decimals."""
    return NONE if value is None else f"{value:.2f}{_SPACE}s"


def moment(at: str) -> str:
    """Return a time of ISO 8601 as people write it, in UTC and to the minute, such as `26 November 2026, 19:02 UTC`."""
    time = datetime.fromisoformat(at).astimezone(UTC)
    return f"{time.day} {time:%B %Y, %H:%M} UTC"


def money(value: float | None, currency: str | None) -> str:
    """Return an amount of money, as many decimals as a small one needs."""
    if value is None:
        return NONE
    unit = f"{_SPACE}{currency}" if currency else ""
    if value == 0:
        return f"0{unit}"
    for least, digits in ((1, 2), (0.01, 4), (0.000001, 6)):
        if value >= least:
            return f"{value:,.{digits}f}{unit}"
    return f"under 0.000001{unit}"


def weight(value: float) -> str:
    """Return a weight with no more decimals than it needs, three at most."""
    return f"{round(value, 3):g}"


def share_of(part: int, whole: int) -> float | None:
    """Return part / whole, null if there is no whole."""
    return part / whole if whole else None


def shares(parts: Mapping[str, float]) -> str:
    """Return shares by name, such as `62 % en and 38 % zh`."""
    return listed([f"{percent(share)} {name}" for name, share in parts.items()])


def counted(n: int, noun: str, plural: str | None = None) -> str:
    """Return `1 call`, `2 calls`; `plural` where an s does not make one."""
    return f"{n:,d} {noun if n == 1 else plural or noun + 's'}"


def list_counts(counts: Mapping[str, int]) -> str:
    """Return names with their counts, such as `off topic 2, out of part 1`."""
    return ", ".join(f"{name.replace('_', ' ')} {n:,d}" for name, n in counts.items())


def listed(parts: list[str]) -> str:
    """Return `a`, `a and b`, `a, b and c`."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def shorten(text: str, limit: int) -> str:
    """Return the beginning of one line of text, at most `limit` characters."""
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def signed(value: float | None, digits: int = 1) -> str:
    """Return a difference with its sign; one that rounds to nothing has none."""
    if value is None:
        return NONE
    return f"{value:+,.{digits}f}".replace("-", "−") if round(value, digits) else number(0.0, digits)


def say_ends(what: str, scores: Mapping[str, float]) -> str:
    """Return a sentence about the highest and the lowest score, by name."""
    best, worst = (end(scores, key=lambda name: round(scores[name], 1)) for end in (max, min))
    if best == worst:
        return f"{what} is {number(scores[best])} with all."
    return f"{what} is highest with {best} ({number(scores[best])}) and lowest with {worst} ({number(scores[worst])})."


def heat_step(score: float) -> int:
    """Return the step of the colour scale for a score on 0-100: 0 to 9."""
    return min(9, int(score // 10))
