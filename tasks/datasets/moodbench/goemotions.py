"""GoEmotions: which of 28 emotions a Reddit comment expresses."""

from schemas.dataset import DatasetSpec
from schemas.item import Item, Record
from tasks.datasets.pinned_files import moodbench_file

# The released taxonomy in its own order: labels in the data are positions in this list.
EMOTIONS = (
    *("admiration", "amusement", "anger", "annoyance", "approval", "caring", "confusion", "curiosity", "desire"),
    *("disappointment", "disapproval", "disgust", "embarrassment", "excitement", "fear", "gratitude", "grief", "joy"),
    *("love", "nervousness", "optimism", "pride", "realization", "relief", "remorse", "sadness", "surprise"),
    *("neutral",),
)
INDICES = {str(index): index for index in range(len(EMOTIONS))}


def adapt_goemotions(record: Record) -> Item:
    """`labels` is a comma-separated list of positions in the taxonomy; a list that names any other yields no gold."""
    labels = record.fields["labels"].split(",")
    known = all(label in INDICES for label in labels)
    return Item(
        question_type="multiple_answer",
        context=record.fields["text"].strip(),
        question="Which emotions does the writer of this comment express? Name all that apply, or neutral if there is none.",
        options=EMOTIONS,
        gold_indices=tuple(sorted(INDICES[label] for label in labels)) if known else None,
    )


GOEMOTIONS = DatasetSpec(
    id="goemotions",
    title="GoEmotions",
    files=(moodbench_file("emo_ability/emo_recognition/0730go_emotions_tsvjson/test.tsv"),),
    record_format="tsv",
    columns=("text", "labels", "comment_id"),
    adapter=adapt_goemotions,
    question_types=("multiple_answer",),
    licence="Apache-2.0",
    paper="Demszky et al. 2020, arXiv:2005.00547",
    required=("text", "labels"),
    expected_rows=301,
    redistributable=True,
    differences=(
        "The file has no header; the released code takes the first comment for one and loses it.",
        "All 28 labels can be answered; in the released code surprise and neutral never match (highest possible F1 67.9 %).",
    ),
)
