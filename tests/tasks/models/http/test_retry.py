"""Retry delays and the circuit breaker, by hand."""

import random

import pytest

from schemas.chat import ChatReply
from schemas.vocabulary import FAILURES, Failure
from tasks.models.http.failures import RETRIES
from tasks.models.http.retry import CallRetryPolicy, CircuitBreaker
from tasks.text.backoff import BUDGET_S

PLAIN = CallRetryPolicy(draw=lambda: 0.0)
"""Takes nothing off, so that delays can be worked out by hand."""


def test_every_failure_has_a_rule() -> None:
    assert set(RETRIES) == set(FAILURES)


def test_delays_double_up_to_the_longest() -> None:
    # 1, 2, 4, 8, 16, 32 and then 64, which is cut to 60; the eighth attempt is the last one.
    delays = [PLAIN.delay_s("http_429", attempt, None, 0) for attempt in range(1, 9)]
    assert delays == [1, 2, 4, 8, 16, 32, 60, None]


def test_jitter_takes_up_to_half_off() -> None:
    policy = CallRetryPolicy(draw=random.Random(0).random)
    delays = [policy.delay_s("http_5xx", 1, None, 0) for _ in range(200)]
    # A factor drawn from 0.5 to 1 on a first delay of 1 s.
    assert all(delay is not None and 0.5 <= delay <= 1 for delay in delays)
    assert len(set(delays)) > 100


@pytest.mark.parametrize(
    ("asked_s", "waited_s", "delay_s"),
    [
        (7.5, 0, 7.5),
        (0.25, 0, 0.25),
        (BUDGET_S, 0, 300),
        (BUDGET_S, 1, None),
        (300.5, 0, None),
        (None, 299, 1),
        (None, 299.5, None),
    ],
)
def test_what_the_server_asks_for_is_honoured_within_the_budget(
    asked_s: float | None, waited_s: float, delay_s: float | None
) -> None:
    assert PLAIN.delay_s("http_429", 1, asked_s, waited_s) == delay_s


def test_a_refused_request_is_not_sent_again() -> None:
    assert PLAIN.delay_s("http_4xx", 1, None, 0) is None


@pytest.mark.parametrize(
    ("failures", "is_open"),
    [
        (["connect"] * 2, False),
        (["connect"] * 3, True),
        (["timeout_connect"] * 3, True),
        (["connect", "connect", None, "connect"], False),
        (["connect", "connect", "http_5xx", "connect"], False),
        (["connect", "connect", "connect", None], True),
    ],
)
def test_the_breaker_opens_for_good_after_connection_failures_in_a_row(failures: list[Failure | None], *, is_open: bool) -> None:
    breaker = CircuitBreaker(threshold=3)
    for failure in failures:
        breaker.report(ChatReply(failure=failure))
    assert breaker.is_open is is_open
