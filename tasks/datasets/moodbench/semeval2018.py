"""SemEval-2018: emotions in tweets (Task 1) and irony in tweets (Task 3)."""

import re

from schemas.dataset import DatasetSpec
from schemas.item import Item, Record, text_id
from tasks.datasets.options import label_item
from tasks.datasets.pinned_files import moodbench_file, pinned_in

# SemEval-2018 Task 1, E-c: emotions as its annotators were shown them, in the order of the columns.
EMOTION_MEANINGS = {
    "anger": "annoyance, rage",
    "anticipation": "interest, vigilance",
    "disgust": "disinterest, dislike, loathing",
    "fear": "apprehension, anxiety, terror",
    "joy": "serenity, ecstasy",
    "love": "affection",
    "optimism": "hopefulness, confidence",
    "pessimism": "cynicism, no confidence",
    "sadness": "pensiveness, grief",
    "surprise": "distraction, amazement",
    "trust": "acceptance, liking, admiration",
}

TWEET_COLUMNS = ("id", "tweet", *EMOTION_MEANINGS)
PRESENCE = {"1": "present", "0": "absent"}


def adapt_semeval2018_task1(record: Record) -> list[Item]:
    """Eleven items per tweet, one per emotion. `subset`: the emotion.

    Line breaks are written as backslash and n.
    """
    tweet = record.fields["tweet"].replace("\\n", "\n").strip()
    items = []
    for emotion, meanings in EMOTION_MEANINGS.items():
        question = f"Is {emotion} (which also includes {meanings}) present or absent in this tweet?"
        item = label_item(tweet, question, PRESENCE, record.fields[emotion], text_id(tweet))
        items.append(item.model_copy(update={"subset": emotion}))
    return items


# The tweets were collected by these tags, so every ironic one still carries one. The task's own input files have lost them.
COLLECTED_BY = re.compile(r"(?i)#(?:irony|sarcasm|not)\b")
SPACES = re.compile(r"\s+")
IRONY = {"1": "ironic", "0": "not ironic"}


def adapt_semeval2018_task3(record: Record) -> Item:
    """A tweet; the hashtags #irony, #sarcasm and #not are taken out of it."""
    tweet = SPACES.sub(" ", COLLECTED_BY.sub("", record.fields["Tweet text"])).strip()
    return label_item(tweet, "Is this tweet ironic?", IRONY, record.fields["Label"])


SEMEVAL2018_TASK1 = DatasetSpec(
    id="semeval2018_task1",
    title="SemEval-2018 Task 1, emotions in tweets",
    files=(moodbench_file("emo_ability/emo_understanding/SemEval-2018_Task_1_txt/E-c/E-c-En-test-gold.txt"),),
    file_format="tsv_plain",
    columns=TWEET_COLUMNS,
    adapter=adapt_semeval2018_task1,
    licence="(c) 2018 NRC Canada: cite, do not redistribute",
    paper="Mohammad et al. 2018, SemEval-2018 Task 1: Affect in Tweets",
    required=TWEET_COLUMNS,
    expected_rows=300,
    differences=(
        "The paper calls the task intensity; the released file, subtask E-c, says only whether an emotion is present.",
        "Each tweet makes eleven items, one per emotion, as in the released code.",
        "Line breaks, written as backslash and n in the file, are shown as line breaks.",
        "702 of 3,300 emotions are present: the constant answer absent has an accuracy of 78.7 %.",
        "The official measure of E-c is the Jaccard index of the set of emotions, with micro and macro F1 beside it.",
        "The file has no header; the released code takes the first tweet for one and loses it.",
        "Level medium as in the paper; the released weights have it at low.",
    ),
)

_cyvhee = pinned_in("github.com/Cyvhee/SemEval2018-Task3", "313b94c080e78544d6504192c8a1d425f6b7d719")

_STRIPPED = (
    "The hashtags #irony, #sarcasm and #not, which every ironic tweet carries, are taken out, as in the task's input files."
)

_LABELLED = ("Tweet index", "Label", "Tweet text")
_RANDOM = "The released code pairs labels and tweets of two unrelated samples: 78 of 144 labels are right."
_METRIC = "F1 of the ironic class, as in the paper and the task; the released code computes accuracy."

SEMEVAL2018_TASK3 = DatasetSpec(
    id="semeval2018_task3",
    title="SemEval-2018 Task 3, irony",
    files=(
        _cyvhee(
            "datasets/goldtest_TaskA/SemEval2018-T3_gold_test_taskA_emoji.txt",
            "b63a3825aee72592d7e565d3f8c75ff6ce695fa67ea28f2c5c0c4171f67bc5cd",
        ),
    ),
    file_format="tsv_plain",
    adapter=adapt_semeval2018_task3,
    licence="CC BY-NC-SA 4.0, academic use",
    paper="Van Hee et al. 2018, SemEval-2018 Task 3: Irony Detection in English Tweets",
    required=_LABELLED,
    expected_rows=784,
    differences=(
        "The whole test set of the task; MoodBench's repository holds 155 of its labels and 145 of its tweets.",
        _STRIPPED,
        _RANDOM,
        _METRIC,
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
        _STRIPPED,
        _RANDOM,
        _METRIC,
    ),
)
