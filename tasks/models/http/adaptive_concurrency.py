"""Adapt the number of calls in flight: few at first, more while the server keeps up, fewer when it does not."""

from typing import NamedTuple

from schemas.vocabulary import Failure

FIRST = 8
"""Calls in flight at first: a small server of one's own answers these in time, however slow it is."""

USUAL = 64
"""The default limit. A user who allows more knows the server: it begins with that, and no queue makes less than half of it."""

ADDED_AT_FIRST = 3
LEAST_ROUND = 16
"""Least number of answers in a round; fewer say too little."""

RISING = 2.0
SLACK_S = 0.1
"""Beyond RISING times the lowest latency seen and this much more, calls wait in the server's queue. What is below the slack may
as well be spent in our own process."""

GROWTH, SHRINK_QUEUED = 1.1, 0.8
AS_FAST = 0.93
"""Share of the best throughput that counts as the same: what is measured in one round varies by as much."""

FORGET = 0.99
"""Left of the best throughput after each round, so that one lucky round does not count for ever."""

ROUNDS_OF_REST = 16
"""How long a size is kept that a smaller one was slower than."""

SHRINK: dict[Failure, float] = {
    "http_429": 0.5,
    "http_5xx": 0.7,
    "timeout_connect": 0.7,
    "timeout_first_byte": 0.7,
    "timeout_total": 0.7,
    "connect": 0.7,
}
"""Failures that say the server has too much to do, and what is left of the size."""


class Best(NamedTuple):
    """The size at which most calls were answered, and how many per second."""

    size: float
    per_s: float


class AdaptiveConcurrency:
    """Number of calls that may be in flight, at most `most`.

    At first every answer adds three slots: four times as many per round trip. That ends with the first sign of overload: a
    failure, or a mean latency of twice the lowest while no more calls are answered per second. From then on the number grows by
    a tenth per round while latency holds, and shrinks by a fifth while calls queue: unless that turns out to be slower, in which
    case it is taken back for a while. A 429 halves it, a server error or a timeout takes three tenths, at most once per round.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._least = most // 2 if most > USUAL else min(most, FIRST)
        self._size = float(most if most > USUAL else self._least)
        self._opening = True
        self._shrunk = False
        self._rest = 0
        self._best = Best(0.0, 0.0)
        self._lowest_s: float | None = None
        self._began_s = self._latency_s = 0.0
        self._answers, self._round = 0, max(LEAST_ROUND, self.size)

    @property
    def size(self) -> int:
        """Calls that may be in flight."""
        return max(1, int(self._size))

    def note_answer(self, latency_s: float, now_s: float, *, full: bool) -> None:
        """Adapt to an answer, `latency_s` after it was sent. Unless all slots were used (`full`), the number does not grow."""
        if self._answers == 0:
            # A round begins where the last one ended, unless nothing was in flight for a while.
            self._began_s = max(self._began_s, now_s - latency_s)
        self._answers += 1
        self._latency_s += latency_s
        if full and self._opening:
            self._resize(self._size + ADDED_AT_FIRST)
        if self._answers >= self._round:
            self._end_round(now_s, full=full)

    def note_failure(self, failure: Failure) -> None:
        """Adapt to a failed call; some failures mean too much at once."""
        if failure in SHRINK and not self._shrunk:
            self._shrunk, self._opening, self._rest, self._best = True, False, 0, Best(0.0, 0.0)
            # Only a 429 says that it is the number of calls: a server may as well be broken for some of them.
            least = 1.0 if failure == "http_429" else min(self._size, max(1.0, self._least / 2))
            self._resize(max(least, self._size * SHRINK[failure]))

    def _end_round(self, now_s: float, *, full: bool) -> None:
        mean_s = self._latency_s / self._answers
        per_s = self._answers / max(now_s - self._began_s, 1e-6)
        if full and not self._shrunk:
            self._move(mean_s, per_s)
        self._lowest_s = mean_s if self._lowest_s is None else min(mean_s, self._lowest_s)
        self._began_s, self._answers, self._latency_s, self._shrunk = now_s, 0, 0.0, False
        self._round = max(LEAST_ROUND, self.size)

    def _move(self, mean_s: float, per_s: float) -> None:
        queued = self._lowest_s is not None and mean_s > RISING * self._lowest_s + SLACK_S
        slower = per_s < AS_FAST * self._best.per_s
        faster = per_s > self._best.per_s / AS_FAST
        best = self._best
        self._best = Best(self._size, per_s) if per_s >= best.per_s else best._replace(per_s=best.per_s * FORGET)
        if self._opening:
            self._opening = faster or not queued
            return
        self._rest = max(0, self._rest - 1)
        if slower and self._size < best.size:
            self._resize(best.size)
            self._rest = ROUNDS_OF_REST
        elif self._rest == 0 and queued and self._size > self._least:
            self._resize(max(self._least, self._size * SHRINK_QUEUED))
        elif self._rest == 0 and queued:
            # So few calls cannot be a queue: the questions have become longer.
            self._lowest_s = mean_s
        elif self._rest == 0:
            self._resize(max(self._size + 1, self._size * GROWTH))

    def _resize(self, size: float) -> None:
        self._size = min(float(self._most), max(1.0, size))
