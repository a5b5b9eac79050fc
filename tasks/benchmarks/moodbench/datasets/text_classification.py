"""What a news item is about: AG News, THUCNews; which opinion a review expresses: SST-2, IMDb, Dianping."""

import re

from schemas.item import Record
from tasks.benchmarks.moodbench.datasets.release import moodbench_entry, moodbench_file
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
    differences=(
        "Backslashes are cleaned: they stand for line breaks or escape a dollar sign. The released code leaves them.",
        "HTML tags and character references stay in the text as released.",
    ),
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
