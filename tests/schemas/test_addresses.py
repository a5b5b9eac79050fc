"""Addresses in messages hide what may be a secret, and take time in proportion to their length."""

from collections.abc import Callable
from time import process_time

import pytest

from schemas.addresses import hide_credentials


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("NAME=https://me:pass word@host/v1", "NAME=https://...@host/v1"),
        ("https://host/v1?key=secret#x", "https://host/v1?..."),
        ("name@https://a:b@c/v1?k", "...@https://...@c/v1?..."),
        ("me:secret@host and more", "...@host and more"),
        ("a provider @ home?", "a provider @ home?"),
    ],
)
def test_what_may_be_a_secret_is_hidden(text: str, shown: str) -> None:
    assert hide_credentials(text) == shown


@pytest.mark.parametrize("make", [lambda n: "x" * n, lambda n: "//" * n, lambda n: "@" * n, lambda n: "x " * n + "@"])
def test_hiding_takes_time_in_proportion(make: Callable[[int], str]) -> None:
    seconds = []
    for text in (make(50_000), make(100_000)):
        start = process_time()
        hide_credentials(text)
        seconds.append(process_time() - start)
    assert seconds[1] < 3 * seconds[0] + 0.5
