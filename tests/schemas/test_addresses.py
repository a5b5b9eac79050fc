"""Addresses in messages hide what may be a secret."""

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
