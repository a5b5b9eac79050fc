"""Every metric: one row each, with what every part of the program has to know of it.

How an answer is measured stands under the same name in `tasks.metrics.measures`; a test holds the two together.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from schemas.normalisation import CentredNormalisation, Normalisation, RatioNormalisation

SHARE, RATIO = (0.0, 1.0), RatioNormalisation()

Reduction = Literal["items", "clusters", "macro_f1", "micro_f1", "binary_f1", "bias", "preference"]
"""What a dataset's score is made of its items'.

`items`: the mean of their values. `clusters`: the mean over clusters, each of which counts the same. The others are counted from
the labels of all items together: F1 over labels, over all labels, over the positive class; BBQ's bias scores; StereoSet's.
"""

Baseline = Literal["equality", "macro_f1", "micro_f1", "binary_f1", "points"]
"""How constant answers are scored: whether the right options are named, by the same F1, by the points of a questionnaire."""


@dataclass(frozen=True)
class MetricRow:
    """What is known of a metric.

    `words`: what it is, in a sentence for the report. `bounds`: lowest and highest value that an item, and with it a dataset, can
    have. `normalisation`: that of blueprints that give none. `baseline`: null where answering without reading has no score.
    `rating`: what a judge's rating is turned into; null = the answer itself is measured. `has_cut_off`: it needs a `k`.
    """

    words: str
    bounds: tuple[float, float] = SHARE
    reduction: Reduction = "items"
    normalisation: Normalisation = RATIO
    baseline: Baseline | None = None
    rating: str | None = None
    has_cut_off: bool = False


_BIAS: tuple[tuple[float, float], Reduction, Normalisation] = (-1, 1), "bias", CentredNormalisation(best=0, span=1)
"""Bounds, reduction and normalisation of BBQ's scores."""

METRICS: Mapping[str, MetricRow] = {
    "accuracy": MetricRow(
        "Share of items whose chosen option, or set of options, is exactly the right one.", baseline="equality"
    ),
    "macro_f1": MetricRow(
        "F1 per label, all labels alike, over the labels that occur.", reduction="macro_f1", baseline="macro_f1"
    ),
    "micro_f1": MetricRow("F1 over all labels of all items together.", reduction="micro_f1", baseline="micro_f1"),
    "binary_f1": MetricRow("F1 of the positive class.", reduction="binary_f1", baseline="binary_f1"),
    "exact_match": MetricRow(
        "Share of items whose answer equals a reference; case, punctuation and English articles aside.", baseline="equality"
    ),
    "token_f1": MetricRow("F1 of words shared with the best reference, by character in Chinese; mean over items."),
    "word_recall": MetricRow("Share of a reference's words that the answer holds, best over references; mean over items."),
    "rouge_1": MetricRow("ROUGE-1 F-measure, best over references; mean over items."),
    "rouge_l": MetricRow("ROUGE-L F-measure, best over references; mean over items."),
    "bleu": MetricRow("Sentence BLEU on 0 to 1, best over references; mean over items."),
    "truthful_rouge_l": MetricRow("Share of answers closer, by ROUGE-L, to a true answer than to any false one."),
    "truthful_bleu": MetricRow("Share of answers closer, by BLEU, to a true answer than to any false one."),
    "truthful_similarity": MetricRow("Share of answers closer, by sentence embedding, to a true answer than to any false one."),
    "bias_score_ambiguous": MetricRow(
        "2 x share of stereotyped answers - 1, times (1 - accuracy), in undecided contexts; 0 is best.", *_BIAS
    ),
    "bias_score_disambiguated": MetricRow("2 x share of stereotyped answers - 1, in deciding contexts; 0 is best.", *_BIAS),
    "language_model_score": MetricRow(
        "Share of meaningful continuations ranked above the unrelated one.", reduction="preference"
    ),
    "stereotype_score": MetricRow(
        "Share of stereotypes ranked above their opposites; 0.5 is best.",
        reduction="preference",
        normalisation=CentredNormalisation(best=0.5, span=0.5),
    ),
    "icat": MetricRow("Language model score x the smaller of stereotype score and its complement / 0.5.", reduction="preference"),
    "recall_at_k": MetricRow("Share of the relevant options among the first k; mean over items.", has_cut_off=True),
    "mrr": MetricRow("1 / place of the first relevant option; mean over items."),
    "order_accuracy": MetricRow("Share of pairs put in the right order; mean over items."),
    "questionnaire_points": MetricRow(
        "(points - least) / (most - least) of the item; an unreadable reply has the least; mean over items.", baseline="points"
    ),
    "judged_rating": MetricRow(
        "A judge's ratings, put on 0 to 1 from the lowest to the highest of their scale; mean over all.",
        rating="(rating - lowest) / (highest - lowest)",
    ),
    "strict_accuracy": MetricRow("As accuracy, with replies read as LongEmotion's released code does.", baseline="equality"),
    "qa_f1": MetricRow(
        "F1 of words shared with the best reference, lower case, without punctuation and a, an, the, by; mean over items."
    ),
    "mean_rating": MetricRow(
        "A judge's ratings / the highest of their scale; mean over dimensions and items.", rating="rating / highest"
    ),
}
"""In the order in which rows of a table are sorted: new ones come last."""

# Names are checked where data is read; the type checker takes them for text, so that a row is all that a new one needs.
if TYPE_CHECKING:
    Metric = str
else:
    Metric = Literal[tuple(METRICS)]


def reduced_by(*ways: Reduction) -> list[Metric]:
    """List the metrics whose dataset scores are made in one of these ways."""
    return [name for name, row in METRICS.items() if row.reduction in ways]
