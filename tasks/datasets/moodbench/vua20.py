"""VUA20: whether a marked word is used metaphorically or literally."""

from schemas.dataset import DatasetSpec
from schemas.item import Item, Record, text_id
from tasks.datasets.options import label_item
from tasks.datasets.pinned_files import moodbench_file

USES = {"1": "used metaphorically", "0": "used literally"}

METAPHOR_QUESTION = (
    'Is the word "{word}", marked with asterisks, used metaphorically or literally in this sentence? It is used metaphorically '
    "if its meaning here differs from a more basic meaning of the word and can be understood by comparison with that one."
)


def adapt_vua20(record: Record) -> Item:
    """`w_index`: place of the word among those that spaces part. `subset`: part of speech."""
    fields = record.fields
    words = fields["sentence"].split(" ")
    place = int(fields["w_index"])
    if place < 0:
        raise ValueError(f"the place of the word is {place}, below 0")
    word = words[place]
    sentence = " ".join([*words[:place], f"*{word}*", *words[place + 1 :]])
    item = label_item(sentence, METAPHOR_QUESTION.format(word=word), USES, fields["label"], text_id(fields["sentence"]))
    return item.model_copy(update={"subset": fields["POS"]})


VUA20 = DatasetSpec(
    id="vua20",
    title="VUA20",
    files=(moodbench_file("emo_ability/emo_recognition/vua20_tsv/test.tsv"),),
    file_format="tsv_plain",
    adapter=adapt_vua20,
    licence="CC BY-SA 3.0 (terms of the VU Amsterdam Metaphor Corpus as known upstream, not verified)",
    paper="Leong et al. 2020, A Report on the 2020 VUA and TOEFL Metaphor Detection Shared Task, FigLang 2020",
    required=("sentence", "label", "POS", "w_index"),
    expected_rows=300,
    differences=(
        "The word is named and marked; the released prompt gives its place without saying that it counts from 0.",
        "F1 of the metaphors, as in the paper; the released code computes accuracy (78 % for the constant answer literal).",
    ),
)
