"""A lake with two past runs of the bundled items: a model that knows the gold, and one that always answers A."""

import json
import os
import shutil
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from filelock import FileLock

from tests.flows.command import ask_mini
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
        text = (self.lake / "runs" / self.after / "manifest.json").read_text(encoding="utf-8")
        manifest: dict[str, Any] = json.loads(text)
        return manifest

    def copied(self, folder: Path, **changes: Any) -> "PastRuns":
        """The lake again, to be changed; the manifest of the run after with `changes`."""
        copy = PastRuns(Path(shutil.copytree(self.lake, folder / "lake")), self.before, self.after)
        if changes:
            text = json.dumps(copy.manifest | changes)
            (copy.lake / "runs" / copy.after / "manifest.json").write_text(text, encoding="utf-8")
        return copy


def past_runs(own: Path) -> PastRuns:
    """Return the runs; `own` is where the tests of this process write, of xdist a folder in that of all processes."""
    return make_past_runs((own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "past_runs")


@cache
def make_past_runs(folder: Path) -> PastRuns:
    """Run both models, once for all tests and processes that name one folder; needs the Prefect server of the tests."""
    folder.mkdir(exist_ok=True)
    lake, names = folder / "lake", folder / "names.json"
    with FileLock(folder / "making.lock"):
        if not names.exists():
            names.write_text(json.dumps([ask(lake, "gold"), ask(lake, "always_a")]), encoding="utf-8")
    return PastRuns(lake, *json.loads(names.read_text(encoding="utf-8")))


def ask(lake: Path, behaviour: Behaviour) -> str:
    with ModelServer(policy(DATASETS, behaviour, permute=2)) as server:
        done = ask_mini("run", server.base_url, lake, DATASETS, "--set", "bootstrap=50", "--set", "permute=2", "--json")
        return str(done.document["run"])
