"""WSC: whether a pronoun stands for a noun phrase of the same text."""

from collections.abc import Sequence

from schemas.dataset import DatasetSpec
from schemas.item import Item, Record
from tasks.datasets.options import find_gold, label_item
from tasks.datasets.pinned_files import moodbench_file

QUESTION = 'Does the pronoun marked as **{pronoun}** refer to "{candidate}"?'


def adapt_wsc(record: Record) -> Item:
    """`label` 1 = it does. The pronoun is marked in the text, since the same one may occur more than once.

    Raises:
        ValueError: the pronoun stands neither where `span2_index` says nor one word further on, as in one record it does.
    """
    fields = record.fields
    words, pronoun = fields["text"].split(), fields["span2_text"].split()
    start = _find(words, pronoun, fields["span2_index"])
    end = start + len(pronoun)
    context = " ".join([*words[:start], f"**{' '.join(pronoun)}**", *words[end:]])
    question = QUESTION.format(pronoun=" ".join(pronoun), candidate=fields["span1_text"])
    return label_item("en", context, question, ("yes", "no"), find_gold({1: 0, 0: 1}, fields["label"]))


def _find(words: Sequence[str], pronoun: Sequence[str], index: int) -> int:
    for start in (index, index + 1):
        if words[start : start + len(pronoun)] == pronoun:
            return start
    raise ValueError(f"{' '.join(pronoun)} is neither word {index} (0-based) of the text nor the next one")


WSC = DatasetSpec(
    id="wsc",
    title="WSC",
    files=(moodbench_file("basic_ability/NLI/wsc.fixed_parquet/validation-00000-of-00001.parquet"),),
    record_format="parquet",
    adapter=adapt_wsc,
    licence="CC BY 4.0 (as known upstream, not verified)",
    paper="Levesque et al. 2012, The Winograd Schema Challenge; SuperGLUE, arXiv:1905.00537",
    required=("text", "span1_text", "span2_text", "span2_index", "label"),
    expected_rows=104,
    differences=(
        "The pronoun meant is marked in the text; the released code names it only, which leaves items 64, 66 and 73 alike.",
        "Item 42 gives the place of its pronoun one word too early; the mark stands on the pronoun.",
        "Items 2 and 97, 11 and 45, 86 and 93 are the same, with the same gold; all are kept.",
    ),
)
