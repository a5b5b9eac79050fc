"""Commands about two small datasets, a model and its judge, with prices."""

from pathlib import Path

from tests.flows.command import Ended, ended

DATASETS = ("mini_user_safety", "mini_summarization")
PRICES = """
currency: EUR
prices:
  - {model: "scripted", input_per_million: 2.5, output_per_million: 10, as_of: 2026-01-31, source: a test}
  - {model: "rater", input_per_million: 1, output_per_million: 1, as_of: 2026-01-31, source: a test}
  - {model: "unused", input_per_million: 1, output_per_million: 1, as_of: 2026-01-31, source: a test}
"""


def ask(stage: str, url: str, folder: Path, *more: str, priced: bool = True) -> Ended:
    """Run a stage on the datasets, in the lake of a folder: the model `scripted`, the judge `rater`, both at this server."""
    model = ("--model", "scripted", "--base-url", url, "--judge", "rater", "--judge-base-url", url)
    names = ("--datasets", ",".join(DATASETS), "--set", "bootstrap=0")
    table = folder / "prices.yaml"
    table.write_text(PRICES, encoding="utf-8")
    prices = ("--set", f"prices={table}") if priced else ()
    return ended(stage, "moodbench-mini", *names, *model, "--lake", folder / "lake", *prices, *more)
