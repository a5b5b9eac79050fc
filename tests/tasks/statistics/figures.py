"""Figures beside what is expected of them, to the digits in which they are written."""

import sys
from collections.abc import Iterable

Figure = tuple[str, str, float]
"""What it is, as it is written, and what comes out."""


def assert_figures(figures: Iterable[Figure]) -> None:
    """Print a line per figure, expected and got, and fail if one differs in the digits that are written."""
    wrong = []
    for name, expected, got in figures:
        digits = len(expected.partition(".")[2])
        same = abs(got - float(expected)) <= 0.5000001 * 10**-digits
        line = f"{name:<60} expected {expected:>10} got {got:.{digits + 2}f}"
        sys.stdout.write(f"{line}\n" if same else f"{line}  <-- differs\n")
        wrong += [] if same else [line]
    assert not wrong
