"""Parts of a record of Every Eval Ever: a model, a score with its metric and its interval, and how answers were sampled."""

import json
from pathlib import Path
from typing import Any

import pytest

from schemas.api_capabilities import ApiCapabilities
from schemas.chat import ModelEntry
from schemas.documents.score_part import MetricPart, ScorePart
from schemas.errors import LakeError
from schemas.metrics import METRICS, CentredNormalisation, RatioNormalisation
from schemas.model_description import ModelDescription
from tasks.interchange.every_eval_ever import ModelRecord, write_published
from tasks.interchange.every_eval_ever_results import (
    ExportOptions,
    add_uncertainty,
    best_value,
    composite,
    describe_model,
    generation_config,
    metric_result,
    source_of,
)
from tests.tasks.interchange.test_every_eval_ever import scores_of
from tests.tasks.interchange.written_run import MODEL, written_run

OPTIONS = ExportOptions("Lab", "first_party", {"m": "maker/model-1"})
OPEN = ModelDescription(institution="Maker", series="M", openness="open", released="2025-04")


@pytest.mark.parametrize(
    ("base_url", "where", "deployed"),
    [
        (None, {"inference_engine": {"name": "llama.cpp"}}, "self_deployed"),
        ("http://localhost:11434/v1", {"inference_engine": {"name": "ollama"}}, "self_deployed"),
        ("http://127.0.0.1:9/v1", {}, "self_deployed"),
        ("http://localhost.example.org/v1", {}, "unknown"),
        ("https://api.openai.com/v1", {"inference_platform": "openai"}, "externally_managed"),
        ("https://example.org/v1", {}, "unknown"),
    ],
)
def test_model_says_where_it_ran(base_url: str | None, where: dict[str, Any], deployed: str) -> None:
    name = "other" if base_url else "smollm2"
    told = describe_model(name, OPTIONS, ModelEntry(name=name, base_url=base_url))
    details = told.pop("additional_details")
    assert told == {"name": name, "id": name, **where}
    assert details["deployment_type"] == deployed
    assert details["model_availability"] == ("open_weights" if base_url is None else "unknown")


def test_model_is_named_by_the_hub_and_its_maker() -> None:
    assert (describe_model("m", OPTIONS)["id"], describe_model("m", OPTIONS, about=OPEN)["developer"]) == (
        "maker/model-1",
        "maker",
    )
    told = describe_model("n", OPTIONS, about=OPEN)
    details = {"deployment_type": "unknown", "model_availability": "open_weights", "series": "M", "released": "2025-04"}
    assert told == {"name": "n", "id": "n", "developer": "Maker", "additional_details": details}
    closed = ModelDescription(openness="closed")
    assert describe_model("n", OPTIONS, about=closed)["additional_details"]["model_availability"] == "closed_weights"


def test_composite_is_named_by_its_path() -> None:
    told = composite("tiny.a.low.task_d.base", "tiny", 12.5, "Task", {"n_total": "3"})
    assert told["source_data"] == {"source_type": "other", "dataset_name": "tiny"}
    assert told["score_details"] == {"score": 12.5, "details": {"n_total": "3"}}
    config = told["metric_config"]
    assert (config["metric_id"], config["metric_name"], config["metric_kind"]) == (
        "moodflow.tiny.a.low.task_d",
        "Task",
        "composite",
    )
    assert (config["min_score"], config["max_score"], config["metric_unit"], config["lower_is_better"]) == (
        0,
        100,
        "points",
        False,
    )


def part(metric: str, rule: Any, raw: float | None) -> tuple[ScorePart, MetricPart]:
    named: dict[str, Any] = {"dataset": "d", "method": "choice", "rubric": None, "profile": "corrected", "n_clusters": 7}
    measured = MetricPart(metric=metric, raw=raw, normalisation=rule, formula="f", n_unparsed=2, **named)
    counts: dict[str, Any] = {"datasets_scored": 1, "datasets_total": 1, "n_scored": 8, "n_total": 9, "computed": None}
    return ScorePart(kind="metric", id=metric, title="T", score=62.5, weight=0.5, measured=measured, **counts), measured


RATIO, CENTRED = RatioNormalisation(), CentredNormalisation(best=0, span=1)


@pytest.mark.parametrize(
    ("metric", "rule", "named", "bounds", "lower"),
    [
        ("accuracy", RATIO, "accuracy", (0, 1, "proportion"), False),
        ("macro_f1", RATIO, "f1_macro", (0, 1, "proportion"), False),
        ("exact_match", RATIO, "moodflow.exact_match", (0, 1, "proportion"), False),
        ("bias_score_ambiguous", CENTRED, "moodflow.bias_score_ambiguous", (-1, 1, "points"), False),
        ("emotion_intensity_mae", CentredNormalisation(best=0, span=6), "moodflow.emotion_intensity_mae", (0, 6, "points"), True),
    ],
)
def test_metric_has_its_own_scale(metric: Any, rule: Any, named: str, bounds: tuple[object, ...], lower: bool) -> None:
    told = metric_result("n", *part(metric, rule, 0.625), None)
    config = told["metric_config"]
    assert (config["metric_id"], config["metric_kind"], config["evaluation_description"]) == (
        named,
        metric,
        METRICS[metric].words,
    )
    assert (config["min_score"], config["max_score"], config["metric_unit"], config["lower_is_better"]) == (*bounds, lower)
    assert config["additional_details"] == {"profile": "corrected", "on_0_100": "f"}
    assert told["score_details"]["score"] == 0.625
    counts = {"n_scored": "8", "n_total": "9", "score_0_100": "62.5", "weight": "0.5", "n_unparsed": "2", "n_clusters": "7"}
    assert told["score_details"]["details"] == counts


def test_best_value_is_bound_or_centre() -> None:
    assert [best_value("accuracy", RATIO), best_value("stereotype_score", CentredNormalisation(best=0.5, span=0.5))] == [1, 0.5]


def test_interval_needs_both_ends() -> None:
    told: dict[str, Any] = {"score_details": {}}
    add_uncertainty(told, 8, 0.25, 0.75)
    interval = {"lower": 0.25, "upper": 0.75, "confidence_level": 0.95}
    method = {"method": "Wilson score interval over clusters of items"}
    assert told["score_details"]["uncertainty"] == {
        "num_samples": 8,
        "confidence_interval": interval | method,
    }
    for low, high in ((None, None), (0.25, None), (None, 0.75)):
        add_uncertainty(told, 8, low, high)
        assert told["score_details"]["uncertainty"] == {"num_samples": 8}
    add_uncertainty(told, 8, 0.0, 0.0)
    assert told["score_details"]["uncertainty"]["confidence_interval"]["upper"] == 0


def test_several_repositories_are_addresses(tmp_path: Path) -> None:
    (notice,) = written_run(tmp_path).manifest.datasets
    sources = ("huggingface.co/owner/d at 01", "github.com/owner/e at 02", "huggingface.co/owner/d at 01")
    told = source_of("d", notice.model_copy(update={"sources": sources}))
    assert (told["source_type"], told["dataset_name"]) == ("url", "d")
    assert told["url"] == ["https://huggingface.co/datasets/owner/d/tree/01", "https://github.com/owner/e/tree/02"]
    assert told["additional_details"] == {"sources": "; ".join(sources)}
    assert source_of("d", None) == {"source_type": "other", "dataset_name": "d", "additional_details": {}}


@pytest.mark.parametrize(("effort", "reasoning"), [(None, {}), ("none", {"reasoning": False}), ("low", {"reasoning": True})])
def test_sampling_is_that_of_entry_and_plan(tmp_path: Path, effort: Any, reasoning: dict[str, bool]) -> None:
    dialect = ApiCapabilities(reasoning_effort=effort) if effort else None
    entry = ModelEntry.model_validate(MODEL).model_copy(update={"dialect": dialect})
    told = generation_config(written_run(tmp_path).manifest, entry, "cot")
    assert told["generation_args"] == {"temperature": 0.5, "top_p": 1.0, "max_tokens": 64} | reasoning
    assert told["additional_details"] == {"setting": "cot", "sampling_seed": "3", "run_seed": "0", "repeat": "2"}


ABOUT = {"model_info": {"id": "maker/m"}, "source_metadata": {"source_name": "S"}}


def result(score: float | None) -> dict[str, Any]:
    return {"evaluation_name": "n", "score_details": {"score": score}, "metric_config": {"min_score": 0, "max_score": 1}}


@pytest.mark.parametrize("score", [-0.001, 1.001])
def test_score_outside_its_bounds_is_an_error(score: float) -> None:
    record = ModelRecord.of("b", "r", "evaluation_run", OPTIONS, ABOUT)
    with pytest.raises(LakeError, match="outside the bounds of its metric"):
        record.add(result(score))
    for end in (0, 1, None):
        record.add(result(end))
    assert [each["score_details"]["score"] for each in record.results] == [0, 1]
    assert (record.missing, record.results[0]["evaluation_result_id"]) == (["n"], "b/maker_m/r/n")
    assert record.about["source_metadata"] == {
        "source_type": "evaluation_run",
        "source_organization_name": "Lab",
        "evaluator_relationship": "first_party",
        "source_name": "S",
    }


def test_export_without_samples_removes_those_of_before(tmp_path: Path) -> None:
    info = {"name": "m", "id": "maker/m x"}
    record = ModelRecord.of("b", "r", "evaluation_run", OPTIONS, ABOUT | {"model_info": info})
    first = record.write(tmp_path, ["{}", "{}"])
    (file,) = first.files
    samples = tmp_path / f"{file.removesuffix('.json')}_samples.jsonl"
    assert (first.samples, samples.read_text(encoding="utf-8"), file.rpartition("/")[0]) == (2, "{}\n{}\n", "data/b/unknown/m_x")
    assert (record.write(tmp_path, []).files, samples.exists()) == ((file,), False)


def test_published_totals_are_those_of_the_table(tmp_path: Path) -> None:
    written = write_published("moodbench", tmp_path, OPTIONS)
    read = [json.loads((tmp_path / file).read_text(encoding="utf-8")) for file in written.files]
    records = {record["model_info"]["name"]: record for record in read}
    assert (len(records), written.samples) == (30, 0)
    # Table 4: the abilities as printed; below 60 in values and safety there is a veto.
    assert scores_of(records["qwen3-0.6b"]) == {
        "moodbench.total.base": 0,
        "moodbench.total_before_veto.base": pytest.approx(47.4),
        "moodbench.foundational.base": 49.2,
        "moodbench.emotional.base": 46.83,
        "moodbench.companionship.base": 46.36,
        "moodbench.values_safety.base": 40.83,
    }
    assert "moodbench.total_before_veto.base" not in scores_of(records["glm-4-9b"])
    assert records["glm-4-9b"]["model_info"]["developer"] == "Zhipu AI"
    assert records["glm-4-9b"]["source_metadata"]["source_type"] == "documentation"
