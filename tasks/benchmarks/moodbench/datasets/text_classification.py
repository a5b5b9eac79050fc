"""Kinds of texts: topics of news (AG News, THUCNews), opinions of reviews (SST-2, IMDb, Dianping), irony, metaphor.

Irony: tweets of SemEval-2018 Task 3. Metaphor: words that are used metaphorically or literally, VUA20.
"""

import re

from schemas.item import Record
from tasks.benchmarks.moodbench.datasets.release import moodbench_entry, moodbench_file
from tasks.datasets.catalogue import pinned_in, read_differences
from tasks.datasets.options import choice

LINE_BREAK = re.compile(r"<br\s*/?>")


def _read_news(record: Record) -> dict[str, str]:
    """Clean title and description: a backslash stands for a line break, before "$" for nothing."""
    texts = {name: record.fields[name].replace("\\$", "$").replace("\\", " ") for name in ("title", "description")}
    return {name: " ".join(text.split()) for name, text in texts.items()}


AG_NEWS = moodbench_entry(
    id="ag_news",
    title="AG News",
    files=(moodbench_file("basic_ability/NLU/ag_news_csv/test.csv"),),
    columns=("class", "title", "description"),
    adapter=choice(
        "Which topic does this news item belong to?",
        {"1": "World", "2": "Sports", "3": "Business", "4": "Science and technology"},
        gold="class",
        read=_read_news,
        context="{title}\n{description}",
    ),
    licence="research and non-commercial use (as known upstream, not verified)",
    paper="Zhang et al. 2015, Character-level Convolutional Networks for Text Classification, arXiv:1509.01626",
    expected_rows=301,
)

THUCNEWS = moodbench_entry(
    id="thucnews",
    title="THUCNews",
    files=(moodbench_file("basic_ability/NLU/THUCNewsText/data/test-00000-of-00001-7b7f37b8f3ca85f8.parquet"),),
    adapter=choice(
        "这篇新闻属于哪个类别？",
        dict(enumerate(("教育", "娱乐", "时尚", "财经", "游戏", "时政", "社会", "体育", "股票", "科技"))),
        context="{text}",
        language="zh",
    ),
    languages=("zh",),
    licence="research use, terms of THUCTC (as known upstream, not verified)",
    paper="Sun et al. 2016, THUCTC: An Efficient Chinese Text Classifier",
    differences=("Topics have their Chinese names; the released code offers English ones for Chinese texts.",),
)

POLARITIES = {1: "positive", 0: "negative"}

SST2 = moodbench_entry(
    id="sst2",
    title="SST-2",
    files=(moodbench_file("emo_ability/emo_recognition/sst2_parquet/data/validation-00000-of-00001.parquet"),),
    adapter=choice(
        "Is the opinion that this sentence from a film review expresses positive or negative?",
        POLARITIES,
        context="{sentence}",
    ),
    licence="not stated upstream",
    paper="Socher et al. 2013, Recursive Deep Models for Semantic Compositionality, EMNLP 2013; GLUE, arXiv:1804.07461",
)

IMDB = moodbench_entry(
    id="imdb",
    title="IMDb",
    files=(moodbench_file("emo_ability/emo_recognition/imdb_parquet/plain_text/test-00000-of-00001.parquet"),),
    adapter=choice(
        "Is the opinion that this film review expresses positive or negative?",
        POLARITIES,
        read=lambda record: {"text": LINE_BREAK.sub("\n", record.fields["text"])},
        context="{text}",
    ),
    licence="not stated upstream",
    paper="Maas et al. 2011, Learning Word Vectors for Sentiment Analysis, ACL 2011",
    differences=("HTML line breaks are shown as line breaks; the released code leaves the tags in the text.",),
)

DIANPING = moodbench_entry(
    id="dianping",
    title="Dianping",
    files=(moodbench_file("emo_ability/emo_recognition/dianping_csv/dev.csv"),),
    adapter=choice(
        "这条餐厅点评表达的总体态度是正面还是负面？",
        {"1": "正面", "0": "负面"},
        read=lambda record: {"sentence": record.fields["sentence"].replace("\\n", "\n")},
        context="{sentence}",
        language="zh",
    ),
    languages=("zh",),
    licence="not stated",
    paper="none known: Dianping restaurant reviews, repackaged without a source",
    differences=("Line breaks, written as backslash and n in the file, are shown as line breaks.",),
)


# The tweets were collected by these tags, so every ironic one still carries one. The task's own input files have lost them.
COLLECTED_BY = re.compile(r"(?i)#(?:irony|sarcasm|not)\b")


def _without_tags(record: Record) -> dict[str, str]:
    return {"tweet": " ".join(COLLECTED_BY.sub("", record.fields["Tweet text"]).split())}


_cyvhee = pinned_in("github.com/Cyvhee/SemEval2018-Task3", "313b94c080e78544d6504192c8a1d425f6b7d719")

_IRONY_DIFFERENCES = (
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
    differences=(*read_differences("semeval2018_task3"), *_IRONY_DIFFERENCES),
).with_alternative(
    files=(
        moodbench_file(
            "emo_ability/emo_recognition/SemEval2018-Task3_txt/goldtest_TaskA/SemEval2018-T3_gold_test_taskA_emoji.txt"
        ),
    ),
    columns=("Tweet index", "Label", "Tweet text"),
    expected_rows=155,
    differences=(
        "The gold file of MoodBench's repository alone, which has index, label and tweet: 155 of the 784 tweets.",
        *_IRONY_DIFFERENCES,
    ),
)


def _mark_word(record: Record) -> dict[str, str]:
    """Find the word, whose `w_index` counts those that spaces part, and mark it in the sentence."""
    words, index = record.fields["sentence"].split(" "), int(record.fields["w_index"])
    return {"word": words[index], "marked": " ".join([*words[:index], f"*{words[index]}*", *words[index + 1 :]])}


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
)
