"""Each Python that we name: every package has a wheel for it, and MoodFlow is installed and run where there is an interpreter."""

from pathlib import Path

import pytest

from tests.docs.pages import ROOT
from tests.flows.scripted import policy
from tests.installing.environments import PINS, find_python, new_environment, uv
from tests.model_server import ModelServer

pytestmark = pytest.mark.long

PYTHONS = ("3.12", "3.13", "3.14")
WITHOUT_WHEEL = {"jieba", "rouge-score"}
"""Packages of plain Python that are on the index as sources only."""

COMPILED = {
    "numpy",
    "polars-runtime-32",
    "pyarrow",
    "pydantic-core",
    "scipy",
    "tokenizers",
    "torch",
    "vl-convert-python",
    "xllamacpp",
}
DATASETS = ("mini_eq_test", "mini_text_matching")


@pytest.mark.parametrize("python", PYTHONS)
def test_pins_have_wheels(python: str) -> None:
    wheels = [f"--only-binary={name}" for name in PINS.keys() - WITHOUT_WHEEL]
    pinned = ("--constraint", "constraints.txt", "--python-version", python)
    done = uv("pip", "compile", "pyproject.toml", "--all-extras", "--quiet", "--no-header", "--no-annotate", *pinned, *wheels)
    assert done.status == 0, done.err
    assert {line.partition("==")[0] for line in done.out.splitlines()} >= COMPILED


@pytest.mark.parametrize("python", PYTHONS)
def test_base_is_installed_and_scores_the_gold_answers(python: str, tmp_path: Path) -> None:
    interpreter = find_python(python)
    if interpreter is None:
        pytest.skip(f"no Python {python} on this machine")
    environment = new_environment(tmp_path / "environment", interpreter)
    environment.install(str(ROOT))
    with ModelServer(policy(DATASETS, "gold")) as server:
        model = ("--model", "my-model", "--base-url", server.base_url)
        done = environment.run("moodflow", "run", "moodbench-mini", "--datasets", ",".join(DATASETS), *model, "--json")
    assert done.out, done.err
    assert {row["dataset"]: row["value"] for row in done.document["raw_scores"]} == dict.fromkeys(DATASETS, 1.0)
