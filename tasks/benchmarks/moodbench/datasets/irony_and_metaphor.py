"""Figurative language: irony in tweets, SemEval-2018 Task 3; words that are used metaphorically or literally, VUA20."""

import re

from schemas.item import Record
from tasks.benchmarks.moodbench.datasets.release import moodbench_entry, moodbench_file
from tasks.datasets.catalogue import pinned_in
from tasks.datasets.options import choice

# The tweets were collected by these tags, so every ironic one still carries one. The task's own input files have lost them.
COLLECTED_BY = re.compile(r"(?i)#(?:irony|sarcasm|not)\b")


def _without_tags(record: Record) -> dict[str, str]:
    return {"tweet": " ".join(COLLECTED_BY.sub("", record.fields["Tweet text"]).split())}


_cyvhee = pinned_in("github.com/Cyvhee/SemEval2018-Task3", "313b94c080e78544d6504192c8a1d425f6b7d719")

_LABELLED = ("Tweet index", "Label", "Tweet text")
_SHARED = (
    "The hashtags #irony, #sarcasm and #not, which every ironic tweet carries, are taken out, as in the task's input files.",
    "The released code pairs labels and tweets of two unrelated samples: 78 of 144 labels are right.",
    "F1 of the ironic class, as in the paper and the task; the released code computes accuracy.",
)

SEMEVAL2018_TASK3 = moodbench_entry(
    id="semeval2018_task3",
    title="SemEval-2018 Task 3, irony",
    files=(_cyvhee("datasets/goldtest_TaskA/SemEval2018-T3_gold_test_taskA_emoji.txt"),),
    file_format="tsv_plain",
    adapter=choice(
        "Is this tweet ironic?", {"1": "ironic", "0": "not ironic"}, gold="Label", read=_without_tags, context="{tweet}"
    ),
    licence="CC BY-NC-SA 4.0, academic use",
    paper="Van Hee et al. 2018, SemEval-2018 Task 3: Irony Detection in English Tweets",
    expected_rows=784,
    differences=(
        "The whole test set of the task; MoodBench's repository holds 155 of its labels and 145 of its tweets.",
        *_SHARED,
    ),
).with_alternative(
    files=(
        moodbench_file(
            "emo_ability/emo_recognition/SemEval2018-Task3_txt/goldtest_TaskA/SemEval2018-T3_gold_test_taskA_emoji.txt"
        ),
    ),
    columns=_LABELLED,
    expected_rows=155,
    differences=(
        "The gold file of MoodBench's repository alone, which has index, label and tweet: 155 of the 784 tweets.",
        *_SHARED,
    ),
)


def _mark_word(record: Record) -> dict[str, str]:
    """Find the word, whose `w_index` counts those that spaces part, and mark it in the sentence."""
    words, place = record.fields["sentence"].split(" "), int(record.fields["w_index"])
    return {"word": words[place], "marked": " ".join([*words[:place], f"*{words[place]}*", *words[place + 1 :]])}


VUA20 = moodbench_entry(
    id="vua20",
    evaluation_version="1.1",
    title="VUA20",
    files=(moodbench_file("emo_ability/emo_recognition/vua20_tsv/test.tsv"),),
    file_format="tsv_plain",
    adapter=choice(
        'Is the word "{word}", marked with asterisks, used metaphorically or literally in this sentence? It is used '
        "metaphorically if its meaning here differs from a more basic meaning of the word and can be understood by comparison "
        "with that one.",
        {"1": "used metaphorically", "0": "used literally"},
        shared="sentence",
        read=_mark_word,
        context="{marked}",
        subset="{POS}",
    ),
    licence="CC BY-SA 3.0 (terms of the VU Amsterdam Metaphor Corpus as known upstream, not verified)",
    paper="Leong et al. 2020, A Report on the 2020 VUA and TOEFL Metaphor Detection Shared Task, FigLang 2020",
    differences=(
        "The word is named and marked; the released prompt gives its place without saying that it counts from 0.",
        "F1 of the metaphors, as in the paper; the released code computes accuracy (78 % for the constant answer literal).",
    ),
)
