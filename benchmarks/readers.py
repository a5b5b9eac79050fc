"""How long whatever reads model text takes over the most awkward texts of 100,000 characters.

Prints, for each reader, the slowest of the shapes that the tests double: a unit again and again, open braces, a key many times.
The aim is 50 ms of CPU time for one text.

Usage: python benchmarks/readers.py [--characters 100000] [--only NAME ...]
"""

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.tasks.readers import READERS, SHAPES, cpu_seconds  # noqa: E402  the project is imported from its folder

AIM_MS = 50


def main() -> None:
    """Read every shape by every reader; print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--characters", type=int, default=100_000)
    parser.add_argument("--only", nargs="+", choices=READERS, default=list(READERS))
    options = parser.parse_args()
    texts = {name: shape(options.characters) for name, shape in SHAPES.items()}
    for name in options.only:
        READERS[name]("A")  # what is loaded on first use
        taken = {}
        for shape, text in texts.items():
            taken[shape] = cpu_seconds(READERS[name], text)
            if 1000 * taken[shape] > AIM_MS:
                taken[shape] = min(taken[shape], cpu_seconds(READERS[name], text))
        slowest = max(taken, key=taken.__getitem__)
        over = sum(1000 * seconds > AIM_MS for seconds in taken.values())
        print(f"{name:30} {1000 * taken[slowest]:8.0f} ms: {slowest}; above {AIM_MS} ms: {over} of {len(taken)}", flush=True)


if __name__ == "__main__":
    main()
