"""Describe what is particular to a run about how its numbers were computed; what holds for all runs stands in the template."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from schemas.lineage import DatasetNotice
from schemas.vocabulary import Metric
from tasks.analysis.run_tables import ReportData
from tasks.reporting.content.benchmark import metric_paths


@dataclass(frozen=True)
class MethodNotes:
    """What a reader must know to understand the numbers.

    `metrics`: what is said of each. `reply_limits`: models whose replies the plan limits, with the limit in tokens.
    `design_effects`: rows of raw scores with the least and the greatest one; empty without clusters. `deviations`: datasets that
    are asked or scored otherwise than in their papers; empty for manifests that do not record them.
    """

    metrics: Mapping[Metric, str]
    reply_limits: list[str]
    design_effects: list[dict[str, Any]]
    deviations: tuple[DatasetNotice, ...]


def describe_method(data: ReportData) -> MethodNotes:
    """Describe everything about the method that a reader of this run needs."""
    effects = data.raw.filter(pl.col("design_effect").is_not_null()).sort("design_effect", "dataset").to_dicts()
    return MethodNotes(
        metrics={path.spec.metric: METRIC_WORDS[path.spec.metric] for path in metric_paths(data.blueprint)},
        reply_limits=list(_reply_limits(data.manifest.plan)),
        design_effects=[effects[0], effects[-1]] if effects else [],
        deviations=tuple(notice for notice in data.manifest.datasets if notice.differences),
    )


def _reply_limits(plan: dict[str, Any]) -> Iterator[str]:
    for model in plan.get("models", ()):
        if limit := (model.get("sampling") or {}).get("max_tokens"):
            yield f"{model['name']} {limit:,d}"


METRIC_WORDS: Mapping[Metric, str] = {
    "accuracy": "Share of items whose chosen option, or set of options, is exactly the right one.",
    "macro_f1": "F1 per label, all labels alike, over the labels that occur.",
    "micro_f1": "F1 over all labels of all items together.",
    "binary_f1": "F1 of the positive class.",
    "exact_match": "Share of items whose answer equals a reference; case, punctuation and English articles aside.",
    "token_f1": "F1 of words shared with the best reference, by character in Chinese; mean over items.",
    "word_recall": "Share of a reference's words that the answer holds, best over references; mean over items.",
    "rouge_1": "ROUGE-1 F-measure, best over references; mean over items.",
    "rouge_l": "ROUGE-L F-measure, best over references; mean over items.",
    "bleu": "Sentence BLEU on 0 to 1, best over references; mean over items.",
    "truthful_rouge_l": "Share of answers closer, by ROUGE-L, to a true answer than to any false one.",
    "truthful_bleu": "Share of answers closer, by BLEU, to a true answer than to any false one.",
    "truthful_similarity": "Share of answers closer, by sentence embedding, to a true answer than to any false one.",
    "bias_score_ambiguous": "2 x share of stereotyped answers - 1, times (1 - accuracy), in undecided contexts; 0 is best.",
    "bias_score_disambiguated": "2 x share of stereotyped answers - 1, in deciding contexts; 0 is best.",
    "language_model_score": "Share of meaningful continuations ranked above the unrelated one.",
    "stereotype_score": "Share of stereotypes ranked above their opposites; 0.5 is best.",
    "icat": "Language model score x the smaller of stereotype score and its complement / 0.5.",
    "recall_at_k": "Share of the relevant options among the first k; mean over items.",
    "mrr": "1 / place of the first relevant option; mean over items.",
    "order_accuracy": "Share of pairs put in the right order; mean over items.",
    "questionnaire_points": "(points - least) / (most - least) of the item; an unreadable reply has the least; mean over items.",
    "judged_rating": "A judge's ratings, put on 0 to 1 from the lowest to the highest of their scale; mean over all.",
    "strict_accuracy": "As accuracy, with replies read as LongEmotion's released code does.",
    "qa_f1": "F1 of words shared with the best reference, lower case, without punctuation and a, an, the, by; mean over items.",
    "mean_rating": "A judge's ratings / the highest of their scale; mean over dimensions and items.",
}
