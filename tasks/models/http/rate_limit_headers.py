"""What servers say about their rate limits in the headers of an answer.

Forms in use: `x-ratelimit-remaining-requests` / `-tokens` with `x-ratelimit-reset-...` as a duration such as `6m0s` or `120ms`
(OpenAI and those that follow it) or in seconds, `anthropic-ratelimit-requests-remaining` with a point in time, and requests
alone in `x-ratelimit-remaining` (OpenRouter, with milliseconds since 1970) or `ratelimit-remaining` (in seconds).
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from tasks.text.backoff import read_retry_after

KINDS = ("requests", "tokens", "input-tokens", "output-tokens")
PART = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
NUMBER = re.compile(r"\d+(?:\.\d+)?")
LARGEST_DURATION_S = 1e6
"""Numbers beyond it are points in time, in seconds or milliseconds since 1970."""


def read_pause(headers: Mapping[str, str], tokens: float) -> float | None:
    """Seconds until the server takes another call, if an answer says that none is left now.

    Args:
        headers: of the answer; looked up without regard to case.
        tokens: of an ordinary call, prompt and reply; fewer left than these are none.

    Returns:
        None if calls are left, or the headers do not tell, or not when there will be more.
    """
    if not any("ratelimit" in name.lower() for name in headers):
        return None
    pauses = [pause for kind in KINDS if (pause := _pause_of(headers, kind, 1.0 if kind == "requests" else tokens)) is not None]
    return max(pauses, default=None)


def read_wait(headers: Mapping[str, str]) -> float | None:
    """Seconds a server that refused a call wants to be left alone; `retry-after-ms` is finer than `Retry-After`."""
    text = headers.get("retry-after-ms", "").strip()
    return float(text) / 1000 if NUMBER.fullmatch(text) else read_retry_after(headers)


def _pause_of(headers: Mapping[str, str], kind: str, needed: float) -> float | None:
    plain = (("x-ratelimit-remaining", "x-ratelimit-reset"), ("ratelimit-remaining", "ratelimit-reset"))
    for remaining, reset in (
        (f"x-ratelimit-remaining-{kind}", f"x-ratelimit-reset-{kind}"),
        (f"anthropic-ratelimit-{kind}-remaining", f"anthropic-ratelimit-{kind}-reset"),
        *(plain if kind == "requests" else ()),
    ):
        left = headers.get(remaining, "").strip()
        # What is overdrawn is below zero.
        if NUMBER.fullmatch(left.removeprefix("-")) and float(left) < needed:
            return read_duration(headers.get(reset, ""), headers.get("Date", ""))
    return None


def read_duration(text: str, date: str = "") -> float | None:
    """Seconds in `6m0s`, `120ms`, `7.5` or until a point in time; None if it is none of these.

    Args:
        text: of the header.
        date: the answer's own date; points in time are taken against the server's clock.
    """
    text = text.strip()
    parts = PART.findall(text)
    if parts and "".join(number + unit for number, unit in parts) == text:
        return sum(float(number) * SECONDS[unit] for number, unit in parts)
    try:
        if not NUMBER.fullmatch(text):
            return _until(datetime.fromisoformat(text), date)
        return float(text) if float(text) < LARGEST_DURATION_S else _until(_since_1970(float(text)), date)
    except ValueError:
        return None


def _since_1970(number: float) -> datetime:
    """Raises: ValueError if no calendar has it."""
    try:
        return datetime.fromtimestamp(number / 1000 if number > LARGEST_DURATION_S**2 else number, UTC)
    except (OverflowError, OSError) as error:
        raise ValueError(f"{number:g} is no point in time") from error


def _until(moment: datetime, date: str) -> float | None:
    try:
        now = parsedate_to_datetime(date)
    except ValueError:
        return None
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, (aware - (now if now.tzinfo else now.replace(tzinfo=UTC))).total_seconds())
