"""Delays before a call or a download is tried again."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from random import Random
from typing import Generic, TypeVar

KindT = TypeVar("KindT", bound=str)
"""Names of the failures that are told apart."""

SECONDS = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,9})?")
"""Of a `Retry-After`, thirty years at most; fractions are not in the standard, and sent."""

BUDGET_S = 300.0
"""Longest time spent waiting between the attempts of one call or download; a server that asks for more is not waited for."""

JITTER = 0.5
"""Share of a delay that is left to chance, so that what failed together does not come back together."""

_RANDOM = Random()  # noqa: S311
"""Of our own: delays are drawn in threads, where the global generator would disturb whoever has seeded it."""


@dataclass(frozen=True)
class Retry:
    """How one kind of failure is retried.

    `attempts` counts the first one too; `first_delay_s` doubles with each further attempt, up to `longest_delay_s`.
    """

    attempts: int
    first_delay_s: float = 0.0
    longest_delay_s: float = 0.0


@dataclass(frozen=True)
class Backoff(Generic[KindT]):
    """Decides on the next attempt; `draw` gives a random number in [0, 1)."""

    retries: Mapping[KindT, Retry]
    budget_s: float = BUDGET_S
    draw: Callable[[], float] = _RANDOM.random

    def delay_s(self, failure: KindT, attempt: int, retry_after_s: float | None, waited_s: float) -> float | None:
        """Return the seconds to wait before the next attempt, or None if there is none; `attempt`, from 1, is the failed one.

        `retry_after_s` is what the server asked for: it is never shortened, and replaces the table's delay. `waited_s` was spent
        waiting between the earlier attempts.
        """
        retry = self.retries[failure]
        if attempt >= retry.attempts:
            return None
        backoff_s = min(retry.first_delay_s * 2 ** (attempt - 1), retry.longest_delay_s)
        spread_s = backoff_s * JITTER * self.draw()
        delay_s = backoff_s - spread_s if retry_after_s is None else retry_after_s + spread_s
        return delay_s if waited_s + delay_s <= self.budget_s else None


def read_retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds the server asks to be left alone; a date is taken against the server's own clock."""
    text = headers.get("Retry-After", "").strip()
    if SECONDS.fullmatch(text):
        return float(text)
    until, now = read_date(text), read_date(headers.get("Date", ""))
    return max(0.0, (until - now).total_seconds()) if until and now else None


def read_date(text: str) -> datetime | None:
    """Return the point in time of a `Date` header; None if it is none."""
    try:
        date = parsedate_to_datetime(text)
    except (ValueError, OverflowError):  # a year that no calendar has
        return None
    return date if date.tzinfo else date.replace(tzinfo=UTC)
