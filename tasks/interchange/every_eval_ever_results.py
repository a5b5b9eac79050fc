"""Build the parts of a record of Every Eval Ever: a model, a source of items, a score with its metric, a judge."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any, Literal

from schemas.certificates import CoveredDataset
from schemas.chat import ModelEntry
from schemas.documents.certificates import Certificate
from schemas.documents.score_part import MetricPart, ScorePart
from schemas.lineage import DatasetNotice, RunManifest
from schemas.metrics import METRICS, CentredNormalisation, Normalisation
from schemas.model_description import ModelDescription
from schemas.vocabulary import Language
from tasks.interchange.every_eval_ever_samples import texts
from tasks.judging.prompts import describe_dimension
from tasks.judging.rubrics import load_rubric
from tasks.models.capabilities.providers import provider_at
from tasks.runs.past_run import PastRun
from tasks.scoring.normalisation import best_end

Relationship = Literal["first_party", "third_party", "collaborative", "other"]
Record = dict[str, Any]

COMMON = {"accuracy": "accuracy", "macro_f1": "f1_macro", "micro_f1": "f1_micro", "rouge_l": "rouge_l", "bleu": "bleu"}
"""Metrics that other tools measure alike, by our name; the id of any other begins with ours."""

_PINNED = re.compile(r"([\w.-]+/[\w.-]+/[\w.-]+) at (\S+)")
_LOCAL = re.compile(r"https?://(localhost|127\.0\.0\.1|\[::1\])[:/]")


@dataclass(frozen=True)
class ExportOptions:
    """What a run does not know of itself. `hub_ids`: `developer/model` by the model's name."""

    organisation: str = "unknown"
    relationship: Relationship = "third_party"
    hub_ids: Mapping[str, str] = field(default_factory=dict)
    redact: bool = False


def describe_model(
    name: str, options: ExportOptions, entry: ModelEntry | None = None, about: ModelDescription | None = None
) -> Record:
    """Return a model as the records name it: by its id on the hub where that is given, where it ran as far as that is known."""
    hub_id, about = options.hub_ids.get(name), entry.about if entry else about
    developer = hub_id.partition("/")[0] if hub_id else about.institution if about else None
    provider, embedded = provider_at(entry.base_url if entry else None), entry is not None and entry.base_url is None
    local = embedded or (entry is not None and _LOCAL.match(entry.base_url or "") is not None)
    info: Record = {"name": name, "id": hub_id or name} | ({"developer": developer} if developer else {})
    if embedded or (local and provider):
        info["inference_engine"] = {"name": provider.id if provider else "llama.cpp"}
    elif provider:
        info["inference_platform"] = provider.id
    openness = {"open": "open_weights", "closed": "closed_weights"}.get((about and about.openness) or "", "unknown")
    details = {
        "deployment_type": "self_deployed" if local else "externally_managed" if provider else "unknown",
        "model_availability": "open_weights" if embedded else openness,
    }
    return info | {"additional_details": details | (texts(series=about.series, released=about.released) if about else {})}


def composite(name: str, benchmark: str, score: float | None, title: str, details: dict[str, str]) -> Record:
    """Return a score on 0-100 that is made of others; null stays null."""
    path = name.removeprefix(f"{benchmark}.").rpartition(".")[0]
    identity = {"metric_id": f"moodflow.{benchmark}.{path}", "metric_name": title, "metric_kind": "composite"}
    return {
        "evaluation_name": name,
        "source_data": {"source_type": "other", "dataset_name": benchmark},
        "metric_config": identity | _bounds(0, 100, "points"),
        "score_details": {"score": score, "details": details},
    }


def metric_result(name: str, part: ScorePart, measured: MetricPart, notice: DatasetNotice | None) -> Record:
    """Return the raw score of a metric, on its own scale; null stays null."""
    row = METRICS[measured.metric]
    identity = {"metric_id": COMMON.get(row.name, f"moodflow.{row.name}"), "metric_name": part.title, "metric_kind": row.name}
    unit = "proportion" if tuple(row.bounds) == (0, 1) else "points"
    about = texts(profile=measured.profile, rubric=measured.rubric, on_0_100=measured.formula)
    shown = {"n_scored": part.n_scored, "n_total": part.n_total, "score_0_100": part.score, "weight": part.weight}
    own = {each: getattr(measured, each) for each in ("n_unparsed", "n_clusters", "design_effect")}
    return {
        "evaluation_name": name,
        "source_data": source_of(measured.dataset, notice),
        "metric_config": {
            **identity,
            **_bounds(*row.bounds, unit, lower=best_end(row.name, measured.normalisation) == "low"),
            "evaluation_description": row.words,
            "additional_details": about,
        },
        "score_details": {"score": measured.raw, "details": texts(**shown, **own)},
    }


def _bounds(low: float, high: float, unit: str, *, lower: bool = False) -> Record:
    return {"lower_is_better": lower, "score_type": "continuous", "min_score": low, "max_score": high, "metric_unit": unit}


def best_value(metric: str, rule: Normalisation) -> float:
    """Return the best value of a metric; one that is best between its bounds has neither end as its best."""
    return rule.best if isinstance(rule, CentredNormalisation) else METRICS[metric].bounds[1]


METHOD = "Wilson score interval over clusters of items"


def add_uncertainty(result: Record, samples: int, low: float | None, high: float | None) -> None:
    """Add the number of items behind a score, and its 95 % interval if it has one."""
    uncertainty: Record = {"num_samples": samples}
    if low is not None and high is not None:
        ends = {"lower": low, "upper": high, "confidence_level": 0.95, "method": METHOD}
        uncertainty["confidence_interval"] = ends
    result["score_details"]["uncertainty"] = uncertainty


def source_of(dataset: str, notice: DatasetNotice | None) -> Record:
    """Return where the items of a dataset come from, as the run's notice says: the hub, addresses, or neither."""
    stated = notice.sources if notice else ()
    repositories = {match[1]: match[2] for match in map(_PINNED.fullmatch, stated) if match}
    name = {"dataset_name": dataset, "additional_details": texts(sources=notice and "; ".join(notice.sources))}
    if not repositories or not all(map(_PINNED.fullmatch, stated)):
        return {"source_type": "other", **name}
    if len(repositories) == 1 and (only := next(iter(repositories))).startswith("huggingface.co/"):
        return {"source_type": "hf_dataset", **name, "hf_repo": only.partition("/")[2]}
    addresses = [
        f"https://huggingface.co/datasets/{repository.partition('/')[2]}/tree/{revision}"
        if repository.startswith("huggingface.co/")
        else f"https://{repository}/tree/{revision}"
        for repository, revision in repositories.items()
    ]
    return {"source_type": "url", **name, "url": addresses}


def llm_scoring(run: PastRun, covered: CoveredDataset, options: ExportOptions) -> Record:
    """Return the judge whose ratings count, its prompt, and how well people agree where a certificate covers it."""
    entries = [ModelEntry.model_validate(each) for each in run.manifest.role_models("judge", covered.dataset)]
    entry = next((each for each in entries if each.name == covered.judge), None)
    judge: Record = {"model_info": describe_model(covered.judge, options, entry), "weight": 1.0}
    rubric = load_rubric(covered.rubric, run.blueprint.own_rubrics)
    language: Language = rubric.language or min(rubric.instruction)
    dimensions = (describe_dimension(rubric, dimension, language) for dimension in rubric.dimensions)
    details = texts(rubric=rubric.id, rubric_sha256=rubric.sha256, judge_repeat=run.manifest.plan.get("judge_repeat"))
    scoring: Record = {
        "judges": [judge | ({"temperature": entry.sampling.temperature} if entry else {})],
        "input_prompt": "\n\n".join((rubric.instruction[language].strip(), *dimensions)),
        "aggregation_method": "average",
        "additional_details": details,
    }
    if covered.certificate:
        certificate = Certificate.model_validate_json((run.lake.root / covered.certificate.file).read_bytes())
        details |= texts(certificate=covered.certificate.verdict, certified_on=covered.certificate.source)
        if ceilings := [each.ceiling for each in certificate.dimensions if each.ceiling is not None]:
            scoring["expert_baseline"] = fmean(ceilings)
            details |= texts(
                expert_baseline="human ceiling: Spearman of each person and the mean of the others, mean over dimensions"
            )
    return scoring


def generation_config(manifest: RunManifest, entry: ModelEntry, setting: str) -> Record:
    """Return how answers were sampled, and what else the plan says of them."""
    effort, plan = entry.dialect.reasoning_effort if entry.dialect else None, manifest.plan
    arguments = {name: getattr(entry.sampling, name) for name in ("temperature", "top_p", "max_tokens")}
    known = {name: plan.get(name) for name in ("sample", "repeat", "permute", "too_long", "profile")}
    return {
        "generation_args": arguments | ({"reasoning": effort != "none"} if effort else {}),
        "additional_details": texts(setting=setting, sampling_seed=entry.sampling.seed, run_seed=plan.get("seed"), **known),
    }
