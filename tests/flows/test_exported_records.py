"""Records of Every Eval Ever of the four benchmarks: dialogues, parts and several settings keep the schemas too."""

import json
from pathlib import Path

import pytest

from tests.flows.command import ended
from tests.flows.test_golden_lake import PLANS, config_of, lakes, silent_server
from tests.mirror import needs_mirror
from tests.model_server import ModelServer
from tests.tasks.interchange.test_every_eval_ever import validator

__all__ = ["lakes", "silent_server"]


@needs_mirror
@pytest.mark.parametrize("benchmark", PLANS)
def test_records_of_every_benchmark_keep_the_schemas(
    prefect_server: str,  # noqa: ARG001  its settings
    lakes: Path,
    silent_server: ModelServer,
    benchmark: str,
) -> None:
    lake, config = lakes / benchmark, config_of(benchmark, lakes, silent_server.base_url)
    run = ended("run", benchmark, "--config", config, "--lake", lake, "--json").document["run"]
    done = ended("export", run, "--to", "every-eval-ever", "--out", lakes / "out", "--redact", "--lake", lake, "--json")
    assert done.status == 0, done.err
    (file,) = done.document["files"]
    path = lakes / "out" / file
    assert [*validator("eval").iter_errors(json.loads(path.read_text(encoding="utf-8")))] == []
    lines = path.with_name(f"{path.stem}_samples.jsonl").read_text(encoding="utf-8").splitlines()
    samples = [json.loads(line) for line in lines]
    assert [error for line in samples for error in validator("instance_level_eval").iter_errors(line)] == []
    assert len({(line["evaluation_result_id"], line["sample_id"]) for line in samples}) == len(samples) > 0
    if benchmark == "esc-eval-mini":
        assert {line["interaction_type"] for line in samples} == {"multi_turn"}
        assert {said["role"] for said in samples[0]["messages"]} == {"user", "assistant"}
