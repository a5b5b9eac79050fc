"""The extras that messages name are those of the install."""

import tomllib
from pathlib import Path

from schemas.extras import PACKAGES

ROOT = Path(__file__).parents[2]


def test_messages_know_every_extra_and_the_package_that_it_is_for() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert PACKAGES.keys() == extras.keys() - {"dev"}
    assert all(any(line.startswith(package) for line in extras[extra]) for extra, package in PACKAGES.items())
