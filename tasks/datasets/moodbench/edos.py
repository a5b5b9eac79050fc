"""EDOS: which of 41 emotions and communicative intents a line of a film dialogue expresses."""

from schemas.dataset import DatasetSpec
from schemas.item import Item, Record
from tasks.datasets.options import find_gold, label_item
from tasks.datasets.pinned_files import moodbench_file

# EDOS: 32 emotions of EmpatheticDialogues, 8 intents of its listeners, neutral; `ed_emotion_index` counts in this order.
EDOS_CLASSES = (
    *("afraid", "angry", "annoyed", "anticipating", "anxious", "apprehensive", "ashamed", "caring", "confident", "content"),
    *("devastated", "disappointed", "disgusted", "embarrassed", "excited", "faithful", "furious", "grateful", "guilty"),
    *("hopeful", "impressed", "jealous", "joyful", "lonely", "nostalgic", "prepared", "proud", "sad", "sentimental"),
    *("surprised", "terrified", "trusting", "agreeing", "acknowledging", "encouraging", "consoling", "sympathizing"),
    *("suggesting", "questioning", "wishing", "neutral"),
)

EDOS_INDICES = {name: index for index, name in enumerate(EDOS_CLASSES)}


def adapt_edos(record: Record) -> Item:
    """One turn of a film dialogue. A row whose `ed_emotion` and `ed_emotion_index` disagree yields no gold."""
    fields = record.fields
    gold = find_gold(EDOS_INDICES, fields["ed_emotion"])
    if gold is not None and str(gold[0]) != fields["ed_emotion_index"]:
        gold = None
    question = "Which of these emotions or communicative intents fits this line from a film dialogue best?"
    return label_item("en", fields["text"].strip(), question, EDOS_CLASSES, gold)


EDOS = DatasetSpec(
    id="edos",
    title="EDOS",
    files=(moodbench_file("emo_ability/emo_recognition/EDOS_1M.csv"),),
    record_format="csv",
    adapter=adapt_edos,
    licence="CC BY 4.0",
    paper="Welivita et al. 2021, A Large-Scale Dataset for Empathetic Response Generation, EMNLP 2021",
    required=("text", "ed_emotion", "ed_emotion_index"),
    expected_rows=300,
    redistributable=True,
    ambiguous=("2 items: rows 189 and 212 differ in capitals and punctuation only and have two labels.",),
    differences=(
        "All 41 classes can be answered; in the released code the last 15 never match (160 rows, highest possible 46.7 %).",
        "Labels come from a classifier: each is the largest of the 41 probabilities in its row.",
        "The sample holds single turns; the rest of the dialogue is not in the file.",
        "Level high as in the paper; the released weights have it at medium.",
    ),
)
