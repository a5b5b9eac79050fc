"""Headers about rate limits, in the forms servers send them."""

import pytest
from multidict import CIMultiDict

from tasks.models.http.rate_limit_headers import read_duration, read_pause, read_wait

DATE = "Sat, 21 Nov 2026 10:00:00 GMT"


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("6m0s", 360.0),
        ("1h2m3s", 3723.0),
        ("120ms", 0.12),
        ("2m59.56s", 179.56),
        ("7.5", 7.5),
        ("0", 0.0),
        ("2026-11-21T10:00:30Z", 30.0),
        ("2026-11-21T11:00:00+01:00", 0.0),
        ("1795255230", 30.0),
        ("1795255230000", 30.0),
        ("2026-11-21T09:59:00Z", 0.0),
        ("99999999999999999999", None),
        ("soon", None),
        ("", None),
        ("1x", None),
        ("-3", None),
    ],
)
def test_durations_and_points_in_time(text: str, seconds: float | None) -> None:
    found = read_duration(text, DATE)
    assert found == (None if seconds is None else pytest.approx(seconds))


def test_a_point_in_time_says_nothing_without_the_servers_date() -> None:
    assert read_duration("2026-11-21T10:00:30Z") is None


@pytest.mark.parametrize(
    ("headers", "pause_s"),
    [
        ({}, None),
        ({"x-ratelimit-remaining-requests": "5", "x-ratelimit-reset-requests": "9s"}, None),
        ({"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "9s"}, 9.0),
        ({"X-RateLimit-Remaining-Requests": "0", "X-RateLimit-Reset-Requests": "9s"}, 9.0),
        # 200 tokens are left and an ordinary call takes 500.
        ({"x-ratelimit-remaining-tokens": "200", "x-ratelimit-reset-tokens": "1m0s"}, 60.0),
        ({"x-ratelimit-remaining-tokens": "800", "x-ratelimit-reset-tokens": "1m0s"}, None),
        (
            {
                "anthropic-ratelimit-requests-remaining": "0",
                "anthropic-ratelimit-requests-reset": "2026-11-21T10:00:12Z",
                "Date": DATE,
            },
            12.0,
        ),
        (
            {
                "anthropic-ratelimit-output-tokens-remaining": "10",
                "anthropic-ratelimit-output-tokens-reset": "2026-11-21T10:00:20Z",
                "Date": DATE,
            },
            20.0,
        ),
        (
            {
                "x-ratelimit-remaining-requests": "0",
                "x-ratelimit-reset-requests": "2s",
                "x-ratelimit-remaining-tokens": "0",
                "x-ratelimit-reset-tokens": "30s",
            },
            30.0,
        ),
        ({"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1795255230000", "Date": DATE}, 30.0),
        ({"ratelimit-remaining": "0", "ratelimit-reset": "12"}, 12.0),
        ({"x-ratelimit-remaining-tokens": "-40", "x-ratelimit-reset-tokens": "7s"}, 7.0),
        ({"x-ratelimit-remaining-requests": "0"}, None),
        ({"x-ratelimit-remaining-requests": "none"}, None),
    ],
)
def test_a_pause_is_read_where_nothing_is_left(headers: dict[str, str], pause_s: float | None) -> None:
    assert read_pause(CIMultiDict(headers), tokens=500) == pause_s


@pytest.mark.parametrize(
    ("headers", "wait_s"),
    [
        ({"retry-after-ms": "1500", "Retry-After": "2"}, 1.5),
        ({"Retry-After": "2"}, 2.0),
        ({"Retry-After": "1.5"}, 1.5),
        ({"retry-after-ms": "later", "Retry-After": "2"}, 2.0),
        ({}, None),
    ],
)
def test_what_a_refusal_asks_for(headers: dict[str, str], wait_s: float | None) -> None:
    assert read_wait(CIMultiDict(headers)) == wait_s
