"""A lake with two past runs of the bundled items: a model that knows the gold, and one that always answers A."""

import json
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

from flows.cli import app, guarded
from tests.flows.scripted import Behaviour, policy
from tests.model_server import ModelServer

DATASETS = (
    "mini_bias_detection",
    "mini_text_classification",
    "mini_reading_comprehension",
    "mini_summarization",
    "mini_irony_detection",
    "mini_eq_test",
    "mini_degree_of_personalization",
)
"""A few of each kind: choices, a mean over labels, two metrics, overlap with a reference, a judge, a questionnaire."""


class PastRuns(NamedTuple):
    """The lake, and the names of its runs: gold before, always A after."""

    lake: Path
    before: str
    after: str

    @property
    def manifest(self) -> dict[str, Any]:
        """Of the run after."""
        text = (self.lake / "runs" / self.after / "manifest.json").read_text(encoding="utf-8")
        manifest: dict[str, Any] = json.loads(text)
        return manifest


@cache
def make_past_runs(lake: Path) -> PastRuns:
    """Run both models, once for all tests that name one folder; needs the Prefect server of the tests."""
    return PastRuns(lake, ask(lake, "gold", "--set", "permute=2"), ask(lake, "always_a", "--set", "permute=2"))


def ask(lake: Path, behaviour: Behaviour, *more: str) -> str:
    """Run a scripted model over DATASETS; the name of the run."""
    with ModelServer(policy(DATASETS, behaviour, permute=2)) as server:
        model = ("--model", "scripted", "--base-url", server.base_url, "--judge", "scripted", "--judge-base-url", server.base_url)
        fields = ("--datasets", ",".join(DATASETS), "--lake", str(lake), "--set", "bootstrap=50", "--json", *more)
        out = StringIO()
        with redirect_stdout(out), redirect_stderr(StringIO()):
            guarded(lambda: app(["run", "moodbench-mini", *model, *fields]))
    return str(json.loads(out.getvalue())["run"])


def parts(part: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A part of an explanation and all that is printed below it."""
    yield part
    for below in part.get("parts", ()):
        yield from parts(below)
