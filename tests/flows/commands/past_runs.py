"""A lake with two past runs of the bundled items: a model that knows the gold, and one that always answers A."""

import json
import shutil
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

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


@cache
def make_past_runs(lake: Path) -> PastRuns:
    """Run both models, once for all tests that name one folder; needs the Prefect server of the tests."""
    return PastRuns(lake, ask(lake, "gold"), ask(lake, "always_a"))


def ask(lake: Path, behaviour: Behaviour) -> str:
    with ModelServer(policy(DATASETS, behaviour, permute=2)) as server:
        done = ask_mini("run", server.base_url, lake, DATASETS, "--set", "bootstrap=50", "--set", "permute=2", "--json")
        return str(done.document["run"])
